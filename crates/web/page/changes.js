// @ts-check
/** What a session has changed, file by file. Comments on lines go back to its agent as one message. */

import { h } from "./dom.js";

/** A file of a diff that is longer is shown as far as this: the browser is not to hang. */
const DIFF_LINES_MAX = 5000;
const LINE_CHARS_MAX = 2000;

/** @param {any} diff @param {(text: string) => void} send */
export function changes(diff, send) {
  if (!diff.files.length) return [h("p", { class: "faint" }, "No changes.")];
  /** @type {{file: string, line: string, field: HTMLTextAreaElement}[]} */
  const comments = [];
  const files = (diff.patch ?? "").split(/^(?=diff --git )/m).filter(Boolean);
  const drawn = files.map((/** @type {string} */ patch) => {
    const lines = patch.replace(/\n$/, "").split("\n");
    const first = lines.findIndex((line) => line.startsWith("@@"));
    // What git says before the first line that differs; a file that is deleted has no other name than its old one.
    const head = lines.slice(0, first < 0 ? lines.length : first);
    const named = (/** @type {string} */ sign) => head.find((line) => line.startsWith(sign) && !line.endsWith("/dev/null"))?.slice(6);
    const name = named("+++ ") ?? named("--- ") ?? lines[0];
    const shown = (first < 0 ? head.slice(1) : lines.slice(first)).slice(0, DIFF_LINES_MAX);
    const body = h("div", { class: "diff" }, ...shown.map((line) => diffLine(name, line, comments)));
    const cut = lines.length > DIFF_LINES_MAX ? h("p", { class: "faint" }, `${lines.length - DIFF_LINES_MAX} lines more`) : null;
    const counts = [["+", "added"], ["-", "removed"]].map(([sign, look]) =>
      h("span", { class: look }, `${sign}${first < 0 ? 0 : lines.slice(first).filter((line) => line.startsWith(sign)).length}`));
    return h("details", { class: "file", open: files.length < 6 }, h("summary", null, name, " ", ...counts), body, cut);
  });
  const submit = () => {
    const said = comments.filter(({ field }) => field.value.trim());
    if (!said.length) return;
    const text = said.map(({ file, line, field }) => `${file}\n> ${line}\n${field.value.trim()}`).join("\n\n");
    send(`Comments on your changes:\n\n${text}`);
    for (const { field } of said) field.value = "";
  };
  const sum = (/** @type {"added" | "removed"} */ what) => diff.files.reduce((/** @type {number} */ all, /** @type {any} */ file) => all + (file[what] ?? 0), 0);
  const told = `${diff.files.length === 1 ? "One file" : `${diff.files.length} files`} \u00b7 +${sum("added")} -${sum("removed")}`;
  return [h("p", { class: "faint" }, told), ...drawn,
    h("button", { type: "button", id: "send-comments", class: "outline", onclick: submit }, "Send comments as one message")];
}

/** @param {string} file @param {string} line @param {{file: string, line: string, field: HTMLTextAreaElement}[]} comments */
function diffLine(file, line, comments) {
  const kind = line.startsWith("+") ? "added" : line.startsWith("-") ? "removed" : line.startsWith("@@") ? "hunk" : "same";
  const text = line.length > LINE_CHARS_MAX ? `${line.slice(0, LINE_CHARS_MAX)}\u2026` : line;
  const row = h("div", { class: `is-${kind}` }, h("code", null, text || " "));
  if (kind === "hunk") return row;
  const comment = () => {
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", { rows: "2", "aria-label": `Comment on ${text}` }));
    comments.push({ file, line: text, field });
    button.replaceWith(field);
    field.focus();
  };
  const button = h("button", { type: "button", class: "comment", "aria-label": `Comment on this line: ${text.slice(0, 60)}`, onclick: comment }, "+");
  row.append(button);
  return row;
}
