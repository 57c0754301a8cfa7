// @ts-check
/** How a session is and why, in cards: paused, at rest, failed; what it asked, and what a person should know of it. */

import { ago, clock, h, icon, inSight } from "./dom.js";
import { state } from "./list.js";

/** @typedef {import("./store.js").Session} Session */

/** States in which nothing runs that could be paused. */
const RESTS = ["paused", "suspended", "interrupted", "failed", "completed"];

/** @param {Session} session */
export const isResting = (session) => RESTS.includes(session.status);

/** Why it was paused. */
const REASONS = {
  user: "A user paused it.", user_interrupt: "A user interrupted it.", resource: "Memory or processes ran short.",
  error: "Something failed.", idle_timeout: "It was idle for long.", global: "It was paused with all others.",
  rate_limit: "Its agent has reached a usage limit.", budget: "The budget is used up.", shutdown: "The machine or the daemon shut down.",
};

/** Until when a usage limit lasts. @param {Session} session */
function limit(session) {
  const { limit_until: until } = session;
  if (!until) return "";
  return until === "unknown" ? "Usage limit; the agent does not say until when." : `Usage limit until ${clock(until)}.`;
}

/** Why it stands where it does, in a sentence or two. @param {Session} session */
export function why(session) {
  const [asked] = session.was_asking ?? [];
  const reason = session.status === "paused" ? REASONS[session.pause_reason] : "";
  const broke = session.failure ?? (["failed", "interrupted"].includes(session.status) && session.verdict);
  const told = [asked && `It asked when it was paused: ${asked.text}`, broke && `${broke}.`, limit(session) || reason,
    session.cut_off && "Its last turn was cut off."].filter(Boolean);
  return told.length ? told.join(" ") : session.last_action ?? state(session);
}

/** When it goes on. @param {Session} session @param {boolean} stopped with all others */
function goesOn(session, stopped) {
  if (session.resume_at) return `Resumes by itself at ${clock(session.resume_at)}.`;
  if (stopped) return "Resume all starts it again.";
  return session.status === "paused" && session.pause_reason === "rate_limit" ? "Does not resume by itself." : "";
}

/** A paused session, as a card. @param {Session} session @param {boolean} stopped */
function pausedCard(session, stopped) {
  const pending = (session.pending_tasks ?? []).slice(0, 3);
  const why = limit(session) || REASONS[stopped ? "global" : session.pause_reason] || "";
  return h("section", { class: "card paused", "aria-label": `${session.name} is paused` },
    h("header", null, icon("pause"), h("h3", null, session.name), h("span", { class: "badge" }, `Paused ${ago(session.paused_at)}`)),
    h("p", null, [why, goesOn(session, stopped)].filter(Boolean).join(" ")),
    session.last_action && h("div", null, h("span", { class: "faint" }, "Last Action:"), h("p", null, session.last_action)),
    pending.length > 0 && h("div", null, h("span", { class: "faint" }, "Pending:"),
      h("ul", null, ...pending.map((/** @type {string} */ task) => h("li", null, task)))));
}

/** One that rests otherwise, with the reason. @param {Session} session @param {boolean} stopped */
function restCard(session, stopped) {
  const bad = ["failed", "interrupted"].includes(session.status);
  const parts = [`${session.failure ?? session.verdict}.`, session.cut_off && "Its last turn was cut off.", limit(session),
    session.status === "suspended" && "A message wakes it.", goesOn(session, stopped)];
  return h("section", { class: `card rests${bad ? " bad" : ""}`, "aria-label": `Why ${session.name} does not run` },
    h("p", { class: "pre" }, h("b", null, `${session.status}: `), parts.filter(Boolean).join(" ")));
}

/** What it asked when it was stopped: nobody can answer that any more. @param {any[]} asks */
function askedCard(asks) {
  return h("section", { class: "card asked", "aria-label": "What it asked" },
    h("p", { class: "faint" }, "It asked when it was paused, and had no answer:"),
    ...asks.map((ask) => h("p", { class: "pre words" }, inSight(ask.text))));
}

/** Everything that is to be known of how it is. @param {Session} session @param {boolean} stopped with all others */
export function stateCards(session, stopped) {
  const asked = session.was_asking ?? [];
  const warnings = session.warnings ?? [];
  return [
    session.status === "paused" && pausedCard(session, stopped),
    isResting(session) && !["paused", "completed"].includes(session.status) && restCard(session, stopped),
    !isResting(session) && session.failure && h("p", { class: "card bad pre" }, session.failure),
    !isResting(session) && session.limit_until && h("p", { class: "card" }, limit(session)),
    asked.length > 0 && askedCard(asked),
    warnings.length > 0 && h("ul", { class: "card warnings", "aria-label": "Warnings" }, ...warnings.map((/** @type {string} */ one) => h("li", null, one))),
  ].filter(Boolean);
}

/** A number of tokens, short. @param {number} count */
const short = (count) => (count < 1000 ? String(count) : count < 1e6 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1e6).toFixed(1)}M`);

/** Tokens and money, as far as they are known. @param {any} used */
export function spent(used) {
  const { tokens_in: read, tokens_out: written, usd: cost, window_percent: part } = used ?? {};
  return [
    read || written ? `${short(read ?? 0)} tokens in, ${short(written ?? 0)} out` : "",
    typeof cost === "number" ? `$${cost.toFixed(2)}` : "",
    part === undefined ? "" : `${part}% of its window`,
  ].filter(Boolean).join(" \u00b7 ");
}

/** What it has changed, used and holds, as far as that is known. @param {Session} session */
export function facts(session) {
  const { changed_files: files, memory_bytes: memory } = session;
  return [
    files ? `${files} ${files === 1 ? "file" : "files"} changed` : "",
    session.compacted_at ? `compacted ${ago(session.compacted_at)}` : "",
    spent(session.cost),
    session.budget ? `${session.budget.percent}% of ${session.budget.allowed}` : "",
    session.compacted_at ? `summed up ${ago(session.compacted_at)}` : "",
    memory ? `${Math.max(1, Math.round(memory / 1048576))} MB` : "",
  ];
}
