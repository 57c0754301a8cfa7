// @ts-check
/** Every open question of every session, in one place. An answer names the request that was shown. */

import { post } from "./api.js";
import { complain, h, headline, inSight, redraw, whyNot } from "./dom.js";
import { keep, kept, keptUnder } from "./kept.js";

/** Answers that are on their way: a second press sends no second one. @type {Set<string>} */
const underWay = new Set();

/** Answers that are being typed, each with what was asked: a request's name may be another question's later. */
const TYPED = "glis.answer.";

/** @param {string} session @param {string} request @param {Record<string, any>} answer @param {() => void} drawn */
async function give(session, request, answer, drawn) {
  const id = `${session} ${request}`;
  if (underWay.has(id)) return;
  underWay.add(id);
  drawn();
  try {
    await post(`/sessions/${session}/answer`, { ...answer, request });
    keep(TYPED + id, null);
  } catch (fault) {
    complain("Failed to answer", fault);
  } finally {
    underWay.delete(id);
    drawn();
  }
}

/** What is usually chosen from, as a person would write it. */
const LABELS = { allow: "Allow", deny: "Deny" };
const KINDS = { approval: "wants your approval", question: "has a question" };

/** @param {import("./store.js").Store} store @param {import("./store.js").Session} session @param {any} ask @param {() => void} drawn */
export function askCard(store, session, ask, drawn) {
  const waits = underWay.has(`${session.id} ${ask.request}`);
  const disabled = waits || !store.may("answer");
  const say = (/** @type {Record<string, any>} */ answer) => () => give(session.id, ask.request, answer, drawn);
  const at = `ask-${session.id}-${ask.request}`;
  const choices = ask.choices?.length ? ask.choices : ask.kind === "question" ? [] : ["allow", "deny"];
  const place = `${TYPED}${session.id} ${ask.request}`;
  const typed = () => { const found = kept(place, {}); return found.asked === ask.text ? found.text : ""; };
  const field = h("textarea", { rows: "2", id: `${at}-text`, "aria-label": `Answer for ${session.name}`, value: typed(),
    oninput: (/** @type {Event} */ event) => {
      const text = /** @type {HTMLTextAreaElement} */ (event.target).value;
      keep(place, text && { text, asked: ask.text });
    } });
  const buttons = choices.map((/** @type {string} */ choice, /** @type {number} */ index) =>
    h("button", {
      type: "button", id: `${at}-${index}`, class: choice === "allow" ? "filled" : "outline", disabled,
      onclick: say({ answer: choice }),
    }, LABELS[choice] ?? inSight(choice)));
  if (choices.includes("allow") && ask.kind === "approval") {
    buttons.push(h("button", {
      type: "button", id: `${at}-all`, class: "outline", disabled,
      onclick: say({ answer: "allow", for_session: true }),
    }, "Allow for this session"));
  }
  const onlyThere = Array.isArray(ask.choices) && ask.choices.length === 0;
  const free = ask.kind === "question" && !ask.choices?.length && !onlyThere;
  return h(
    "section",
    { class: "card asks", id: at, "aria-label": `${session.name} asks` },
    h("header", null, h("h3", null, h("a", { href: `#/s/${session.id}` }, session.name)), ` ${KINDS[ask.kind] ?? ask.kind}`),
    h("p", { class: "pre words" }, inSight(ask.text)),
    onlyThere ? h("p", { class: "faint" }, `Only its own terminal takes the answer: glis attach ${session.name}`) : null,
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
          if (answer.trim()) say({ answer })();
        },
      }, "Answer"),
      waits ? h("span", { class: "faint" }, "answering...") : null,
    ),
  );
}

/**
 * Answers that were typed for questions which are not asked any more. @param {import("./store.js").Store} store
 * @param {import("./outbox.js").Outbox} outbox @param {() => void} drawn @param {string} [only] of this session
 */
export function leftCards(store, outbox, drawn, only) {
  return keptUnder(TYPED).filter(([id, found]) => {
    const [session, request] = id.split(" ");
    const asks = store.sessions.get(session)?.asks ?? [];
    const open = asks.some((/** @type {any} */ ask) => ask.request === request && ask.text === found?.asked);
    return found && !open && !underWay.has(id) && (!only || only === session);
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

/** @param {Element} place @param {import("./store.js").Store} store @param {import("./outbox.js").Outbox} outbox */
export function drawAsks(place, store, outbox) {
  // An answer may come back after the person has gone elsewhere.
  const drawn = () => { if (location.hash === "#/asks") drawAsks(place, store, outbox); };
  const cards = store.asks().map(({ session, ask }) => askCard(store, session, ask, drawn));
  redraw(
    place,
    headline("Questions"),
    cards.length > 0 && whyNot(store, "answer"),
    ...leftCards(store, outbox, drawn),
    ...(cards.length ? cards : [h("p", { class: "faint" }, "Nothing is asked.")]),
  );
}
