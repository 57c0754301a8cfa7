// @ts-check
/** One session: what can be done with it, its terminal, its conversation, its changes. */

import { Refused, get, post } from "./api.js";
import { askCard } from "./asks.js";
import { ago, fill, h, icon, toast } from "./dom.js";
import { pausedCard } from "./list.js";
import { Terminal } from "./terminal.js";

const TABS = ["terminal", "conversation", "changes", "snapshots"];
/** A file of a diff that is longer is shown as far as this: the browser is not to hang. */
const DIFF_LINES_MAX = 5000;
const LINE_CHARS_MAX = 2000;

/** What came of a message, in a word. */
const STATES = {
  sending: "sending", stored: "stored", delivered: "delivered", unknown: "unknown: ask the session before you repeat it",
  refused: "not stored",
};

export class SessionView {
  /** @param {HTMLElement} place @param {import("./store.js").Store} store @param {import("./outbox.js").Outbox} outbox @param {string} id */
  constructor(place, store, outbox, id) {
    [this.place, this.store, this.outbox, this.id] = [place, store, outbox, id];
    this.tab = "terminal";
    /** @type {Set<string>} verbs that are under way */
    this.doing = new Set();
    this.head = h("div", { class: "head" });
    this.cards = h("div");
    this.letters = h("div", { class: "letters", "aria-live": "polite" });
    this.pane = h("div", { class: "pane", role: "tabpanel", id: "pane" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
    this.composer = this.makeComposer();
    place.replaceChildren(this.head, this.cards, this.tabs, this.pane, this.letters, this.composer);
    this.draw();
    this.show("terminal");
    // A person looks at it now.
    get(`/sessions/${id}`).catch(() => {});
  }

  get session() {
    return this.store.sessions.get(this.id);
  }

  draw() {
    const session = this.session;
    if (!session) {
      fill(this.head, h("h2", null, "This session is gone."), h("p", { class: "faint" }, "It may be in the trash: glis trash list"));
      fill(this.cards);
      return;
    }
    const where = [session.agent, session.branch, session.worktree].filter(Boolean).join(" \u00b7 ");
    fill(
      this.head,
      h("a", { href: "#/", class: "back", "aria-label": "All sessions" }, icon("back")),
      h("div", { class: "title" }, h("h2", null, session.name), h("p", { class: "faint" }, `${session.status} \u00b7 ${where}`)),
      h("div", { class: "buttons" }, ...this.buttons(session)),
    );
    const drawn = () => this.draw();
    const cards = (session.asks ?? []).map((/** @type {any} */ ask) => askCard(this.store, session, ask, drawn));
    if (session.status === "paused") cards.push(pausedCard(session));
    if (session.failure) cards.push(h("p", { class: "card bad pre" }, session.failure));
    const typing = this.cards.contains(document.activeElement) && document.activeElement?.tagName === "TEXTAREA";
    if (!typing) fill(this.cards, ...cards);
    this.drawLetters();
    fill(this.tabs, ...TABS.map((tab) => h("button", {
      type: "button", role: "tab", id: `tab-${tab}`, "aria-selected": String(tab === this.tab), "aria-controls": "pane",
      onclick: () => this.show(tab),
    }, tab)));
  }

  /** @param {import("./store.js").Session} session */
  buttons(session) {
    const manage = this.store.may("manage");
    const button = (/** @type {string} */ id, /** @type {string} */ look, /** @type {() => void} */ act, /** @type {any[]} */ ...text) =>
      h("button", { type: "button", id: `do-${id}`, class: look, disabled: !manage || this.doing.has(id), onclick: act }, ...text);
    const all = [];
    const pausing = session.status === "pausing" || session.operation === "pause" || this.doing.has("pause");
    if (pausing) {
      all.push(h("button", { type: "button", id: "do-pause", class: "outline", disabled: true }, h("span", { class: "spinner", "aria-hidden": "true" }), "Pausing..."));
      all.push(button("cancel", "outline", () => this.act("cancel", "pause", { cancel: true }), "Cancel"));
    } else if (session.status === "paused" && session.can_resume) {
      all.push(button("resume", "filled", () => this.resume(), icon("play"), "Resume"));
    } else if (session.can_pause) {
      all.push(button("pause", "outline", () => this.pause(), icon("pause"), "Pause"));
    } else if (session.can_resume) {
      all.push(button("resume", "outline", () => this.resume(), icon("play"), "Resume"));
    }
    const more = h("details", { class: "more" }, h("summary", { id: "do-more" }, "More"), h("div", { class: "menu" },
      button("boundary", "outline", () => this.pause({ mode: "boundary" }), "Pause after this turn"),
      button("force", "outline", () => this.pause({ mode: "force" }), "Pause by force"),
      button("stop", "outline", () => this.act("stop", "stop"), "Stop"),
      button("snapshot", "outline", () => this.act("snapshot", "snapshot", {}, "A snapshot was taken."), "Snapshot"),
      button("auto-yes", "outline", () => this.act("auto-yes", "auto-yes", { switch: session.auto_yes ? "off" : "on" }),
        session.auto_yes ? "Auto-yes: on" : "Auto-yes: off"),
      button("restart", "outline", () => confirm(`Begin a fresh conversation in ${session.name}? Its files stay.`) &&
        this.act("restart", "restart", { yes: true }), "Restart"),
      button("merge", "outline", () => this.merge(), "Merge"),
      button("rm", "outline", () => confirm(`Move ${session.name} to the trash?`) && this.act("rm", "rm", { stop: true }), "Remove"),
    ));
    all.push(more);
    return all;
  }

  /** @param {string} id @param {string} verb @param {Record<string, any>} [body] @param {string} [done] */
  async act(id, verb, body = {}, done) {
    if (this.doing.has(id)) return null;
    this.doing.add(id);
    this.draw();
    try {
      const told = await post(`/sessions/${this.id}/${verb}`, body);
      if (done) toast(done);
      return told;
    } catch (fault) {
      const error = /** @type {Refused} */ (fault);
      const lead = verb === "pause" ? "Failed to pause" : `Failed to ${verb}`;
      const action = verb === "pause" && !body.cancel && body.mode !== "force"
        ? { label: "Force", run: () => this.pause({ mode: "force" }) } : undefined;
      toast(`${lead}: ${error.message}`, { hint: error.hint, action });
      return null;
    } finally {
      this.doing.delete(id);
      this.draw();
    }
  }

  /** @param {Record<string, any>} [options] */
  pause(options = {}) {
    return this.act("pause", "pause", options);
  }

  resume() {
    return this.act("resume", "resume");
  }

  async merge() {
    const merged = await this.act("merge", "merge");
    if (merged) toast(merged.next ? `Merged into ${merged.branch}. Type there: ${merged.next}` : `Merged into ${merged.branch}.`);
  }

  makeComposer() {
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", {
      id: "message", rows: "2", placeholder: "Write a message", "aria-label": "Message",
      value: this.outbox.drafts[this.id] ?? "",
      oninput: () => this.outbox.draft(this.id, field.value),
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) send();
      },
    }));
    const send = () => {
      if (!field.value.trim()) return;
      this.outbox.send(this.id, field.value);
      field.value = "";
      field.focus();
    };
    const may = this.store.may("send");
    field.disabled = !may;
    return h("form", { class: "composer", onsubmit: (/** @type {Event} */ event) => { event.preventDefault(); send(); } },
      field, h("button", { type: "submit", class: "filled", disabled: !may }, "Send"));
  }

  drawLetters() {
    fill(this.letters, ...this.outbox.of(this.id).map((letter) => h("p", { class: `letter is-${letter.state}` },
      h("span", { class: "text" }, letter.text), " ",
      h("span", { class: "faint" }, STATES[letter.state], letter.why ? `: ${letter.why}` : ""),
      (letter.state === "refused" || letter.state === "unknown") && h("button", {
        type: "button", class: "small", onclick: () => this.outbox.retry(letter.key) }, "Send again"),
      (letter.state === "refused" || letter.state === "unknown") && h("button", {
        type: "button", class: "small", onclick: () => this.outbox.forget(letter.key) }, "Discard"))));
  }

  /** @param {string} tab */
  async show(tab) {
    this.tab = tab;
    this.terminal?.close();
    this.terminal = undefined;
    this.draw();
    this.pane.setAttribute("aria-labelledby", `tab-${tab}`);
    if (tab === "terminal") {
      this.terminal = new Terminal(this.pane, this.id);
      return;
    }
    fill(this.pane, h("p", { class: "faint" }, "Reading..."));
    try {
      const drawn = tab === "conversation" ? conversation(await get(`/sessions/${this.id}/log`))
        : tab === "changes" ? changes(await get(`/sessions/${this.id}/diff`), (text) => this.outbox.send(this.id, text))
        : this.snapshots(await get(`/sessions/${this.id}/snapshots`));
      if (this.tab === tab) fill(this.pane, ...drawn);
    } catch (fault) {
      if (this.tab === tab) fill(this.pane, h("p", { class: "bad" }, /** @type {Error} */ (fault).message));
    }
  }

  /** @param {any[]} list */
  snapshots(list) {
    if (!list.length) return [h("p", { class: "faint" }, "No snapshots.")];
    const restore = (/** @type {any} */ one) => confirm("Restore this snapshot? What is there now is moved aside.") &&
      this.act("restore", "restore", { snapshot: one.ref }, "Restored.");
    return [...list].reverse().map((one, index) => h("div", { class: "snapshot" },
      h("span", null, `${ago(one.at)} \u00b7 ${one.why} \u00b7 ${one.changed} changed`),
      h("button", { type: "button", id: `restore-${index}`, class: "small", disabled: !this.store.may("manage"), onclick: () => restore(one) }, "Restore")));
  }

  /** Something has happened. @param {{session?: string, event?: any}} what */
  take(what) {
    if (what.session && what.session !== this.id) return;
    this.draw();
    if (what.event?.event === "process_started") this.terminal?.again();
    if (what.event?.event === "turn_ended" && this.tab === "conversation") this.show("conversation");
  }

  close() {
    this.terminal?.close();
  }
}

/** @param {any[]} entries */
function conversation(entries) {
  if (!entries.length) return [h("p", { class: "faint" }, "Nothing was said yet.")];
  return entries.map((entry) => h("article", { class: `entry by-${entry.type}` },
    h("header", { class: "faint" }, `${entry.type} \u00b7 ${ago(entry.timestamp)}`),
    h("p", { class: "pre" }, entry.content)));
}

/** @param {any} diff @param {(text: string) => void} send */
function changes(diff, send) {
  if (!diff.files.length) return [h("p", { class: "faint" }, "No changes.")];
  /** @type {{file: string, line: string, field: HTMLTextAreaElement}[]} */
  const comments = [];
  const files = (diff.patch ?? "").split(/^(?=diff --git )/m).filter(Boolean);
  const drawn = files.map((/** @type {string} */ patch) => {
    const lines = patch.split("\n");
    const name = lines.find((line) => line.startsWith("+++ "))?.slice(6) ?? lines[0];
    const shown = lines.slice(1, DIFF_LINES_MAX);
    const body = h("div", { class: "diff" }, ...shown.map((line) => diffLine(name, line, comments)));
    const cut = lines.length > DIFF_LINES_MAX ? h("p", { class: "faint" }, `${lines.length - DIFF_LINES_MAX} lines more`) : null;
    return h("details", { class: "file", open: files.length < 6 }, h("summary", null, name), body, cut);
  });
  const submit = () => {
    const said = comments.filter(({ field }) => field.value.trim());
    if (!said.length) return;
    const text = said.map(({ file, line, field }) => `${file}\n> ${line}\n${field.value.trim()}`).join("\n\n");
    send(`Comments on your changes:\n\n${text}`);
    for (const { field } of said) field.value = "";
  };
  const stat = diff.files.map((/** @type {any} */ file) => `${file.path} +${file.added ?? "-"} -${file.removed ?? "-"}`);
  return [h("p", { class: "faint pre" }, stat.join("\n")), ...drawn,
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
