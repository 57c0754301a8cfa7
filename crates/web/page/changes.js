// @ts-check
/** What a session has changed, file by file, to be walked through. Comments on lines go back to its agent as one
 * message, and are kept until then, whatever becomes of the page. */

import { h } from "./dom.js";
import { keep, kept } from "./kept.js";
import { kindOf, marked } from "./lines.js";

/** A file of a diff that is longer is shown as far as this: the browser is not to hang. */
const DIFF_LINES_MAX = 5000;
const LINE_CHARS_MAX = 2000;
/** Of fewer files all are open. */
const OPEN_MAX = 6;
const PLACE = "glis.comments";
/** What was looked at, by its session: files with what they were like then. */
const SEEN = "glis.seen.";

/** @typedef {{file: string, line: string, at?: number, text: string}} Comment */
/** @typedef {{kind: string, text: string, at: number | null, comment?: Comment}} Line */

/** Comments that were typed and not sent, of one session. */
class Comments {
  /** @param {string} session @param {(said: number) => void} changed */
  constructor(session, changed) {
    [this.session, this.changed] = [session, changed];
    /** @type {Comment[]} */
    this.all = kept(PLACE, {})[session] ?? [];
    /** Those whose line was found in what is shown. @type {Set<Comment>} */
    this.placed = new Set();
  }

  get said() {
    return this.all.filter((one) => one.text.trim());
  }

  /** One that was typed on this line before, and has no place yet. @param {string} file @param {Line} line @param {boolean} moved whether it may have had another number */
  find(file, { text, at }, moved) {
    const found = this.all.find((one) => !this.placed.has(one) && one.file === file && one.line === text && (moved || one.at === at));
    if (found) this.placed.add(found);
    return found;
  }

  /** @param {string} file @param {Line} line */
  begin(file, { text: line, at }) {
    const begun = { file, line, at: at ?? undefined, text: "" };
    this.all.push(begun);
    this.placed.add(begun);
    return begun;
  }

  save() {
    const { said } = this;
    const others = kept(PLACE, {});
    if (said.length) others[this.session] = said;
    else delete others[this.session];
    keep(PLACE, others);
    this.changed(said.length);
  }

  /** All of them as one message; none if nothing was said. They are gone then. */
  take() {
    const { said } = this;
    this.all = [];
    this.save();
    if (!said.length) return "";
    return `Comments on your changes:\n\n${said.map(({ file, line, at, text }) => `${file}${at ? `:${at}` : ""}\n> ${line}\n${text.trim()}`).join("\n\n")}`;
  }
}

/** @typedef {{send: (text: string) => void, again: () => void, merge?: HTMLElement | false}} Ways what can be done with it */

/** The files of a diff. @param {any} diff */
const filesOf = (diff) => (diff.patch ?? "").split(/^(?=diff --git )/m).filter(Boolean).map(read);

/** A diff that is only looked at. @param {any} diff @returns {HTMLElement[]} */
export function glance(diff) {
  const files = filesOf(diff);
  return files.length ? files.map((/** @type {File} */ file) => fileOf(file, files.length < OPEN_MAX, null)) : [h("p", { class: "faint" }, "Nothing has changed since.")];
}

/** @param {string} session @param {any} diff @param {Ways} ways */
export function changes(session, diff, { send, again, merge }) {
  const counted = (/** @type {number} */ said) => {
    submit.textContent = said ? `Request changes (${said})` : "Request changes";
    submit.className = said ? "filled" : "outline";
  };
  const comments = new Comments(session, counted);
  const submit = h("button", { id: "send-comments", class: "outline", onclick: () => {
    const text = comments.take();
    if (!text) return;
    send(text);
    again();
  } });
  counted(comments.said.length);
  const files = filesOf(diff);
  for (const moved of [false, true]) {
    for (const { name, lines } of files) for (const line of lines) line.comment ??= line.at === null ? undefined : comments.find(name, line, moved);
  }
  const lost = comments.all.filter((one) => !comments.placed.has(one)).map((one) =>
    h("div", { class: "lost" }, h("p", { class: "faint pre" }, `On a line that is not there any more: ${one.file}\n> ${one.line}`), fieldFor(one, comments)));
  if (!diff.files.length && !lost.length) return [h("p", { class: "faint" }, "No changes.")];
  const sum = (/** @type {"added" | "removed"} */ what) => diff.files.reduce((/** @type {number} */ all, /** @type {any} */ file) => all + (file[what] ?? 0), 0);
  const told = `${diff.files.length === 1 ? "One file" : `${diff.files.length} files`} \u00b7 +${sum("added")} \u2212${sum("removed")}`;
  const seen = kept(SEEN + session, {});
  const drawn = files.map((file) => fileOf(file, files.length < OPEN_MAX && seen[file.name] !== file.hash, comments));
  const all = files.map((file, at) => listed(file, drawn[at], seen[file.name] === file.hash, (is) => {
    seen[file.name] = is ? file.hash : undefined;
    keep(SEEN + session, seen);
  }));
  return [h("div", { class: "buttons ahead" }, h("span", { class: "faint grow" }, told), submit, merge), ...lost,
    h("div", { class: "walk" }, files.length > 1 ? h("ul", { class: "files", "aria-label": "Files" }, ...all) : "", h("div", null, ...drawn))];
}

/** Where one can go to with the keys: to a file, and from hunk to hunk. */
const STOPS = { file: ".file > summary", hunk: ".file[open] .is-hunk, .file:not([open]) > summary" };

/** Goes on from where the focus is. @param {Element} pane @param {keyof typeof STOPS} what @param {1 | -1} by */
export function walk(pane, what, by) {
  const stops = /** @type {HTMLElement[]} */ ([...pane.querySelectorAll(STOPS[what])]);
  const from = pane.contains(document.activeElement) ? document.activeElement : null;
  const side = by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING;
  const beyond = stops.filter((one) => !from || from.compareDocumentPosition(one) & side);
  const next = beyond.at(by > 0 ? 0 : -1);
  if (!next) return;
  const file = next.closest("details");
  if (file) file.open = true;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "start" });
}

/** Says of the file that has the focus, or the first that was not, that it was looked at. @param {Element} pane */
export function tick(pane) {
  const files = [...pane.querySelectorAll("details.file")];
  const ticks = /** @type {HTMLInputElement[]} */ ([...pane.querySelectorAll(".files input")]);
  const at = files.findIndex((file) => file.contains(document.activeElement));
  (ticks[at] ?? ticks.find((one) => !one.checked))?.click();
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

/** What git says of a file before its first line, by how that begins. @param {string[]} head */
const saidIn = (head) => (/** @type {string} */ sign) => head.find((line) => line.startsWith(sign) && !line.endsWith("/dev/null"))?.slice(sign.length);

/** The name of a file of a patch; one that is deleted has no other name than its old one. @param {string[]} head */
function nameOf(head) {
  const after = saidIn(head);
  const sided = after("+++ ") ?? after("--- ");
  if (sided) return unquoted(sided).slice(2);
  const moved = after("rename to ") ?? after("copy to ");
  if (moved) return unquoted(moved);
  // What has no lines, such as an empty file or a picture, is named only here: twice, with a blank between.
  const both = head[0].slice("diff --git ".length);
  return unquoted(both.slice((both.length + 1) / 2)).slice(2);
}

/** What became of a file, where that is more than other lines. @param {string[]} head */
function fateOf(head) {
  const after = saidIn(head);
  const from = after("rename from ") ?? after("copy from ");
  const mode = [after("old mode "), after("new mode ")];
  return [
    from && `from ${unquoted(from)}`, after("new file") && "new", after("deleted file") && "deleted",
    mode[0] && `mode ${mode.join(" \u2192 ")}`, head.some((line) => line.startsWith("GIT binary") || line.startsWith("Binary")) && "binary",
  ].filter(Boolean).join(", ");
}

/** One file of a patch, with the number of every line: that of what is taken away counts in what was there before.
 * @param {string} patch */
function read(patch) {
  const all = patch.replace(/\n$/, "").split("\n");
  const first = all.findIndex((line) => line.startsWith("@@"));
  const head = all.slice(0, first < 0 ? all.length : first);
  const body = first < 0 ? [] : all.slice(first);
  const at = { old: 0, now: 0 };
  /** @type {Line[]} */
  const lines = [];
  for (const line of body.slice(0, DIFF_LINES_MAX)) {
    const kind = kindOf(line);
    if (kind === "hunk") [, at.old, at.now] = (/-(\d+).* \+(\d+)/.exec(line) ?? []).map(Number);
    const number = kind === "removed" ? at.old : at.now;
    // That a file has no line's end at its end is no line of it.
    const counts = kind !== "hunk" && !line.startsWith("\\");
    if (counts && kind !== "added") at.old += 1;
    if (counts && kind !== "removed") at.now += 1;
    lines.push({ kind, text: line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}\u2026` : line, at: counts ? number : null });
  }
  const count = (/** @type {string} */ sign) => body.filter((line) => line.startsWith(sign)).length;
  let hash = 0;
  for (let n = 0; n < patch.length; n += 1) hash = (hash * 31 + patch.charCodeAt(n)) | 0;
  return { name: nameOf(head), fate: fateOf(head), lines, more: body.length - lines.length, added: count("+"), removed: count("-"), hash };
}

/** @typedef {ReturnType<typeof read>} File */

/** How much came and went. @param {File} file */
const counts = ({ added, removed }) => [h("span", { class: "added" }, `+${added}`), h("span", { class: "removed" }, `\u2212${removed}`)];

/** A file in the list. @param {File} file @param {HTMLElement} drawn @param {boolean} was @param {(is: boolean) => void} note */
function listed(file, drawn, was, note) {
  const tick = /** @type {HTMLInputElement} */ (h("input", { type: "checkbox", checked: was, "aria-label": `Looked at ${file.name}`, onchange: () => {
    note(tick.checked);
    /** @type {HTMLDetailsElement} */ (drawn).open = !tick.checked;
  } }));
  return h("li", null, tick, h("a", { href: "#", class: "path", title: file.name, onclick: (/** @type {Event} */ event) => {
    // Addresses with a # are places of this page.
    event.preventDefault();
    /** @type {HTMLDetailsElement} */ (drawn).open = true;
    drawn.querySelector("summary")?.focus();
    drawn.scrollIntoView();
  } }, file.name), ...counts(file), h("progress", { "aria-hidden": "true", max: file.added + file.removed || 1, value: file.added }));
}

/** @param {File} file @param {boolean} open @param {Comments?} comments none where it is only looked at */
function fileOf(file, open, comments) {
  const { name, fate, lines, more } = file;
  const body = h("div", { class: "diff numbered" });
  // Files that nobody opens are not drawn.
  const draw = () => {
    if (body.firstChild) return;
    body.append(...marked(lines.map((line) => line.text)).map((parts, at) => row(name, lines[at], parts, comments)));
    if (more) body.append(h("p", { class: "faint" }, `${more} lines more`));
  };
  const made = h("details", { class: "file", id: `file-${name}`, open: open || lines.some((line) => line.comment), ontoggle: draw },
    h("summary", null, name, " ", fate && h("span", { class: "faint" }, fate), ...counts(file)), body);
  if (made.hasAttribute("open")) draw();
  return made;
}

/** @param {Comment} one @param {Comments} comments */
function fieldFor(one, comments) {
  const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: "2", "aria-label": `Comment on ${one.line}`, value: one.text,
    oninput: () => { one.text = field.value; comments.save(); } }));
  return field;
}

/** @param {string} file @param {Line} line @param {(Node | string)[]} parts @param {Comments?} comments */
function row(file, line, parts, comments) {
  const { kind, text, at } = line;
  const made = h("div", { class: `is-${kind}`, "data-at": at, tabindex: kind === "hunk" ? "-1" : null }, h("code", null, ...parts));
  if (at === null || !comments) return made;
  const comment = () => {
    const field = fieldFor(comments.begin(file, line), comments);
    button.replaceWith(field);
    field.focus();
  };
  const button = h("button", { class: "comment", "aria-label": `Comment on line ${at}: ${text.slice(0, 60)}`, onclick: comment }, "+");
  made.append(line.comment ? fieldFor(line.comment, comments) : button);
  return made;
}
