// @ts-check
/** Lines of a patch: what each is, and which words of it are others than in the line that it stands in for. */

import { h } from "./dom.js";

/** @param {string} line */
export const kindOf = (line) => (line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "hunk" : "same");

/** For each line that goes the one that comes for it, and the other way round: the first for the first, where they stand
 * together. @param {string[]} lines */
function partners(lines) {
  /** @type {Map<number, number>} */
  const found = new Map();
  for (let at = 0; at < lines.length; at += 1) {
    const from = at;
    while (lines[at]?.startsWith("-")) at += 1;
    for (let n = 0; from + n < at && lines[at + n]?.startsWith("+"); n += 1) found.set(from + n, at + n).set(at + n, from + n);
  }
  return found;
}

/** A line with what is not in the other one marked; all of it is another where little is the same.
 * @param {string} line @param {string} other @returns {(Node | string)[]} */
function differing(line, other) {
  const [own, its] = [line, other].map((one) => one.slice(1).match(/\w+|\W/g) ?? []);
  let [before, after] = [0, 0];
  while (before < own.length && own[before] === its[before]) before += 1;
  const room = Math.min(own.length, its.length) - before;
  while (after < room && own.at(-1 - after) === its.at(-1 - after)) after += 1;
  const part = (/** @type {number} */ from, /** @type {number} */ to) => own.slice(from, to).join("");
  const [start, middle, end] = [part(0, before), part(before, own.length - after), part(own.length - after, own.length)];
  const same = start + end;
  if (!middle || same.trim().length * 3 < Math.max(line.length, other.length) - same.length - 1) return [line];
  return [line[0] + start, h("mark", null, middle), end];
}

/** The lines in parts, to be drawn. @param {string[]} lines @returns {(Node | string)[][]} */
export function marked(lines) {
  const found = partners(lines);
  return lines.map((line, at) => {
    const other = found.get(at);
    return other === undefined ? [line || " "] : differing(line, lines[other]);
  });
}
