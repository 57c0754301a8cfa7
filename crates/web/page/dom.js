// @ts-check
/** Elements, made one by one. Text goes in as text and as nothing else. */

import { Refused } from "./api.js";

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [props] attributes; `on…` are listeners, `class` the class
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return element;
}

const PATHS = {
  pause: "M5 3h3v10H5zM10 3h3v10h-3z",
  play: "M5 3l9 5-9 5z",
  back: "M10 3L5 8l5 5",
};

/** @param {keyof typeof PATHS} name */
export function icon(name) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 18 16");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  svg.append(path);
  return svg;
}

/** Replaces what an element holds, and keeps the focus if what had it is there again by its id.
 * @param {Element} element @param {...(Node | string)} children */
export function fill(element, ...children) {
  const id = element.contains(document.activeElement) ? document.activeElement?.id : "";
  element.replaceChildren(...children);
  if (id) document.getElementById(id)?.focus();
}

/** How long ago a time was, in its largest unit. @param {string | null} time */
export function ago(time) {
  if (!time) return "";
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(time)) / 1000));
  if (seconds < 60) return `${seconds}s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)}h ago`;
  return `${Math.floor(seconds / 86400)}d ago`;
}

/** Says something that went wrong or was done, for a while.
 * @param {string} text @param {{hint?: string | null, action?: {label: string, run: () => void}}} [more] */
export function toast(text, more = {}) {
  const close = () => line.remove();
  const line = h(
    "div",
    { class: "toast" },
    h("p", null, text),
    more.hint ? h("p", { class: "faint" }, more.hint) : null,
    more.action &&
      h("button", { type: "button", class: "small", onclick: () => { close(); more.action?.run(); } }, more.action.label),
    h("button", { type: "button", class: "small", "aria-label": "Dismiss", onclick: close }, "\u00d7"),
  );
  document.getElementById("toasts")?.append(line);
  setTimeout(close, more.action ? 30000 : 8000);
}

/** Says what could not be done, and what to do about it.
 * @param {string} lead @param {unknown} fault @param {{label: string, run: () => void}} [action] */
export function complain(lead, fault, action) {
  const { message } = /** @type {Error} */ (fault);
  toast(`${lead}: ${message}`, { hint: fault instanceof Refused ? fault.hint : null, action });
}
