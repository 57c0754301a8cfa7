// @ts-check
/** Elements, made one by one. Text goes in as text and as nothing else. */

import { Refused } from "./api.js";

/** Elements that listen: what they do when they are pressed is not to be seen in them. @type {WeakSet<Element>} */
const alive = new WeakSet();

/** @param {string} letter as Rust and the command line write it out */
const written = (letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`;

/** What no screen shows, or shows as a blank. Behind a symbol U+FE0F is seen: half of all emoji have their colours by it. */
const UNSEEN = /(?<![\u2190-\u2bff\u{1f000}-\u{10ffff}])\ufe0f|(?!\ufe0f)[\p{Cc}\p{Cf}\p{Z}\p{DI}\u2800\ufff0-\ufffc]/gu;

/** A text with everything in it that is not seen written out: for what a person is asked to allow. @param {string} text */
export const inSight = (text) => String(text ?? "").replace(UNSEEN, (letter) => ("\n\t ".includes(letter) ? letter : written(letter)));

/** A text whose letters do not turn those around them, nor are commands for anybody; that is so for all that is shown.
 * @param {string} text */
const straight = (text) => text.replace(/[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, written);

/**
 * @param {string} tag
 * @param {Record<string, any> | null} [props] attributes; `on…` are listeners, `class` the class
 * @param {...(Node | string | number | null | undefined | false)} children
 * @returns {HTMLElement}
 */
export function h(tag, props, ...children) {
  const element = document.createElement(tag);
  // One that sends a form says so.
  if (tag === "button") element.setAttribute("type", "button");
  if (Object.keys(props ?? {}).some((name) => name.startsWith("on"))) alive.add(element);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") /** @type {any} */ (element).value = value;
    else element.setAttribute(name, value === true ? "" : name === "aria-label" ? straight(String(value)) : String(value));
  }
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    element.append(child instanceof Node ? child : document.createTextNode(straight(String(child))));
  }
  return element;
}

/** What is filled in. @param {HTMLFormElement} form @returns {Record<string, any>} */
export const given = (form) => Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));

/** A form, and what is done with what is filled in.
 * @param {Record<string, any>} props @param {(given: Record<string, any>, form: HTMLFormElement) => any} act @param {...any} children */
export function form(props, act, ...children) {
  const made = /** @type {HTMLFormElement} */ (h("form", { ...props, onsubmit: (/** @type {Event} */ event) => {
    event.preventDefault();
    act(given(made), made);
  } }, ...children));
  return made;
}

/** The head of a view, with the way back that a narrow window needs. @param {string} text */
export const headline = (text) => h("div", { class: "head" }, wayBack(), h("h2", { class: "title" }, text));

export const wayBack = () => h("a", { href: "#/", class: "back", "aria-label": "All sessions" }, icon("back"));

/** Says why something cannot be pressed here. @param {import("./store.js").Store} store @param {"send" | "answer" | "manage"} scope */
export const whyNot = (store, scope) => !store.may(scope) && h("p", { class: "faint" },
  `This device may only ${store.device.scope}. To do more here, pair it again on the machine: `, h("code", null, `glis web pair --name NAME --scope ${scope}`));

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

/** A button that takes a text along. @param {string} text @param {string} [what] it is */
export const copies = (text, what = "this") => h("button", { class: "small copy", "aria-label": `Copy ${what}`, "data-text": text,
  onclick: async ({ currentTarget: button }) => {
    const told = await navigator.clipboard.writeText(button.dataset.text).then(() => "Copied", () => "Not copied");
    button.textContent = told;
  } }, "Copy");

/** Replaces what an element holds, and keeps the focus if what had it is there again by its id.
 * @param {Element} element @param {...(Node | string)} children */
export function fill(element, ...children) {
  const id = element.contains(document.activeElement) ? document.activeElement?.id : "";
  element.replaceChildren(...children);
  if (id) document.getElementById(id)?.focus();
}

/**
 * Draws anew what an element holds, and leaves alone what would look the same: whoever is pressing a button,
 * marking text or typing there is not disturbed. An element that listens is taken or left as a whole, so what
 * it does has to follow from its markup, and nobody may hold on to what is handed in here.
 * @param {Element} element @param {...(Node | string | null | false)} children
 */
export function redraw(element, ...children) {
  const focused = element.contains(document.activeElement) ? document.activeElement?.id : "";
  merge(element, h("div", null, ...children));
  if (focused && document.activeElement?.id !== focused) document.getElementById(focused)?.focus();
}

/** @param {Element} old @param {Element} fresh */
function merge(old, fresh) {
  const left = [...old.childNodes];
  const take = (/** @type {(one: ChildNode) => boolean} */ fits) => {
    const at = left.findIndex(fits);
    return at < 0 ? null : left.splice(at, 1)[0];
  };
  const wanted = [...fresh.childNodes];
  /** @type {(ChildNode | null)[]} */
  const found = wanted.map((one) => take((known) => known.isEqualNode(one)));
  wanted.forEach((one, at) => {
    if (!found[at]) found[at] = take((known) => isSame(known, one));
  });
  for (const one of left) one.remove();
  wanted.forEach((one, at) => {
    const known = found[at];
    const here = old.childNodes[at] ?? null;
    if (!known) return old.insertBefore(one, here);
    if (known !== here) old.insertBefore(known, here);
    if (!known.isEqualNode(one)) become(/** @type {Element} */ (known), /** @type {Element} */ (one));
  });
}

/** Whether one element can be made into the other. @param {Node} known @param {Node} fresh */
function isSame(known, fresh) {
  if (!(known instanceof HTMLElement) || !(fresh instanceof HTMLElement)) return false;
  return known.tagName === fresh.tagName && known.id === fresh.id && !alive.has(known) && !alive.has(fresh);
}

/** @param {Element} known @param {Element} fresh */
function become(known, fresh) {
  for (const name of known.getAttributeNames()) {
    if (!fresh.hasAttribute(name)) known.removeAttribute(name);
  }
  for (const name of fresh.getAttributeNames()) known.setAttribute(name, fresh.getAttribute(name) ?? "");
  merge(known, fresh);
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

/** A time of day, with its day where that is another one; what is no time is told as it is. @param {string} time */
export function clock(time) {
  const then = new Date(time);
  if (Number.isNaN(then.getTime())) return time;
  const today = then.toDateString() === new Date().toDateString();
  return then.toLocaleString([], { ...(today ? {} : { dateStyle: "medium" }), timeStyle: "short" });
}

/** Says something that went wrong or was done, for a while.
 * @param {string} text @param {{hint?: string | null, look?: string, action?: {label: string, run: () => void}}} [more] */
export function toast(text, more = {}) {
  const close = () => line.remove();
  const line = h(
    "div",
    { class: `toast ${more.look ?? ""}` },
    h("p", null, text),
    more.hint ? h("p", { class: "faint" }, more.hint) : null,
    more.action &&
      h("button", { class: "small", onclick: () => { close(); more.action?.run(); } }, more.action.label),
    h("button", { class: "small", "aria-label": "Dismiss", onclick: close }, "\u00d7"),
  );
  document.getElementById("toasts")?.append(line);
  setTimeout(close, more.action ? 30000 : 8000);
}

/** Says what could not be done, and what to do about it.
 * @param {string} lead what it is @param {unknown} fault @param {{label: string, run: () => void}} [action] @param {string} [advice] in place of the server's */
export function complain(lead, fault, action, advice) {
  const { message } = /** @type {Error} */ (fault);
  toast(`Failed to ${lead}: ${message}`, { hint: advice ?? (fault instanceof Refused ? fault.hint : null), look: "bad", action });
}
