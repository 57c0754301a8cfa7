// @ts-check
/** What a session has changed, file by file. Comments on lines go back to its agent as one
 * message, and are kept until then, whatever becomes of the page. */

import { h } from "./dom.js";
import { keep, kept } from "./kept.js";

/** A file of a diff that is longer is shown as far as this: the browser is not to hang. */
const DIFF_LINES_MAX = 5000;
const LINE_CHARS_MAX = 2000;
const PLACE = "glis.comments";

/** Comments that were typed and not sent, of one session. */
class Comments {
  /** @param {string} session */
  constructor(session) {
    this.session = session;
    /** @type {{file: string, line: string, text: string}[]} */
    this.all = kept(PLACE, {})[session] ?? [];
    /** Those whose line was found in what is shown. @type {Set<any>} */
    this.placed = new Set();
  }

  /** One that was typed on this line before, and has no place yet. @param {string} file @param {string} line */
  find(file, line) {
    const found = this.all.find((one) => !this.placed.has(one) && one.file === file && one.line === line);
    if (found) this.placed.add(found);
    return found;
  }

  /** @param {string} file @param {string} line */
  begin(file, line) {
    const begun = { file, line, text: "" };
    this.all.push(begun);
    this.placed.add(begun);
    return begun;
  }

  save() {
    const others = kept(PLACE, {});
    const said = this.all.filter((one) => one.text.trim());
    if (said.length) others[this.session] = said;
    else delete others[this.session];
    keep(PLACE, others);
  }

  /** All of them as one message; none if nothing was said. They are gone then. */
  take() {
    const said = this.all.filter((one) => one.text.trim());
    this.all = [];
    this.save();
    if (!said.length) return "";
    return `Comments on your changes:\n\n${said.map(({ file, line, text }) => `${file}\n> ${line}\n${text.trim()}`).join("\n\n")}`;
  }
}

/** @param {string} session @param {any} diff @param {(text: string) => void} send @param {() => void} again draws it anew */
export function changes(session, diff, send, again) {
  const comments = new Comments(session);
  const files = (diff.patch ?? "").split(/^(?=diff --git )/m).filter(Boolean);
  const drawn = files.map((/** @type {string} */ patch) => fileOf(patch, files.length < 6, comments));
  const submit = () => {
    const text = comments.take();
    if (!text) return;
    send(text);
    again();
  };
  const lost = comments.all.filter((one) => !comments.placed.has(one)).map((one) =>
    h("div", { class: "lost" }, h("p", { class: "faint pre" }, `On a line that is not there any more: ${one.file}\n> ${one.line}`), fieldFor(one, comments)));
  if (!diff.files.length && !lost.length) return [h("p", { class: "faint" }, "No changes.")];
  const sum = (/** @type {"added" | "removed"} */ what) => diff.files.reduce((/** @type {number} */ all, /** @type {any} */ file) => all + (file[what] ?? 0), 0);
  const told = `${diff.files.length === 1 ? "One file" : `${diff.files.length} files`} \u00b7 +${sum("added")} -${sum("removed")}`;
  return [h("p", { class: "faint" }, told), ...lost, ...drawn,
    h("button", { id: "send-comments", class: "outline", onclick: submit }, "Send comments as one message")];
}

/** A path as it is, where git has quoted it: its bytes beyond ASCII are written as numbers. @param {string} path */
function unquoted(path) {
  // Behind a name with a blank git puts a tab, in place of the quotation marks that it has not.
  if (!/^".*"$/.test(path)) return path.replace(/\t$/, "");
  const named = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13 };
  const bytes = [];
  for (const [all, code] of path.slice(1, -1).matchAll(/\\([0-7]{3}|.)|[^\\]/gu)) {
    if (!code) bytes.push(...new TextEncoder().encode(all));
    else bytes.push(code.length === 3 ? parseInt(code, 8) : named[code] ?? code.charCodeAt(0));
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** The name of a file of a patch; one that is deleted has no other name than its old one. @param {string[]} head */
function nameOf(head) {
  const after = (/** @type {string} */ sign) => head.find((line) => line.startsWith(sign) && !line.endsWith("/dev/null"))?.slice(sign.length);
  const sided = after("+++ ") ?? after("--- ");
  if (sided) return unquoted(sided).slice(2);
  const moved = after("rename to ") ?? after("copy to ");
  if (moved) return unquoted(moved);
  // What has no lines, such as an empty file or a picture, is named only here: twice, with a blank between.
  const both = head[0].slice("diff --git ".length);
  return unquoted(both.slice((both.length + 1) / 2)).slice(2);
}

/** One file of a patch. @param {string} patch @param {boolean} open @param {Comments} comments */
function fileOf(patch, open, comments) {
  const lines = patch.replace(/\n$/, "").split("\n");
  const first = lines.findIndex((line) => line.startsWith("@@"));
  // What git says before the first line that differs.
  const head = lines.slice(0, first < 0 ? lines.length : first);
  const name = nameOf(head);
  const shown = (first < 0 ? head.slice(1) : lines.slice(first)).slice(0, DIFF_LINES_MAX);
  const body = h("div", { class: "diff" }, ...shown.map((line) => diffLine(name, line, comments)));
  const cut = lines.length > DIFF_LINES_MAX ? h("p", { class: "faint" }, `${lines.length - DIFF_LINES_MAX} lines more`) : null;
  const counts = [["+", "added"], ["-", "removed"]].map(([sign, look]) =>
    h("span", { class: look }, `${sign}${first < 0 ? 0 : lines.slice(first).filter((line) => line.startsWith(sign)).length}`));
  return h("details", { class: "file", id: `file-${name}`, open }, h("summary", null, name, " ", ...counts), body, cut);
}

/** @param {{line: string, text: string}} one @param {Comments} comments */
function fieldFor(one, comments) {
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: "2", "aria-label": `Comment on ${one.line}`, value: one.text,
    oninput: () => { one.text = field.value; comments.save(); } }));
  return field;
}

/** @param {string} file @param {string} line @param {Comments} comments */
function diffLine(file, line, comments) {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "hunk" : "same";
  const text = line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}\u2026` : line;
  const row = h("div", { class: `is-${kind}` }, h("code", null, text || " "));
  if (kind === "hunk") return row;
  const before = comments.find(file, text);
  const comment = () => {
    const field = fieldFor(comments.begin(file, text), comments);
    button.replaceWith(field);
    field.focus();
  };
  const button = h("button", { class: "comment", "aria-label": `Comment on this line: ${text.slice(0, 60)}`, onclick: comment }, "+");
  row.append(before ? fieldFor(before, comments) : button);
  return row;
}
