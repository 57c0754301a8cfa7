// @ts-check
/** The words of a task: a form to add one, and a form to change one. */

import { form, h } from "./dom.js";

/** What a task has beside its id, and what is said of it. */
const WORDS = [
  ["title", "Title"], ["prompt", "What an agent is told"], ["needs", "Needs (ids, with commas)"],
  ["agent", "Agent (the usual one if empty)"],
];
/** What few tasks have. */
const MORE = [["parent", "Part of (an id)"], ["persona", "Persona"], ["accept", "Accepted by (a shell command)"]];

/** @param {string} value */
const ids = (value) => value.split(",").map((one) => one.trim()).filter(Boolean);

/** @param {string} name @param {string} label @param {string} value @param {boolean} required */
function field(name, label, value, required) {
  return h("label", null, label, name === "prompt"
    ? h("textarea", { name, rows: "3", required, value })
    : h("input", { name, autocomplete: "off", value }));
}

/** Adds a task. @param {(body: Record<string, any>) => Promise<any>} add */
export function adder(add) {
  return form({ class: "form", id: "plan-add" }, async (task, made) => {
    const needs = ids(task.needs ?? "");
    if (await add({ ...task, needs: needs.length ? needs : undefined })) made.reset();
  },
    h("h3", null, "Add a task"),
    h("label", null, "Id", h("input", { name: "id", required: true, autocomplete: "off" })),
    ...WORDS.map(([name, label]) => field(name, label, "", name === "prompt")),
    h("button", { type: "submit", class: "outline" }, "Add"));
}

/**
 * Changes a task. What was not changed here is not sent: somebody else may have, meanwhile.
 * @param {any} task as it was when the form was opened @param {(body: Record<string, any>) => Promise<any>} change
 * @param {() => void} remove @param {() => void} close
 */
export function editor(task, change, remove, close) {
  const before = (/** @type {string} */ name) => (name === "needs" ? (task.needs ?? []).join(", ") : task[name] ?? "");
  return form({ class: "form", id: `edit-${task.id}` }, async (_, made) => {
    const changed = [...new FormData(made)].map(([name, value]) => [name, String(value)]).filter(([name, value]) => value !== before(name));
    if (!changed.length) return close();
    const body = Object.fromEntries(changed.map(([name, value]) => [name, name === "needs" ? ids(value) : value]));
    if (await change({ id: task.id, ...body })) close();
  },
    ...[...WORDS, ...MORE].map(([name, label]) => field(name, label, before(name), false)),
    h("div", { class: "buttons" },
      h("button", { type: "submit", class: "filled" }, "Save"),
      h("button", { class: "outline", onclick: close }, "Close"),
      h("button", { class: "outline danger", onclick: remove }, "Take out of the plan")));
}
