// @ts-check
/** What a session works on: the iterations of a loop, the runs of a plan's task. */

import { ago, clock, h, inSight } from "./dom.js";

/** How far its tasks are, where it has a list of them. @param {import("./store.js").Session} session */
export function counts(session) {
  const { tasks_done: done, tasks_active: active, tasks_open: open } = session;
  return done + active + open > 0 ? `\u2713${done} \u25cf${active} \u25cb${open}` : "";
}

/**
 * A loop, with how often it goes round.
 * @param {import("./store.js").Session} session @param {boolean} may @param {(max: number) => void} set
 */
export function loopCard(session, may, set) {
  const loop = session.loop;
  const limit = loop.max ? ` of ${loop.max}` : "";
  const step = (/** @type {number} */ by) => () => set(Math.max(1, (loop.max ?? loop.iteration) + by));
  const parts = [
    `Iteration #${loop.iteration}${limit}`, counts(session), loop.failures ? `${loop.failures} failed in a row` : "",
    loop.cost === null || loop.cost === undefined ? "" : `$${loop.cost.toFixed(2)}${loop.max_cost ? ` of $${loop.max_cost.toFixed(2)}` : ""}`,
    loop.until ? `until ${loop.until}` : "",
  ];
  return h("section", { class: "card", "aria-label": `${session.name} is a loop` },
    h("header", null, h("h3", null, "Loop"), h("span", { class: "badge" }, loop.state)),
    loop.max ? h("progress", { max: loop.max, value: loop.iteration, "aria-label": `Iteration ${loop.iteration} of ${loop.max}` }) : null,
    h("p", null, parts.filter(Boolean).join(" \u00b7 ")),
    loop.note ? h("p", { class: "faint pre" }, loop.note) : null,
    h("div", { class: "buttons" },
      h("button", { id: "loop-less", "data-max": loop.max, class: "outline", disabled: !may || !loop.max || loop.max <= 1, "aria-label": "One iteration less", onclick: step(-1) }, "\u2212"),
      h("button", { id: "loop-more", "data-max": loop.max ?? loop.iteration, class: "outline", disabled: !may, "aria-label": "One iteration more", onclick: step(1) }, "+")));
}

/** Every attempt at a task, the latest first. @param {any[]} list */
export function runs(list) {
  if (!list.length) return [h("p", { class: "faint" }, "No runs.")];
  return [...list].reverse().map((run) => {
    const links = [
      run.restart_of_run_id ? `begun anew after ${run.restart_of_run_id}` : "",
      run.superseded_by_run_id ? `replaced by ${run.superseded_by_run_id}` : "",
    ].filter(Boolean);
    return h("article", { class: "entry" },
      h("header", { class: "faint" }, `${run.state} \u00b7 ${ago(run.updated_at)} \u00b7 ${run.run_id}`),
      run.session ? h("p", null, h("a", { href: `#/s/${run.session}` }, run.session_name ?? run.session), run.branch ? ` on ${run.branch}` : "") : null,
      run.asks ? h("p", { class: "pre" }, inSight(run.asks)) : null,
      run.doubt ? h("p", { class: "pre bad" }, run.doubt) : null,
      links.length ? h("p", { class: "faint" }, links.join(" \u00b7 ")) : null);
  });
}

/** What the rules have said of what it asked, the latest first. @param {any[]} list */
export function ruled(list) {
  if (!list.length) return [h("p", { class: "faint" }, "The rules have said nothing yet.")];
  return [...list].reverse().map(({ at, verdict, rule, why, about, text }) => h("article", { class: "entry" },
    h("header", { class: "faint" }, h("b", null, { accept: "allowed", reject: "denied", manual: "left to you" }[verdict]),
      ` ${rule ? `by the rule ${rule}` : `${why.replaceAll("_", " ")}${about ? `: ${about}` : ""}`} \u00b7 `, clock(at)),
    h("p", { class: "pre words" }, inSight(text))));
}
