// @ts-check
/** The list of sessions, who needs a person first. */

import { ago, clock, h, inSight, redraw } from "./dom.js";
import { NEEDS } from "./store.js";
import { counts } from "./work.js";

/** More that rest than these are folded. */
const REST_SHOWN = 8;

/** A mark for each state, so that colour is never the only sign. */
export const MARKS = {
  created: "\u25cb", busy: "\u25cf", idle: "\u25d0", waiting: "?", pausing: "\u2026", resuming: "\u2026",
  paused: "\u2016", suspended: "z", interrupted: "!", completed: "\u2713", failed: "\u2717", archived: "-",
};

/** What else there is, beside sessions. */
const PLACES = [["plans", "Plans"], ["search", "Search"], ["trash", "Trash"], ["settings", "This device"]];

/** How a session is, in a word, and in two more where that is not all. @param {import("./store.js").Session} session */
export const state = (session) => (session.process_kept ? `${session.status}, process kept` : session.status);

/** @param {import("./store.js").Session} session */
function details(session) {
  const parts = [state(session)];
  if (session.queued) parts.push(`${session.queued} queued`);
  if (session.loop) parts.push(`#${session.loop.iteration}`);
  parts.push(counts(session));
  if (session.waits_to_start) parts.push("waits to start");
  if (session.budget?.percent >= 80) parts.push(`${session.budget.percent}% of its budget`);
  const { snoozed_until: until } = session;
  if (until) parts.push(until === "change" ? "snoozed until it changes" : `snoozed until ${clock(until)}`);
  parts.push(...(session.labels ?? []).map((/** @type {string} */ label) => `#${label}`));
  return parts.filter(Boolean).join(" \u00b7 ");
}

/** The repository, by the name of its folder. @param {import("./store.js").Session} session */
const place = (session) => session.repo_root.split("/").pop();

/** @param {import("./store.js").Session} session @param {boolean} current */
function row(session, current) {
  const ask = session.waiting_for ?? session.was_asking?.[0];
  return h(
    "li",
    null,
    h(
      "a",
      {
        href: `#/s/${session.id}`,
        id: `row-${session.id}`,
        class: `row is-${session.status}`,
        "aria-current": current ? "page" : null,
      },
      h("span", { class: "mark", "aria-hidden": "true" }, MARKS[session.status] ?? "-"),
      h("span", { class: "name" }, session.pinned && h("span", { title: "pinned" }, "^ "), session.name),
      h("span", { class: "when faint" }, ago(session.last_active_at)),
      h("span", { class: "what faint" }, h("span", { class: "state" }, details(session)), ` \u00b7 ${place(session)}`),
      ask ? h("span", { class: "asks" }, session.waiting_for ? "" : "asked: ", inSight(ask.text)) : null,
    ),
  );
}

/** What was typed to find a session by. */
let filter = "";

/** @param {import("./store.js").Session} session */
function fits(session) {
  const { name, agent, branch, status, labels = [] } = session;
  const texts = [name, agent, branch ?? "", status, place(session), ...labels.map((/** @type {string} */ label) => `#${label}`)];
  return filter.toLowerCase().split(/\s+/).every((word) => texts.some((text) => text.toLowerCase().includes(word)));
}

/** Whether those at rest are shown; by their number until somebody says so. @type {boolean | undefined} */
let opened;
/** Where that is heard. @type {Element | undefined} */
let heard;
let before = "";

/** @param {any[]} all @param {string[]} group @param {string} current */
function group(all, [need, text], current) {
  const own = all.filter((session) => session.need === need);
  if (!own.length) return "";
  const head = [text, " ", h("span", { class: "faint" }, own.length)];
  const list = (/** @type {any[]} */ part) => h("ul", null, ...part.map((session) => row(session, session.id === current)));
  const props = { class: "group", id: `group-${need}` };
  if (need !== "rest") return h("section", props, h("h2", null, ...head), list(own));
  const pinned = own.filter((session) => session.pinned);
  return h("div", null, pinned.length > 0 && list(pinned),
    h("details", { ...props, open: !!filter || (opened ?? own.length <= REST_SHOWN) }, h("summary", null, ...head), list(own.filter((session) => !session.pinned))));
}

/** @param {Element} place @param {import("./store.js").Store} store @param {any[]} sessions @param {string} current */
function mind(place, store, sessions, current) {
  if (heard !== place) {
    heard = place;
    place.addEventListener("input", (event) => {
      filter = /** @type {HTMLInputElement} */ (event.target).value.trim();
      store.tell({});
    });
    place.addEventListener("click", (event) => {
      const summary = /** @type {Element} */ (event.target).closest("#group-rest > summary");
      if (summary) opened = !summary.parentElement?.hasAttribute("open");
    });
  }
  // What is gone to is in sight.
  if (current !== before && sessions.some(({ id, need }) => id === current && need === "rest")) opened = true;
  before = current;
}

/** @param {Element} place @param {import("./store.js").Store} store @param {string} current */
export function drawList(place, store, current) {
  const asks = store.asks().length;
  const all = store.ordered();
  mind(place, store, all, current);
  const sessions = all.filter(fits);
  redraw(
    place,
    h("p", { class: "pad begin" }, h("a", { href: "#/new", id: "row-new", class: "button filled" }, "New session"),
      h("input", { id: "filter", type: "search", placeholder: "Filter", "aria-label": "Filter the sessions", autocomplete: "off" })),
    h(
      "a",
      { href: "#/asks", id: "row-asks", class: "row", "aria-current": ["", "asks"].includes(current) ? "page" : null },
      h("span", { class: "mark", "aria-hidden": "true" }, "?"),
      h("span", { class: "name" }, "Inbox"),
      h("span", { class: asks ? "badge warm" : "when faint" }, asks ? `${asks} open` : "none open"),
    ),
    ...NEEDS.map((one) => group(sessions, one, current)),
    sessions.length && !store.more ? "" : h("p", { class: "faint pad" }, store.more ? `${store.more} more at rest.` : filter ? "No session fits." : "No sessions."),
    h("p", { class: "places" }, ...PLACES.map(([name, text]) => h("a", {
      href: `#/${name}`, id: `row-${name}`, "aria-current": current === name ? "page" : null }, text))),
  );
}
