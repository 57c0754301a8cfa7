// @ts-check
/** What an agent wants to be allowed, whole: a command, the lines of an edit, and whatever else it said. What was not
 * on the screen cannot be allowed, so it is known here what was. */

import { get, pathOf } from "./api.js";
import { h, inSight } from "./dom.js";
import { kindOf, marked } from "./lines.js";

/** @typedef {import("./store.js").Session} Session */

/** A path as it is seen from the worktree. @param {Session} session @param {string} path */
const relative = (session, path) => (session.worktree && path.startsWith(`${session.worktree}/`) ? path.slice(session.worktree.length + 1) : path);

/** Lines of a patch. @param {string[]} lines */
export function patch(lines) {
  const shown = lines.map(inSight);
  return h("div", { class: "diff" }, ...marked(shown).map((parts, at) => h("div", { class: `is-${kindOf(shown[at])}` }, h("code", null, ...parts))));
}

/** @param {string} name @param {any} value */
function field(name, value) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return h("div", { class: "said" }, h("span", { class: "faint" }, inSight(name)), h("pre", null, inSight(text)));
}

/** What can be chosen, where the agent lists it, with what it says of each. @param {any} ask @returns {{label: string, description?: string}[]} */
export function options(ask) {
  const questions = ask.kind === "question" && !ask.choices ? ask.input?.questions : null;
  return questions?.length === 1 ? (questions[0].options ?? []).filter((/** @type {any} */ one) => typeof one?.label === "string") : [];
}

/** A label that is longer may not fit on the screen as a button: it is among what is to be read. */
const LABEL_CHARS_MAX = 80;

/** What is asked for, in blocks. @param {Session} session @param {any} ask @returns {HTMLElement[]} */
function blocks(session, ask) {
  const { line, folder } = ask.wants?.command ?? {};
  const edits = ask.edits ?? [];
  const listed = options(ask);
  const named = edits.map((/** @type {any} */ edit) => edit.path);
  const paths = (ask.wants?.edit?.paths ?? []).filter((/** @type {string} */ path) => !named.includes(path));
  const told = new Set([line, folder, ask.text]);
  const rest = Object.entries(ask.rest ?? {}).filter(([name, value]) => !told.has(value) && !(listed.length && name === "questions"));
  return [
    ...(line === undefined ? [] : [h("pre", { class: "command" }, inSight(line))]),
    ...(folder ? [h("p", { class: "faint path" }, `in ${inSight(folder === session.worktree ? `${folder} (its worktree)` : folder)}`)] : []),
    ...edits.map((/** @type {any} */ edit) => h("div", { class: "file" },
      h("p", { class: "path" }, inSight(relative(session, edit.path))), patch(edit.lines))),
    ...paths.map((/** @type {string} */ path) => h("p", { class: "path" }, inSight(relative(session, path)))),
    ...listed.filter((one) => one.description || one.label.length > LABEL_CHARS_MAX).map((one) => field(one.label, one.description ?? "")),
    ...rest.map(([name, value]) => field(name, value)),
  ];
}

/** The words of a question that do not stand in a block below them. @param {any} ask */
function lead(ask) {
  const below = [ask.wants?.command?.line, ...(ask.edits ?? []).map((/** @type {any} */ edit) => edit.path)];
  const tail = below.find((text) => text && ask.text.endsWith(text));
  return tail ? ask.text.slice(0, -tail.length).replace(/[\s:]+$/, "") : ask.text;
}

/** What was on the screen of each question, by the id of its box: ranges of its height, for as long as its lines are
 * broken like this, whether that was all of it, and whose screen was part of it.
 * @type {Map<string, {lines: string, ranges: [number, number][], whole: boolean, screen?: string}>} */
const looks = new Map();
/** Who is told when all of one was seen. */
let told = () => {};

/** Words about the last press, which lie over everything. */
const toasts = /** @type {Element} */ (document.getElementById("toasts"));

/** As high is the field for a message at the foot of a session, which lies over what scrolls below it. */
const FOOT = 88;
/** The height of a line, about. */
const LINE = 20;
/** Browsers scroll by parts of a pixel and tell whole ones. */
const NEAR = 1;

/** The part of a box's height that is on the screen, as it scrolls. @param {Element} box @returns {[number, number]} */
function inView(box) {
  const start = box.getBoundingClientRect().top + box.clientTop;
  const words = toasts.childElementCount ? toasts.getBoundingClientRect().top : innerHeight;
  let [from, to] = [Math.max(start, 0), Math.min(start + box.clientHeight, innerHeight - FOOT, words)];
  for (let around = box.parentElement; around; around = around.parentElement) {
    if (getComputedStyle(around).overflowY === "visible") continue;
    const edge = around.getBoundingClientRect();
    [from, to] = [Math.max(from, edge.top), Math.min(to, edge.bottom)];
  }
  return [from - start + box.scrollTop, to - start + box.scrollTop];
}

/** Where what was not seen begins. @param {[number, number][]} ranges in their order */
const unseenFrom = ([first]) => (first && first[0] <= NEAR ? first[1] : 0);

/** Notes what is on the screen of a question. Whether all of it was, at last. @param {Element} box */
function note(box) {
  const lines = `${box.clientWidth} ${box.scrollHeight}`;
  const former = looks.get(box.id);
  const screen = /** @type {HTMLElement | null} */ (box.querySelector("[data-screen]"));
  if (former?.whole || screen?.ariaBusy) return false;
  const range = inView(box);
  const ranges = [...(former?.lines === lines ? former.ranges : []), ...(range[1] > range[0] ? [range] : [])];
  /** @type {[number, number][]} */
  const joined = [];
  for (const [from, to] of ranges.sort(([a], [b]) => a - b)) {
    const last = joined.at(-1);
    if (last && from <= last[1] + NEAR) last[1] = Math.max(last[1], to);
    else joined.push([from, to]);
  }
  const whole = box.clientHeight > 0 && unseenFrom(joined) >= box.scrollHeight - NEAR;
  looks.set(box.id, { lines, ranges: joined, whole, screen: screen?.dataset.screen });
  return whole;
}

let noting = 0;
/** Notes it with the next frame: a page that is hidden has none. */
function noteAll() {
  noting ||= requestAnimationFrame(() => {
    noting = 0;
    if ([...document.querySelectorAll(".wanted")].filter(note).length) told();
  });
}
// What scrolls does not say so to what it is in.
document.addEventListener("scroll", noteAll, { capture: true, passive: true });
addEventListener("resize", noteAll);
new MutationObserver(noteAll).observe(toasts, { childList: true });
const eyes = new IntersectionObserver(noteAll, { threshold: [0, 0.5, 1] });

/** Notes what comes into sight of the questions that are drawn here. @param {Element} place @param {() => void} drawn */
export function look(place, drawn) {
  told = drawn;
  for (const box of place.querySelectorAll(".wanted")) eyes.observe(box);
  noteAll();
}

/** Whether all of a question was on the screen. @param {string} card */
export const isSeen = (card) => looks.get(`${card}-wanted`)?.whole ?? false;

/** Brings into sight what was not seen of a question, below a line of what was. @param {string} card */
export function showUnseen(card) {
  const box = document.getElementById(`${card}-wanted`);
  if (!box) return;
  box.scrollIntoView({ block: "center" });
  box.scrollTop = unseenFrom(looks.get(box.id)?.ranges ?? []) - LINE;
}

/** The whole of a question. What is long scrolls in its own place. @param {Session} session @param {any} ask @param {string} card its id */
export function wanted(session, ask, card) {
  const words = lead(ask);
  return h("div", { class: "wanted", id: `${card}-wanted`, tabindex: "0", role: "group", "aria-label": "What it asks" },
    words ? h("p", { class: "pre words" }, inSight(words)) : null, ...blocks(session, ask), isFromScreen(ask) ? lastLines(session) : null);
}

/** Whether a question is a line on the screen of a program that says nothing about itself: what it is about stands above it.
 * @param {any} ask */
export const isFromScreen = (ask) => ask.request.startsWith("screen-");

/** Lines from the end of a screen: a message and what became of it are there, and what a program asks about. */
const LINES = 8;
/** The last lines of each session's terminal, as of the time when it last did something, and whether they were read.
 * @type {Map<string, {at: string, text: string, read: boolean}>} */
const screens = new Map();

/** Whether all that is to be read of a question is drawn. @param {Session} session @param {any} ask */
export function isWhole(session, ask) {
  const known = screens.get(session.id);
  return !isFromScreen(ask) || (known?.at === session.last_active_at && known?.read);
}

/** What a session shows beside a question that does not say by itself what it is about. @param {Session} session */
export function lastLines(session) {
  // Without a terminal there is only what it did last.
  if (session.mode === "headless") return session.last_action ? h("p", { class: "faint pre" }, `It did last: ${session.last_action}`) : null;
  const { last_active_at: at } = session;
  let known = screens.get(session.id) ?? { at: "", text: "", read: false };
  if (known.at !== at) {
    const former = known.text;
    known = { at, text: former, read: false };
    screens.set(session.id, known);
    get(pathOf`/sessions/${session.id}/screen`).then(({ runs }) => {
      const lines = runs.map((/** @type {any[]} */ row) => row.map(([text]) => text).join("").trimEnd());
      const end = lines.findLastIndex(Boolean) + 1;
      const text = lines.slice(Math.max(0, end - LINES), end).join("\n");
      if (screens.get(session.id)?.at !== at) return;
      screens.set(session.id, { at, text, read: true });
      // Other lines are to be read again.
      if (text !== former) for (const [box, { screen }] of looks) if (screen === session.id) looks.delete(box);
      told();
    }, () => screens.delete(session.id));
  }
  return h("div", { class: "said", "data-screen": session.id, "aria-busy": known.read ? null : "true" },
    h("span", { class: "faint" }, "Its terminal shows"), h("pre", null, inSight(known.text)));
}
