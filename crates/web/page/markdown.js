// @ts-check
/** What agents write, as elements: paragraphs, headings, lists, quotes, code. Nothing of it becomes markup, and what is
 * not known here stays as it was typed. */

import { copies, h } from "./dom.js";

/** Code, bold, and what leans. Signs that have no end are looked for no further than this: there may be thousands. */
const INLINE = /(\x60+)(?!\x60)(.{1,999}?)\1(?!\x60)|(\*\*|__)(?=\S)(.{1,999}?)\3|(?<![\w*])\*(?=[^\s*])(.{1,999}?)\*(?![\w*])/gs;
const FENCE = /^\s*(\x60{3,}|~{3,})/;
const HEADING = /^#{1,6}\s+(.*)/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)/;
/** Rows of a table keep their columns. */
const ROW = /^\s*\|/;
const QUOTE = /^\s*(?:>\s?)+/;

/** @param {string} text @returns {(Node | string)[]} */
function inline(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, , code, , bold, leaning] = found;
    parts.push(text.slice(from, found.index), code ? h("code", null, code) : bold ? h("b", null, ...inline(bold)) : h("i", null, ...inline(leaning)));
    from = found.index + all.length;
  }
  return [...parts, text.slice(from)];
}

/** Code, with a way to take it along. @param {string} text */
export const code = (text) => h("div", { class: "code" }, h("pre", { tabindex: "0" }, text), copies(text));

/** A list, and the line behind it; what stands further in is a list of its own.
 * @param {string[]} lines @param {number} at @returns {[HTMLElement, number]} */
function list(lines, at) {
  const [, { length: depth }, sign] = /** @type {any} */ (ITEM.exec(lines[at]));
  const counts = (/** @type {string} */ one) => /\d/.test(one);
  const made = counts(sign) ? h("ol", { start: parseInt(sign, 10) }) : h("ul", null);
  while (at < lines.length) {
    const item = ITEM.exec(lines[at]);
    if (item && item[1].length > depth) {
      const [inner, next] = list(lines, at);
      made.lastElementChild?.append(inner);
      at = next;
      continue;
    }
    // What is indented and no item goes on with the one above.
    if (item ? item[1].length < depth || counts(item[2]) !== counts(sign) : !/^\s+\S/.test(lines[at])) break;
    if (item) made.append(h("li", null, ...inline(item[3])));
    else made.lastElementChild?.append(" ", ...inline(lines[at].trim()));
    at += 1;
  }
  return [made, at];
}

/** @param {string} text @returns {HTMLElement[]} */
export function markdown(text) {
  const lines = text.split("\n");
  /** @type {HTMLElement[]} */
  const blocks = [];
  const until = (/** @type {number} */ from, /** @type {(line: string) => boolean} */ ends) => {
    while (from < lines.length && !ends(lines[from])) from += 1;
    return from;
  };
  const isPlain = (/** @type {string} */ line) => line.trim() !== "" && ![FENCE, HEADING, ITEM, ROW, QUOTE].some((one) => one.test(line));
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const [, fence] = FENCE.exec(line) ?? [];
    const heading = HEADING.exec(line);
    let next = at + 1;
    if (fence) {
      const end = until(next, (one) => one.trim().startsWith(fence));
      blocks.push(code(lines.slice(next, end).join("\n")));
      next = end + 1;
    } else if (heading) blocks.push(h("p", null, h("b", { class: "heading" }, ...inline(heading[1]))));
    else if (ITEM.test(line)) {
      const [made, end] = list(lines, at);
      blocks.push(made);
      next = end;
    } else if (ROW.test(line)) {
      next = until(at, (one) => !ROW.test(one));
      blocks.push(h("pre", { tabindex: "0" }, lines.slice(at, next).join("\n")));
    } else if (QUOTE.test(line)) {
      next = until(at, (one) => !QUOTE.test(one));
      blocks.push(h("blockquote", null, ...markdown(lines.slice(at, next).map((one) => one.replace(QUOTE, "")).join("\n"))));
    } else if (line.trim()) {
      next = until(at, (one) => !isPlain(one));
      blocks.push(h("p", { class: "pre" }, ...inline(lines.slice(at, next).join("\n"))));
    }
    at = next;
  }
  return blocks;
}
