// @ts-check
/** The home of the page: what is asked, who else needs a person, what failed, what is done and was not looked at yet, and
 * what is at work. Everything is answered where it stands. */

import { askCards, leftCards } from "./asks.js";
import { ago, h, headline, inSight, redraw, whyNot } from "./dom.js";
import { MARKS, state } from "./list.js";
import { canResume, resume } from "./resume.js";
import { why } from "./state.js";
import { look } from "./wanted.js";

/** @typedef {import("./store.js").Session} Session */

/** More of a group than these are in the list alone. */
const SHOWN = 20;
/** Where the inbox stands. */
const HOMES = ["", "#", "#/", "#/asks"];

/** @param {Session} session */
const name = (session) => h("h3", null, h("a", { href: `#/s/${session.id}` }, session.name));

/** One that stands still, with the reason and the way on. @param {import("./store.js").Store} store @param {Session} session */
function stillCard(store, session) {
  return h("section", { class: `card still${session.need === "failed" ? " bad" : ""}`, id: `still-${session.id}`, "aria-label": `${session.name}, ${state(session)}` },
    h("header", null, name(session), h("span", { class: "faint" }, `${state(session)} ${ago(session.last_active_at)}`)),
    h("p", { class: "pre" }, inSight(why(session))),
    h("div", { class: "buttons" },
      canResume(store, session) && resume(store, session, "still", "filled"),
      h("a", { class: "button outline", href: `#/s/${session.id}` }, "Open")));
}

/** One that is done, with its last words. @param {Session} session */
function doneCard(session) {
  const files = session.changed_files;
  return h("section", { class: "card", id: `done-${session.id}`, "aria-label": `${session.name} is done` },
    h("header", null, name(session), h("span", { class: "faint" }, `${state(session)} ${ago(session.last_active_at)}`)),
    session.last_action && h("p", { class: "pre" }, inSight(session.last_action)),
    files > 0 && h("div", { class: "buttons" },
      h("a", { class: "button outline", href: `#/s/${session.id}/changes` }, `Review ${files} ${files === 1 ? "file" : "files"}`)));
}

/** One that is at work, in a line. @param {Session} session */
const workLine = (session) => h("li", { class: `is-${session.status}` },
  h("a", { class: "row", href: `#/s/${session.id}`, id: `work-${session.id}` },
    h("span", { class: "mark", "aria-hidden": "true" }, MARKS[session.status]), h("span", { class: "name" }, session.name),
    h("span", { class: "when faint" }, ago(session.last_active_at)),
    h("span", { class: "what faint" }, inSight(session.last_action ?? state(session)))));

/** What is said where nothing was begun yet. */
const first = () => h("div", { class: "card" },
  h("h3", null, "Nothing runs here yet."),
  h("ol", { class: "steps" },
    h("li", null, h("a", { href: "#/new" }, "Start a session"), ": an agent gets a worktree and a branch of its own."),
    h("li", null, "What it asks stands here, with the command or the lines that it is about."),
    h("li", null, "What it has done stands here as well: look at its changes and merge them.")));

/** @param {string} text @param {number} count @param {any[]} shown */
const section = (text, count, shown) => count > 0 && h("section", { class: "inbox" },
  h("h3", { class: "group-head" }, text, " ", h("span", { class: "faint" }, count > SHOWN ? `${count}, the first ${SHOWN}` : count)), ...shown);

/** @param {Element} place @param {import("./store.js").Store} store @param {import("./outbox.js").Outbox} outbox */
export function drawInbox(place, store, outbox) {
  // An answer may come back after the person has gone elsewhere.
  const drawn = () => { if (HOMES.includes(location.hash)) drawInbox(place, store, outbox); };
  const all = store.ordered();
  const of = (/** @type {string} */ need) => all.filter((session) => session.need === need);
  const asks = askCards(store, drawn);
  const still = of("you").filter((session) => !session.asks?.length);
  const [failed, done, work] = ["failed", "new", "working"].map(of);
  const rest = all.length - of("you").length - failed.length - done.length - work.length + (store.more ?? 0);
  const cards = (/** @type {Session[]} */ some) => some.slice(0, SHOWN).map((session) => stillCard(store, session));
  const calm = !store.asks().length && !still.length && !failed.length && !done.length;
  redraw(
    place,
    headline("Inbox"),
    store.asks().length > 0 && whyNot(store, "answer"),
    ...leftCards(store, outbox, drawn),
    ...asks,
    section("Needs you", still.length, cards(still)),
    section("Failed", failed.length, cards(failed)),
    section("Done, and not looked at", done.length, done.slice(0, SHOWN).map(doneCard)),
    section("At work", work.length, [h("ul", { class: "lines" }, ...work.slice(0, SHOWN).map(workLine))]),
    calm && (all.length || store.more) ? h("p", { class: "faint" }, "Nothing is asked.") : "",
    !all.length && !store.more ? first() : "",
    rest > 0 && h("p", { class: "faint" }, `${rest} ${rest === 1 ? "session rests" : "sessions rest"}.`),
  );
  look(place, drawn);
}
