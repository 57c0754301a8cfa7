// @ts-check
/** Every open question of every session, in one place. An answer names the request that was shown. */

import { pathOf, post } from "./api.js";
import { complain, h, headline, inSight, redraw, whyNot } from "./dom.js";
import { keep, kept, keptUnder } from "./kept.js";
import { isSeen, lastLines, look, options, showUnseen, wanted } from "./wanted.js";

/** @typedef {import("./store.js").Session} Session */
/** @typedef {import("./store.js").Store} Store */

/** Answers that are on their way, and where what was typed for each is kept: a second press sends no second one.
 * @type {Map<string, string>} */
const underWay = new Map();
/** Questions that were answered here. @type {Set<string>} */
const answered = new Set();

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

/** @param {string} card @param {string} session @param {string} request @param {Record<string, any>} answer @param {() => void} drawn */
async function give(card, session, request, answer, drawn) {
  if (underWay.has(card)) return;
  const id = `${session} ${request}`;
  underWay.set(card, id);
  answered.add(card);
  drawn();
  try {
    await post(pathOf`/sessions/${session}/answer`, { ...answer, request });
    keep(TYPED + id, null);
  } catch (fault) {
    answered.delete(card);
    complain("Failed to answer", fault);
  } finally {
    underWay.delete(card);
    drawn();
  }
}

/** What is usually chosen from, as a person would write it. */
const LABELS = { allow: "Allow", deny: "Deny", allow_for_session: "Allow for this session" };
const DOUBT = { allow: "Send again", deny: "Drop it" };
const KINDS = { approval: "wants your approval", question: "has a question", doubt: "may have missed a message" };

/** What is asked of a message in doubt. @param {any} ask @returns {string} */
function doubted(ask) {
  const why = ask.not_delivered;
  return why ? `This message is not delivered: ${inSight(why)}. Send it again?` : "Did the agent get this message?";
}

/** What a question takes, where that is not any text. @param {any} ask @returns {string[]} */
function choicesOf(ask) {
  if (ask.choices) return ask.choices;
  if (ask.kind === "approval") return ["allow", "deny", "allow_for_session"];
  return ask.kind === "doubt" ? ["allow", "deny"] : options(ask).map((one) => one.label);
}

/** What is sent for a choice. @param {string} choice */
const said = (choice) => (choice === "allow_for_session" ? { answer: "allow", for_session: true } : { answer: choice });

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
  const unseen = !isSeen(at);
  const buttons = choicesOf(ask).map((choice, index) => {
    // A no is always possible.
    const blind = choice !== "deny" && (unseen || !isSettled());
    const press = () => (!blind ? say(said(choice)) : unseen && showUnseen(at));
    return h("button", {
      type: "button", id: `${at}-${index}`, class: choice === "allow" ? "filled" : "outline", disabled, onclick: press,
      "aria-disabled": blind ? "true" : null, "aria-describedby": blind && unseen ? `${at}-unseen` : null,
    }, (ask.kind === "doubt" ? DOUBT : LABELS)[choice] ?? inSight(choice));
  });
  const onlyThere = ask.choices?.length === 0;
  const free = ask.kind === "question" && !ask.choices;
  return h(
    "section",
    { class: "card asks", id: at, "aria-label": `${session.name} asks` },
    h("header", null, h("h3", null, h("a", { href: `#/s/${session.id}` }, session.name)), ` ${KINDS[ask.kind] ?? ask.kind}`),
    ask.kind === "doubt" ? h("p", null, doubted(ask)) : null,
    wanted(session, ask, at),
    ask.kind === "doubt" ? lastLines(session) : null,
    unseen && buttons.length ? h("p", { class: "faint", id: `${at}-unseen` }, "Read all of it first.") : null,
    onlyThere ? h("p", { class: "faint" }, "Only its own terminal takes the answer: ", h("a", { href: `#/s/${session.id}` }, "type it there"), ".") : null,
    free ? field : null,
    onlyThere ? null : h(
      "div",
      { class: "buttons" },
      ...buttons,
      free && h("button", {
        type: "button", id: `${at}-send`, class: "filled", disabled,
        onclick: () => {
          // What is seen is what is sent, whatever another tab has kept since.
          const answer = /** @type {HTMLTextAreaElement} */ (document.getElementById(`${at}-text`)).value;
          if (answer.trim()) say({ answer });
        },
      }, "Answer"),
      waits ? h("span", { class: "faint" }, "answering...") : null,
    ),
  );
}

/** The cards that were drawn last, and since when they stand where they do. */
const order = { cards: "", since: 0 };
const isSettled = () => performance.now() - order.since >= SETTLE_MS;

/** Notes which cards are drawn, one above the other. @param {string} cards @param {() => void} drawn */
function arrange(cards, drawn) {
  if (cards === order.cards) return;
  [order.cards, order.since] = [cards, performance.now()];
  setTimeout(drawn, SETTLE_MS + 1);
}

/** Questions that are not asked any more, and what came of each, until the view is left.
 * @type {{card: string, session: Session, ask: any, how: string}[]} */
let gone = [];
/** More than these, and more of each, would fill the view. */
const [GONE_MAX, GONE_CHARS] = [3, 120];

/** What an event says of a question: how it was answered, by its session and request. @type {Map<string, string>} */
const outcomes = new Map();
const ANSWERS = { allow: "allowed", allow_for_session: "allowed for the session", deny: "denied" };
const FATES = { message_requeued: "sent again", message_dropped: "dropped", message_taken: "taken after all" };

/** An event may tell what came of a question. @param {any} event */
export function hear(event) {
  if (event.event === "answer_began") outcomes.set(`${event.session} ${event.ask}`, ANSWERS[event.answer] ?? "answered");
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
    const how = isIn(session.asks) ? "has changed" : outcome ? `${outcome} ${answered.has(card) ? "here" : "elsewhere"}` : "not asked any more";
    gone = [...gone, { card, session, ask, how }].slice(-GONE_MAX);
  }
}

/** Forgets them, for another view. */
export const leaveGone = () => { gone = []; };

/**
 * The open questions of one session or of all, with those that were answered since the view was opened.
 * @param {Store} store @param {() => void} drawn @param {string} [only] of this session
 */
export function askCards(store, drawn, only) {
  const open = store.asks().filter(({ session }) => !only || session.id === only);
  const past = gone.filter(({ session }) => !only || session.id === only).slice(only ? -1 : 0);
  arrange([...past.map(({ card }) => card), ...open.map(({ session, ask }) => cardOf(session.id, ask))].join(" "), drawn);
  return [
    ...past.map(({ card, session, ask, how }) => h("p", { class: "card gone", id: `${card}-gone` },
      h("span", null, session.name, " ", h("b", null, how)), h("span", { class: "faint" }, inSight(ask.text.slice(0, GONE_CHARS))))),
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
        store.sessions.has(session) && h("button", { type: "button", class: "outline", onclick: send }, "Put it into a message"),
        h("button", { type: "button", class: "outline", onclick: drop }, "Discard")));
  });
}

/** @param {Element} place @param {Store} store @param {import("./outbox.js").Outbox} outbox */
export function drawAsks(place, store, outbox) {
  // An answer may come back after the person has gone elsewhere.
  const drawn = () => { if (location.hash === "#/asks") drawAsks(place, store, outbox); };
  const cards = askCards(store, drawn);
  const open = store.asks().length;
  redraw(
    place,
    headline("Questions"),
    open > 0 && whyNot(store, "answer"),
    ...leftCards(store, outbox, drawn),
    ...cards,
    open ? "" : h("p", { class: "faint" }, "Nothing is asked."),
  );
  look(place, drawn);
}
