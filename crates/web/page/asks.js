// @ts-check
/** Every open question of every session, in one place. An answer names the request that was shown. */

import { Refused, get, pathOf, post } from "./api.js";
import { ago, complain, form, h, inSight, toast } from "./dom.js";
import { keep, kept, keptUnder } from "./kept.js";
import { bindings, written } from "./keys.js";
import { place as repository } from "./list.js";
import { isFromScreen, isSeen, isWhole, lastLines, options, showUnseen, wanted } from "./wanted.js";

/** @typedef {import("./store.js").Session} Session */
/** @typedef {import("./store.js").Store} Store */

/** Answers that are on their way, and where what was typed for each is kept: a second press sends no second one.
 * @type {Map<string, string>} */
const underWay = new Map();
/** Questions that were answered here, and whether that is known: an answer may be on its way, or what came of it is lost.
 * @type {Map<string, "here" | "sent" | "lost">} */
const answered = new Map();

/** Answers that are being typed, each with what was asked: a request's name may be another question's later. */
const TYPED = "glis.answer.";

/** A press that was meant for another place comes within so long after the questions have moved: two of a double click
 * are half a second apart at most. */
const SETTLE_MS = 500;

/** Each open question has a number: one that has changed under the same name is another one. @type {Map<string, number>} */
const numbers = new Map();
let last = 0;

/** All that makes it this question. @param {string} session @param {any} ask */
const wholeOf = (session, { request, since, text, choices, wants, input }) => JSON.stringify([session, request, since, text, choices, wants, input]);

/** The id of a question's card. @param {string} session @param {any} ask */
function cardOf(session, ask) {
  const whole = wholeOf(session, ask);
  if (!numbers.has(whole)) numbers.set(whole, last += 1);
  return `ask-${numbers.get(whole)}`;
}

/** Whether this is still asked, as far as that can be told. @param {string} session @param {string} request @returns {Promise<boolean>} */
const isOpen = (session, request) => get(pathOf`/sessions/${session}`, { glance: true })
  .then(({ asks }) => asks?.some((/** @type {any} */ ask) => ask.request === request), () => true);

/** @param {string} card @param {string} session @param {string} request @param {Record<string, any>} answer @param {() => void} drawn */
async function give(card, session, request, answer, drawn) {
  if (underWay.has(card)) return;
  const id = `${session} ${request}`;
  underWay.set(card, id);
  const lost = answered.get(card) === "lost";
  answered.set(card, "sent");
  drawn();
  try {
    await post(pathOf`/sessions/${session}/answer`, { ...answer, request });
    answered.set(card, "here");
    keep(TYPED + id, null);
  } catch (fault) {
    const refused = fault instanceof Refused && fault.status < 500;
    // One that was lost before may be what it was answered by.
    if (refused && !lost) answered.delete(card);
    else answered.set(card, "lost");
    if (!refused) toast("It is not known whether your answer arrived. If the question stays, answer it again.");
    else if (await isOpen(session, request)) complain("answer", fault, undefined, "");
    else toast("Answered elsewhere, or not asked any more.");
  } finally {
    underWay.delete(card);
    drawn();
  }
}

/** What can be said to each kind of question, as a person would write it. What an agent lists itself is said as it is.
 * @type {Record<string, Map<string, string>>} */
const LABELS = {
  approval: new Map([["allow", "Allow"], ["deny", "Deny"], ["allow_for_session", "Allow for this session"]]),
  doubt: new Map([["allow", "Send again"], ["deny", "Drop it"]]),
};
const KINDS = { approval: "wants your approval", question: "has a question", doubt: "may have missed a message" };

/** What is asked of a message in doubt. @param {any} ask @returns {string} */
function doubted(ask) {
  const why = ask.not_delivered;
  return why ? `This message is not delivered: ${inSight(why)}. Send it again?` : "Did the agent get this message?";
}

/** What a question takes, where that is not any text. @param {any} ask @returns {string[]} */
function choicesOf(ask) {
  const usual = LABELS[ask.kind] ? [...LABELS[ask.kind].keys()] : options(ask).map((one) => one.label);
  // Of a line on a screen nobody can tell when it is the same again.
  return ask.choices ?? (ask.kind === "approval" && isFromScreen(ask) ? ["allow", "deny"] : usual);
}

/** What is sent for a choice. @param {any} ask @param {string} choice */
const said = (ask, choice) => (ask.kind === "approval" && choice === "allow_for_session" ? { answer: "allow", for_session: true } : { answer: choice });

/** Questions that are said no to with a reason, which is being typed. @type {Set<string>} */
const reasoned = new Set();

/** A no with its reason. @param {string} at the card @param {string} name @param {boolean} disabled @param {(answer: any) => void} say */
const reasonFor = (at, name, disabled, say) => form({ class: "inline", id: `${at}-reason` },
  ({ reason }) => say({ answer: "deny", reason }),
  h("input", { name: "reason", id: `${at}-why`, autocomplete: "off", "aria-label": `Why not, for ${name}`, placeholder: "Why not? The agent is told." }),
  h("button", { type: "submit", id: `${at}-no`, class: "outline danger", disabled }, "Deny with this reason"));

/** @param {Store} store @param {Session} session @param {any} ask @param {() => void} drawn */
function askCard(store, session, ask, drawn) {
  const at = cardOf(session.id, ask);
  const waits = underWay.has(at);
  const disabled = waits || !store.may("answer");
  const say = (/** @type {Record<string, any>} */ answer) => give(at, session.id, ask.request, answer, drawn);
  const place = `${TYPED}${session.id} ${ask.request}`;
  const typed = () => { const found = kept(place, {}); return found.asked === ask.text ? found.text : ""; };
  const field = h("textarea", { rows: "2", id: `${at}-text`, "aria-label": `Answer for ${session.name}`, value: typed(),
    oninput: (/** @type {Event} */ event) => {
      const text = /** @type {HTMLTextAreaElement} */ (event.target).value;
      keep(place, text && { text, asked: ask.text });
    } });
  const unseen = !isSeen(at) || !isWhole(session, ask);
  const blind = unseen || !isSettled();
  /** A button for an answer; one that is shut leads to what was not read. @param {string} id @param {string} look @param {string} text
   * @param {boolean} shut @param {() => void} act @param {string?} [says] what a key says as well */
  const button = (id, look, text, shut, act, says = null) => h("button", {
    id: `${at}-${id}`, class: look, disabled, onclick: () => (!shut ? act() : unseen && showUnseen(at)),
    "data-says": says, "data-press": says && written(keys[says]), "aria-disabled": shut ? "true" : null, "aria-describedby": shut && unseen ? `${at}-unseen` : null,
  }, text);
  const labels = LABELS[ask.kind];
  const keys = bindings();
  // A no is always possible.
  const buttons = choicesOf(ask).map((choice, index) => button(String(index), labels && choice === "allow" ? "filled" : "outline",
    labels?.get(choice) ?? inSight(choice), blind && !(labels && choice === "deny"), () => say(said(ask, choice)), labels && keys[choice] ? choice : null));
  const why = () => { reasoned.add(at); drawn(); document.getElementById(`${at}-why`)?.focus(); };
  // To a program that says nothing of itself a reason would be typed.
  if (ask.kind === "approval" && !isFromScreen(ask) && !reasoned.has(at) && buttons.length) buttons.push(button("because", "small quiet", "Deny, and say why", false, why));
  const onlyThere = ask.choices?.length === 0;
  const free = ask.kind === "question" && !ask.choices;
  return h(
    "section",
    { class: "card asks", id: at, "aria-label": `${session.name} asks` },
    h("header", null, h("h3", null, h("a", { href: `#/s/${session.id}` }, session.name)), h("span", null, ` ${KINDS[ask.kind] ?? ask.kind}`),
      h("span", { class: "faint from" }, [session.agent, repository(session), ask.since && `asked ${ago(ask.since)}`].filter(Boolean).join(" \u00b7 "))),
    session.conversation_summary && !isFromScreen(ask) && ask.kind !== "doubt" && h("p", { class: "faint led" }, inSight(session.conversation_summary)),
    ask.kind === "doubt" ? h("p", null, doubted(ask)) : null,
    wanted(session, ask, at),
    ask.kind === "doubt" ? lastLines(session) : null,
    unseen && (buttons.length || free) ? h("p", { class: "faint", id: `${at}-unseen` }, "Read all of it first.") : null,
    onlyThere ? h("p", { class: "faint" }, "Only its own terminal takes the answer: ", h("a", { href: `#/s/${session.id}` }, "type it there"), ".") : null,
    free ? field : null,
    onlyThere ? null : h(
      "div",
      { class: "buttons" },
      ...buttons,
      free && button("send", "filled", "Answer", blind, () => {
        // What is seen is what is sent, whatever another tab has kept since.
        const answer = /** @type {HTMLTextAreaElement} */ (document.getElementById(`${at}-text`)).value;
        if (answer.trim()) say({ answer });
      }),
      waits ? h("span", { class: "faint" }, "answering...") : null,
    ),
    reasoned.has(at) && reasonFor(at, session.name, disabled, say),
  );
}

/** Answers by a key the question that has the focus, or else the first; what is not in sight is brought there first.
 * @param {"allow" | "deny"} choice */
export function answerByKey(choice) {
  const card = document.activeElement?.closest(".card.asks") ?? document.querySelector(".card.asks");
  const button = /** @type {HTMLElement?} */ (card?.querySelector(`[data-says=${choice}]`) ?? null);
  if (!card || !button) return;
  const { left, top, width, height } = button.getBoundingClientRect();
  if (!button.contains(document.elementFromPoint(left + width / 2, top + height / 2))) return card.scrollIntoView({ block: "center" });
  // A no by a key has its reason beside it.
  const because = /** @type {HTMLElement?} */ (choice === "deny" ? card.querySelector("[id$=-because], [id$=-why]") : null);
  if (because?.matches("input")) because.focus();
  else (because ?? button).click();
}

/** The cards that were drawn last, and since when they stand where they do. */
const order = { cards: "", since: 0 };
const isSettled = () => performance.now() - order.since >= SETTLE_MS;

/** Notes which cards are drawn, one above the other; one that is gone takes less room. @param {string} cards @param {() => void} drawn */
function arrange(cards, drawn) {
  if (cards === order.cards) return;
  [order.cards, order.since] = [cards, performance.now()];
  setTimeout(drawn, SETTLE_MS + 1);
}

/** Questions that are not asked any more, and what came of each, until the view is left.
 * @type {{card: string, session: Session, ask: any, what: string, isAnswered: boolean}[]} */
let gone = [];
/** More than these, and more of each, would fill the view. */
const [GONE_MAX, GONE_CHARS] = [3, 120];

/** What an event says of a question: its answer or what became of a message, by its session and request. @type {Map<string, string>} */
const outcomes = new Map();
const ANSWERS = new Map([["allow", "allowed"], ["allow_for_session", "allowed for the session"], ["deny", "denied"]]);
/** Who gave an answer. */
const WHO = new Map([["here", " here"], ["sent", ""], ["lost", "; it is not known whether by your answer"]]);
const FATES = { message_requeued: "sent again", message_dropped: "dropped", message_taken: "taken after all" };

/** An event may tell what came of a question. @param {any} event */
export function hear(event) {
  if (event.event === "answer_began") outcomes.set(`${event.session} ${event.ask}`, event.answer);
  const doubt = `${event.session} doubt-${event.message}`;
  if (event.event === "message_doubted") outcomes.delete(doubt);
  // One that was sent again is taken then.
  else if (FATES[event.event] && !outcomes.has(doubt)) outcomes.set(doubt, FATES[event.event]);
}

/** Notes which questions of a session are not asked any more. @param {Session | undefined} former @param {Session} session */
export function compare(former, session) {
  const open = new Set(session.asks?.map((/** @type {any} */ ask) => cardOf(session.id, ask)));
  for (const ask of former?.asks ?? []) {
    const card = cardOf(session.id, ask);
    if (open.has(card)) continue;
    numbers.delete(wholeOf(session.id, ask));
    const isIn = (/** @type {any[] | undefined} */ asks) => asks?.some((one) => one.request === ask.request);
    // The session itself says what it asked when it was paused.
    if (isIn(session.was_asking)) continue;
    const outcome = outcomes.get(`${session.id} ${ask.request}`);
    const isAnswered = outcome !== undefined && !isIn(session.asks);
    const told = ask.kind === "doubt" ? outcome : ask.kind === "approval" && ANSWERS.get(outcome ?? "");
    const what = isAnswered ? told || "answered" : isIn(session.asks) ? "has changed" : "not asked any more";
    gone = [...gone, { card, session, ask, what, isAnswered }].slice(-GONE_MAX);
  }
}

/** Forgets them, for another view. */
export const leaveGone = () => { gone = []; };

/**
 * The open questions of one session or of all, with those that were answered since the view was opened.
 * @param {Store} store @param {() => void} drawn @param {string} [only] of this session
 */
export function askCards(store, drawn, only) {
  const open = store.asks(only);
  const past = gone.filter(({ session }) => !only || session.id === only).slice(only ? -1 : 0);
  // What led to a question stands above its buttons, and may come later.
  const placed = open.map(({ session, ask }) => `${cardOf(session.id, ask)} ${session.conversation_summary?.length ?? 0}`);
  arrange([...past.map(({ card }) => `${card}-gone`), ...placed].join(" "), drawn);
  return [
    ...past.map(({ card, session, ask, what, isAnswered }) => h("p", { class: "card gone", id: `${card}-gone` },
      h("span", null, session.name, " ", h("b", null, isAnswered ? `${what}${WHO.get(answered.get(card) ?? "") ?? " elsewhere"}` : what)), h("span", { class: "faint" }, inSight(ask.text.slice(0, GONE_CHARS))))),
    ...open.map(({ session, ask }) => askCard(store, session, ask, drawn)),
  ];
}

/**
 * Answers that were typed for questions which are not asked any more. @param {Store} store
 * @param {import("./outbox.js").Outbox} outbox @param {() => void} drawn @param {string} [only] of this session
 */
export function leftCards(store, outbox, drawn, only) {
  return keptUnder(TYPED).filter(([id, found]) => {
    const [session, request] = id.split(" ");
    const asks = store.sessions.get(session)?.asks ?? [];
    const open = asks.some((/** @type {any} */ ask) => ask.request === request && ask.text === found?.asked);
    return found && !open && ![...underWay.values()].includes(id) && (!only || only === session);
  }).map(([id, { text, asked }]) => {
    const [session] = id.split(" ");
    const drop = () => { keep(TYPED + id, null); drawn(); };
    const send = () => {
      outbox.draft(session, [outbox.drafted(session), text].filter(Boolean).join("\n"));
      drop();
      location.hash = `#/s/${session}`;
    };
    return h("section", { class: "card left", id: `left-${id.replace(" ", "-")}`, "aria-label": "An answer that was not sent" },
      h("p", { class: "faint" }, "This question is not asked any more, and your answer was not sent:"),
      h("p", { class: "pre words" }, inSight(asked)), h("p", { class: "pre" }, text),
      h("div", { class: "buttons" },
        store.sessions.has(session) && h("button", { class: "outline", onclick: send }, "Put it into a message"),
        h("button", { class: "outline", onclick: drop }, "Discard")));
  });
}
