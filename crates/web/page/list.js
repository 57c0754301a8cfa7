// @ts-check
/** The list of sessions, who needs a person first. */

import { get, post } from "./api.js";
import { ago, clock, complain, h, icon, inSight, redraw } from "./dom.js";
import { canResume, resume } from "./resume.js";
import { why } from "./state.js";
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
export const PLACES = [["plans", "Plans"], ["search", "Search"], ["trash", "Trash"], ["settings", "This device"]];

/** How a session is, in a word, and in two more where that is not all. @param {import("./store.js").Session} session */
export function state({ status, process_kept: kept, loop }) {
  // What sleeps is not done, and a loop that has ended is.
  const word = loop?.state === "done" ? "done" : status === "suspended" ? "asleep" : status;
  return kept ? `${word}, process kept` : word;
}

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
export const place = (session) => session.repo_root.split("/").pop();

/** A session that is paused: what it did last, what it has before it, and the way on.
 * @param {import("./store.js").Store} store @param {import("./store.js").Session} session */
function pausedPart(store, session) {
  const pending = (session.pending_tasks ?? []).slice(0, 3);
  return h("div", { class: "rest" },
    h("p", { class: "faint" }, icon("pause"), `Paused ${ago(session.paused_at)}`),
    session.last_action && h("p", { class: "faint line-2" }, inSight(session.last_action)),
    pending.length > 0 && h("ul", { class: "faint" }, ...pending.map((/** @type {string} */ task) => h("li", null, inSight(task)))),
    canResume(store, session) && resume(store, session, "row", "small filled"));
}

/** @param {import("./store.js").Store} store @param {import("./store.js").Session} session @param {boolean} current */
function row(store, session, current) {
  const ask = session.waiting_for ?? session.was_asking?.[0];
  const failed = session.need === "failed" && why(session);
  return h(
    "li",
    session.status === "paused" ? { class: "paused" } : null,
    h(
      "a",
      {
        href: `#/s/${session.id}`,
        id: `row-${session.id}`,
        class: `row is-${session.status}${session.need === "new" ? " unseen" : ""}`,
        "aria-current": current ? "page" : null,
      },
      h("span", { class: "mark", "aria-hidden": "true" }, MARKS[session.status] ?? "-"),
      h("span", { class: "name" }, session.pinned && h("span", { title: "pinned" }, "^ "), session.name),
      h("span", { class: "when faint" }, ago(session.asks?.[0]?.since ?? session.last_active_at)),
      h("span", { class: "what faint" }, h("span", { class: "state" }, details(session)), ` \u00b7 ${place(session)}`),
      ask ? h("span", { class: "asks" }, session.waiting_for ? "" : "asked: ", inSight(ask.text)) : failed ? h("span", { class: "asks bad" }, inSight(failed)) : null,
    ),
    session.status === "paused" && pausedPart(store, session),
  );
}

/** What was typed to find a session by. */
let filter = "";

/** Those that the daemon keeps for every face. @type {string[]} */
let saved = [];

/** What was kept to find sessions by, and a way to keep what stands there. @param {() => void} drawn */
function filters(drawn) {
  const all = saved;
  const is = all.includes(filter);
  const set = (/** @type {string} */ text) => {
    filter = text;
    /** @type {HTMLInputElement} */ (document.getElementById("filter")).value = text;
    drawn();
  };
  const turn = async () => {
    try {
      ({ filters: saved } = await post("/filters", { words: filter, forget: is }));
      drawn();
    } catch (fault) {
      complain("keep", fault);
    }
  };
  return (all.length || filter) && h("p", { class: "filters" },
    ...all.map((text) => h("button", { class: "small", "aria-pressed": String(text === filter), onclick: () => set(text === filter ? "" : text) }, text)),
    filter && h("button", { class: "small quiet", id: "filter-keep", "data-of": filter, onclick: turn },
      is ? "Forget this filter" : "Keep this filter"));
}

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

/** @param {import("./store.js").Store} store @param {any[]} all @param {string[]} group @param {string} current */
function group(store, all, [need, text], current) {
  const own = all.filter((session) => session.need === need);
  if (!own.length) return "";
  const head = [text, " ", h("span", { class: "faint" }, own.length)];
  const list = (/** @type {any[]} */ part) => h("ul", null, ...part.map((session) => row(store, session, session.id === current)));
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
    get("/choices").then(({ filters }) => { saved = filters; store.tell({}); }, () => {});
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
    h("div", { class: "begin" }, h("a", { href: "#/new", id: "row-new", class: "button filled" }, "New session"),
      h("input", { id: "filter", type: "search", placeholder: "Filter", "aria-label": "Filter the sessions", autocomplete: "off" }),
      filters(() => store.tell({}))),
    h("div", { class: "rows" }, h(
      "a",
      { href: "#/asks", id: "row-asks", class: "row", "aria-current": ["", "asks"].includes(current) ? "page" : null },
      h("span", { class: "mark", "aria-hidden": "true" }, "?"),
      h("span", { class: "name" }, "Inbox"),
      h("span", { class: asks ? "badge warm" : "when faint" }, asks ? `${asks} open` : "none open"),
    ),
    ...NEEDS.map((one) => group(store, sessions, one, current)),
    sessions.length && !store.more ? "" : h("p", { class: "faint pad" }, store.more ? `${store.more} more at rest.` : filter ? "No session fits." : "No sessions.")),
    h("p", { class: "places" }, ...PLACES.map(([name, text]) => h("a", {
      href: `#/${name}`, id: `row-${name}`, "aria-current": current === name ? "page" : null }, text))),
  );
}
