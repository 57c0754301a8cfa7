// @ts-check
/** The button that has a session go on, wherever one stands that rests. */

import { pathOf, post } from "./api.js";
import { complain, h, icon } from "./dom.js";
import { isResting } from "./state.js";

/** Sessions that are being resumed: a second press does it no second time. @type {Set<string>} */
const resuming = new Set();

/** Whether it goes on by itself alone: what was stopped with all others goes on with them.
 * @param {import("./store.js").Store} store @param {import("./store.js").Session} session */
export const canResume = (store, session) => isResting(session) && session.can_resume && !isStopped(store, session);

/** Whether it was stopped with all others: then it goes on with them alone.
 * @param {import("./store.js").Store} store @param {import("./store.js").Session} session */
export function isStopped(store, session) {
  const { gate, gate_stopped: stopped = [] } = store.status;
  return gate !== "running" && stopped.includes(session.name);
}

/** Has everything go on that was stopped with all others, once a person has heard how many that are.
 * @param {import("./store.js").Store} store */
export async function resumeAll({ status: { gate, gate_stopped: all = [] } }) {
  if (gate === "paused" && !confirm(`Resume all ${all.length} that were stopped?`)) return;
  await post("/resume").catch((fault) => complain("resume", fault));
}

/** @param {import("./store.js").Store} store @param {import("./store.js").Session} session @param {string} where it stands @param {string} look */
export function resume(store, { id, name }, where, look) {
  const act = async () => {
    if (resuming.has(id)) return;
    resuming.add(id);
    store.tell({});
    await post(pathOf`/sessions/${id}/resume`).catch((fault) => complain("resume", fault));
    resuming.delete(id);
    store.tell({});
  };
  return h("button", { id: `${where}-${id}-resume`, class: look, "aria-label": `Resume ${name}`, disabled: !store.may("manage") || resuming.has(id), onclick: act }, icon("play"), "Resume");
}
