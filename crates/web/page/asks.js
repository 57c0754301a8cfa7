// @ts-check
/** Every open question of every session, in one place. An answer names the request that was shown. */

import { post } from "./api.js";
import { complain, h, inSight, redraw } from "./dom.js";

/** Answers that are on their way: a second press sends no second one. @type {Set<string>} */
const underWay = new Set();

/** Answers that are being typed, by the question. @type {Map<string, string>} */
const typed = new Map();

/** @param {string} session @param {string} request @param {Record<string, any>} answer @param {() => void} drawn */
async function give(session, request, answer, drawn) {
  const id = `${session} ${request}`;
  if (underWay.has(id)) return;
  underWay.add(id);
  drawn();
  try {
    await post(`/sessions/${session}/answer`, { ...answer, request });
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
  const field = /** @type {HTMLTextAreaElement} */ (
    h("textarea", { rows: "2", id: `${at}-text`, "aria-label": `Answer for ${session.name}`, value: typed.get(at) ?? "",
      oninput: (/** @type {Event} */ event) => typed.set(at, /** @type {HTMLTextAreaElement} */ (event.target).value) })
  );
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
        onclick: () => typed.get(at)?.trim() && say({ answer: typed.get(at) })(),
      }, "Answer"),
      waits ? h("span", { class: "faint" }, "answering...") : null,
    ),
  );
}

/** @param {Element} place @param {import("./store.js").Store} store */
export function drawAsks(place, store) {
  // An answer may come back after the person has gone elsewhere.
  const drawn = () => { if (location.hash === "#/asks") drawAsks(place, store); };
  const cards = store.asks().map(({ session, ask }) => askCard(store, session, ask, drawn));
  redraw(
    place,
    h("h2", null, "Questions"),
    ...(cards.length ? cards : [h("p", { class: "faint" }, "Nothing is asked.")]),
  );
}
