// @ts-check
/** A window to go anywhere by a few letters: sessions, places, and what can be done where one is; and one with all keys. */

import { fill, h } from "./dom.js";
import { USUAL, bindings, written } from "./keys.js";
import { PLACES } from "./list.js";

/** More than these nobody reads: who wants another one writes a letter more. */
const SHOWN = 12;

/** A window above everything; Escape closes it. @param {string} label @param {...Node} children */
function open(label, ...children) {
  const made = /** @type {HTMLDialogElement} */ (h("dialog", { "aria-label": label, onclose: () => made.remove() }, ...children));
  // A press beside it closes it.
  made.addEventListener("click", (event) => { if (event.target === made) made.close(); });
  document.body.append(made);
  made.showModal();
  return made;
}

/** What can be pressed where one is. @returns {[string, string, () => void][]} */
const acts = () => /** @type {HTMLElement[]} */ ([...document.querySelectorAll("#main .head button[id^=do-]:not(:disabled), #main [role=tab], #gate button:not(:disabled)")])
  .filter((one) => !one.closest("form") && one.textContent).map((one) => [one.getAttribute("aria-label") ?? one.textContent ?? "", "do", () => one.click()]);

/** @param {import("./store.js").Store} store */
export function goTo(store) {
  const to = (/** @type {string} */ hash) => () => { location.hash = hash; };
  /** @type {[string, string, () => void][]} */
  const all = [
    ...store.ordered().map((session) => /** @type {any} */ ([session.name, session.status, to(`#/s/${session.id}`)])),
    ["Inbox", "place", to("#/")], ["New session", "place", to("#/new")],
    ...PLACES.map(([name, text]) => /** @type {any} */ ([text, "place", to(`#/${name}`)])), ...acts(),
  ];
  let [at, found] = [0, all];
  const field = /** @type {HTMLInputElement} */ (h("input", { role: "combobox", "aria-expanded": "true", "aria-controls": "places-found",
    "aria-label": "Go to", placeholder: "Go to, or do", autocomplete: "off" }));
  const list = h("ul", { role: "listbox", id: "places-found", "aria-label": "Where to" });
  const choose = (/** @type {number} */ which) => { made.close(); found[which]?.[2](); };
  const draw = () => {
    fill(list, ...found.slice(0, SHOWN).map(([text, what], which) => h("li", { role: "option", id: `place-${which}`, "aria-selected": String(which === at),
      onclick: () => choose(which) }, text, " ", h("span", { class: "faint" }, what))));
    field.setAttribute("aria-activedescendant", found.length ? `place-${at}` : "");
  };
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/);
    at = 0;
    const fits = (/** @type {string} */ text) => words.every((word) => text.toLowerCase().includes(word));
    const begins = (/** @type {string} */ text) => Number(text.toLowerCase().startsWith(words[0]));
    found = all.filter(([text]) => fits(text)).sort(([a], [b]) => begins(b) - begins(a));
    draw();
  });
  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const shown = Math.min(found.length, SHOWN);
    if (step && shown) [at] = [(at + step + shown) % shown];
    else if (event.key !== "Enter") return;
    event.preventDefault();
    if (step) draw();
    else choose(at);
  });
  const made = open("Go to", field, list);
  draw();
}

/** All keys, and where they are changed. */
export function showKeys() {
  const keys = bindings();
  const rows = Object.entries(USUAL).map(([name, { about }]) => h("tr", null, h("td", null, about), h("td", null, h("kbd", null, written(keys[name])))));
  const made = open("Keys", h("h2", null, "Keys"), h("table", null, h("tbody", null, ...rows)),
    h("p", { class: "faint" }, "A key alone does nothing while you type. ", h("a", { href: "#/settings", onclick: () => made.close() }, "Change them")),
    h("button", { class: "outline", onclick: () => made.close() }, "Close"));
}
