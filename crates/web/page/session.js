// @ts-check
/** One session: what can be done with it, its terminal, its conversation, its changes. */

import { Refused, get, onAndOn, pathOf, post } from "./api.js";
import { askCards, leftCards } from "./asks.js";
import { changes, glance, tick, walk } from "./changes.js";
import { Conversation } from "./conversation.js";
import { ago, complain, copies, fill, form, h, icon, inSight, redraw, toast, wayBack, whyNot } from "./dom.js";
import { state } from "./list.js";
import { isStopped, resumeAll } from "./resume.js";
import { facts, isResting, stateCards, why } from "./state.js";
import { Terminal } from "./terminal.js";
import { look } from "./wanted.js";
import { loopCard, ruled, runs } from "./work.js";

/** The views of a session. A task of a plan has its runs as well, and one that rules answer for what they said.
 * @param {import("./store.js").Session} session */
const tabsOf = (session) => ["terminal", "conversation", "changes", "snapshots", ...(session.task ? ["runs"] : []), ...(session.auto_yes ? ["rules"] : [])];

/** So much of a message on its way is shown: who wrote more knows the rest. */
const LETTER_CHARS_MAX = 300;

/** Events after which the files, the snapshots or the runs of a session may be others. */
const CHANGES = ["turn_ended", "worktree_saved", "snapshot_taken", "worktree_restored", "worktree_made", "process_ended", "paused", "ask_judged"];

/** What came of a message, in a word. */
const STATES = {
  sending: "sending", stored: "stored", delivered: "delivered", unknown: "unknown: ask the session before you repeat it",
  refused: "not stored",
};

/** What is said of a message to what was stopped with all others. */
const HELD = "stored: everything is paused, and Resume all delivers it";

export class SessionView {
  /** @param {HTMLElement} place @param {import("./store.js").Store} store @param {import("./outbox.js").Outbox} outbox @param {string} id
   * @param {string} [tab] that is shown first */
  constructor(place, store, outbox, id, tab) {
    [this.place, this.store, this.outbox, this.id, this.first] = [place, store, outbox, id, tab];
    /** None before the session is known. */
    this.tab = "";
    /** Whether it was at the last look. @type {boolean?} */
    this.known = null;
    /** What was typed in the menu and not sent. @type {Record<string, string>} */
    this.typed = {};
    /** @type {Set<string>} verbs that are under way */
    this.doing = new Set();
    /** What the view shows, as it was told. */
    this.drawn = "";
    /** Whether the pause that is under way was cancelled here. */
    this.cancelled = false;
    this.head = h("div", { class: "head" });
    this.cards = h("div");
    this.letters = h("div", { class: "letters", "aria-live": "polite" });
    this.pane = h("div", { class: "pane", role: "tabpanel", id: "pane", tabindex: "0" });
    this.tabs = h("div", { class: "tabs", role: "tablist", "aria-label": "Views" });
    this.composer = this.makeComposer();
    place.replaceChildren(this.head, this.cards, this.tabs, this.pane, this.letters, this.composer);
    this.closeMenu = (/** @type {Event} */ event) => this.leaveMenu(event);
    for (const name of ["keydown", "pointerdown"]) document.addEventListener(name, this.closeMenu);
    this.begin();
  }

  /** A session that was made a moment ago is told of later. */
  begin() {
    // A person looks at it now. The list did not tell all of it, or does not have it.
    const known = !!this.session;
    if (known !== this.known) this.store.readOne(this.id).catch(() => {});
    this.known = known;
    if (!known || this.tab) return this.draw();
    // Without a terminal there is only what the agent's protocol says there.
    const usual = this.session.mode === "headless" ? "conversation" : "terminal";
    return this.show(tabsOf(this.session).find((tab) => tab === this.first) ?? usual);
  }

  /** Escape and a press elsewhere close the menu. @param {Event} event */
  leaveMenu(event) {
    const menu = /** @type {HTMLDetailsElement | null} */ (this.head.querySelector("details.more"));
    const escape = /** @type {KeyboardEvent} */ (event).key === "Escape";
    if (!menu?.open || !(escape || (event.type === "pointerdown" && !menu.contains(/** @type {Node} */ (event.target))))) return;
    if (escape && menu.contains(document.activeElement)) menu.querySelector("summary")?.focus();
    menu.open = false;
  }

  get session() {
    return this.store.sessions.get(this.id);
  }

  draw() {
    const session = this.session;
    if (!session) {
      redraw(this.head, h("h2", null, "This session is gone."),
        h("p", { class: "faint" }, "It may be in the ", h("a", { href: "#/trash" }, "trash"), "."));
      redraw(this.cards);
    }
    for (const part of [this.tabs, this.pane, this.composer]) part.hidden = !session;
    if (!session) return;
    const where = [session.agent, session.model, session.branch, ...facts(session)].filter(Boolean).join(" \u00b7 ");
    const reason = why(session);
    redraw(
      this.head,
      wayBack(),
      h("div", { class: "title", "data-status": session.status },
        h("h2", null, session.name, " ", h("span", { class: `state is-${session.status}` }, state(session)), " ",
          !isResting(session) && reason !== state(session) && h("span", { class: "reason" }, inSight(reason))),
        h("p", { class: "faint facts" }, h("span", null, where), session.worktree && h("span", { class: "path" }, session.worktree),
          session.worktree && copies(session.worktree, "the path of its worktree"))),
      h("div", { class: "buttons" }, ...this.buttons(session)),
    );
    const drawn = () => this.draw();
    const cards = [whyNot(this.store, "manage"), ...askCards(this.store, drawn, this.id)];
    cards.push(...leftCards(this.store, this.outbox, () => { this.drawDraft(); this.draw(); }, this.id));
    cards.push(this.barred(session), ...stateCards(session, isStopped(this.store, session)));
    if (session.loop) cards.push(loopCard(session, this.store.may("manage"), (max) => this.act("loop", "loop", { max })));
    redraw(this.cards, ...cards);
    look(this.cards, drawn);
    this.drawLetters();
    this.drawComposer();
    redraw(this.tabs, ...tabsOf(session).map((tab) => h("button", {
      role: "tab", id: `tab-${tab}`, "aria-selected": String(tab === this.tab), "aria-controls": "pane",
      tabindex: tab === this.tab ? "0" : "-1",
      onclick: () => this.show(tab), onkeydown: (/** @type {KeyboardEvent} */ event) => this.walk(event),
    }, tab)));
  }

  /** What keeps everybody from working on it until a person knows. @param {import("./store.js").Session} session */
  barred(session) {
    const what = session.barred ?? (session.record_damaged && "Records that may have been about it were lost.");
    return what && h("section", { class: "card bad", "aria-label": "To be acknowledged" }, h("p", { class: "pre" }, inSight(what)),
      h("div", { class: "buttons" }, h("button", { id: "do-acknowledge", class: "filled", disabled: !this.store.may("manage") || this.doing.has("acknowledge"),
        onclick: () => this.act("acknowledge", "acknowledge") }, "Acknowledge")));
  }

  /** From view to view by the arrows, as one does among tabs. @param {KeyboardEvent} event */
  walk(event) {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step || !this.session || event.altKey) return;
    event.preventDefault();
    const tabs = tabsOf(this.session);
    const next = tabs[(tabs.indexOf(this.tab) + step + tabs.length) % tabs.length];
    this.show(next);
    document.getElementById(`tab-${next}`)?.focus();
  }

  /** @param {import("./store.js").Session} session */
  buttons(session) {
    const manage = this.store.may("manage");
    const button = (/** @type {string} */ id, /** @type {string} */ look, /** @type {() => void} */ act, /** @type {any[]} */ ...text) =>
      h("button", { id: `do-${id}`, class: look, disabled: !manage || this.doing.has(id), onclick: act }, ...text);
    const all = [];
    const pausing = session.status === "pausing" || session.operation === "pause" || this.doing.has("pause");
    const rests = isResting(session);
    if (pausing) {
      // Before the other: the second press of a double click on Pause is not to cancel it.
      all.push(button("cancel", "outline", () => this.cancel(), "Cancel"));
      all.push(h("button", { id: "do-pause", class: "outline", disabled: true }, h("span", { class: "spinner", "aria-hidden": "true" }), "Pausing..."));
    } else if (isStopped(this.store, session)) {
      all.push(button("resume-all", "filled", () => resumeAll(this.store), icon("play"), "Resume all"));
    } else if (rests && session.can_resume) {
      all.push(button("resume", "filled", () => this.resume(), icon("play"), "Resume"));
    } else if (!rests && session.can_pause) {
      all.push(button("pause", "outline", () => this.pause(), icon("pause"), "Pause"));
    }
    const open = /** @type {HTMLDetailsElement | null} */ (this.head.querySelector("details.more"))?.open ?? false;
    const yes = session.auto_yes;
    const more = h("details", { class: "more", open }, h("summary", { id: "do-more" }, "More"), h("div", { class: "menu" },
      ...(rests ? [
        session.can_resume && this.timed("resume-with", "Resume, and say", "", (text) => this.act("resume", "resume", { prompt: text || undefined }), "Resume"),
        button("compact", "outline", () => this.act("compact", "compact", {}, "Its conversation was summed up."), "Sum up the conversation"),
      ] : [
        button("boundary", "outline", () => this.pause({ mode: "boundary" }), "Pause after this turn"),
        button("force", "outline", () => this.pause({ mode: "force" }), "Pause by force"),
        button("clear", "outline", () => this.pause({ remove_worktree: true }), "Pause, remove the worktree"),
        this.timed("for", "Pause for", "2h", (text) => this.pause({ for: text })),
      ]),
      this.timed("timeout", "Suspend when idle for (minutes)", String(Math.round(session.idle_timeout_secs / 60) || "off"),
        (text) => this.act("timeout", "timeout", { minutes: text }, "The time is set.")),
      h("hr", null),
      button("pin", "outline", () => this.act("pin", "pin", { off: session.pinned }), session.pinned ? "Unpin" : "Pin"),
      this.timed("label", "Labels: auth, or -auth to take it away", "", (text) => this.act("label", "label", { labels: text.split(/\s+/) })),
      this.timed("snooze", "Snooze: 2h, 18:00, change, off", session.snoozed_until ? "off" : "2h", (until) => this.act("snooze", "snooze", { until })),
      this.timed("budget", "Budget: usd=5, tokens=200k, time=2h, off", session.budget?.allowed ?? "", (budget) => this.act("budget", "budget", { budget })),
      h("hr", null),
      button("stop", "outline", () => this.act("stop", "stop"), "Stop"),
      button("snapshot", "outline", () => this.act("snapshot", "snapshot", {}, "A snapshot was taken."), "Snapshot"),
      button("auto-yes", "outline", () => (yes || confirm(`Have rules answer what ${session.name} asks?`)) && this.act("auto-yes", "auto-yes", { switch: yes ? "off" : "on" }),
        yes ? "Auto-yes: on" : "Auto-yes: off"),
      h("hr", null),
      button("restart", "outline", () => confirm(`Begin a fresh conversation in ${session.name}? Its files stay.`) &&
        this.act("restart", "restart", { yes: true }), "Restart"),
      button("restart-with", "outline", () => confirm(`Begin a fresh conversation in ${session.name}, and tell the agent what the former one was doing?`) &&
        this.act("restart", "restart", { yes: true, with_context: true }), "Restart with context"),
      this.timed("merge", "Merge into (empty: where it began)", "", (text) => this.merge(text), "Merge"),
      button("rm", "outline danger", () => confirm(`Move ${session.name} to the trash?`) && this.act("rm", "rm", { stop: true }), "Remove"),
    ));
    all.push(more);
    return all;
  }

  /** A field with a button, for what needs a word. @param {string} id @param {string} label @param {string} usual @param {(text: string) => void} act @param {string} [does] */
  timed(id, label, usual, act, does = "Set") {
    const field = /** @type {HTMLInputElement} */ (h("input", { id: `do-${id}-text`, value: this.typed[id] ?? usual, autocomplete: "off",
      oninput: () => { this.typed[id] = field.value; } }));
    const submit = () => {
      delete this.typed[id];
      act(field.value.trim());
    };
    return form({ class: "timed" }, submit, h("label", { for: `do-${id}-text` }, label), field,
      h("button", { type: "submit", id: `do-${id}`, class: "outline", disabled: !this.store.may("manage") || this.doing.has(id) }, does));
  }

  /** @param {string} id @param {string} verb @param {Record<string, any>} [body] @param {string} [done] */
  async act(id, verb, body = {}, done) {
    // The address may name anything: only what is known to be a session is acted on.
    if (!this.session || this.doing.has(id)) return null;
    this.doing.add(id);
    this.draw();
    try {
      const told = await post(pathOf`/sessions/${this.id}/${verb}`, body);
      if (done) toast(done);
      return told;
    } catch (fault) {
      // What somebody has cancelled here has not failed.
      if (id === "pause" && this.cancelled) return null;
      const unsafe = verb === "pause" && fault instanceof Refused && fault.kind === "not_safe";
      complain(verb, fault, unsafe ? { label: "Force", run: () => this.pause({ mode: "force" }) } : undefined,
        unsafe ? "Force ends the agent at once and keeps its files. More, Pause after this turn waits for it." : undefined);
      return null;
    } finally {
      this.doing.delete(id);
      this.draw();
    }
  }

  /** @param {Record<string, any>} [options] */
  pause(options = {}) {
    this.cancelled = false;
    return this.act("pause", "pause", options);
  }

  cancel() {
    this.cancelled = true;
    return this.act("cancel", "pause", { cancel: true });
  }

  resume() {
    return this.act("resume", "resume");
  }

  /** @param {string} into a branch, or nothing */
  async merge(into) {
    const merged = await this.act("merge", "merge", { into: into || undefined });
    const { branch, next } = merged ?? {};
    if (next) toast(`Merged into ${branch}. What is left is to type this where it is checked out:`, { hint: next, action: { label: "Copy", run: () => navigator.clipboard.writeText(next) } });
    else if (merged) toast(`Merged into ${branch}.`);
  }

  makeComposer() {
    const field = /** @type {HTMLTextAreaElement} */ (h("textarea", {
      id: "message", rows: "2", "aria-label": "Message",
      value: this.outbox.drafted(this.id),
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
    const button = /** @type {HTMLButtonElement} */ (h("button", { type: "submit", class: "filled" }, "Send"));
    this.drawDraft = () => { field.value = this.outbox.drafted(this.id); };
    this.drawComposer = () => {
      // A message to a plain program is typing.
      const types = this.session?.agent === "command";
      const may = this.store.may(types ? "manage" : "send");
      field.disabled = button.disabled = !may;
      const why = `This device may only ${this.store.device.scope}${types ? ": a message to a plain program is typing, and needs manage" : ""}`;
      field.placeholder = may ? `Write a message${matchMedia("(pointer: coarse)").matches ? "" : " (Ctrl+Enter sends it)"}` : why;
    };
    return form({ class: "composer" }, send, field, button);
  }

  drawLetters() {
    const held = this.session && isStopped(this.store, this.session);
    redraw(this.letters, ...this.outbox.of(this.id).map((letter) => {
      const { key, state: how, text, why } = letter;
      const button = (/** @type {string} */ name, /** @type {() => void} */ act) =>
        h("button", { class: "small", onclick: act }, name);
      return h("p", { id: `letter-${key}`, class: `letter is-${how}` },
        h("span", { class: "text" }, text.length > LETTER_CHARS_MAX ? `${text.slice(0, LETTER_CHARS_MAX)}\u2026` : text), " ",
        h("span", { class: "faint" }, why && how === "sending" ? "still sending" : how === "stored" && held ? HELD : STATES[how], why ? `: ${why}` : ""), " ",
        why && button("Send again", () => this.outbox.retry(key)), " ",
        why && button("Discard", () => this.outbox.forget(key)));
    }));
  }

  /** @param {string} tab */
  async show(tab) {
    this.tab = tab;
    this.leave();
    this.draw();
    this.pane.setAttribute("aria-labelledby", `tab-${tab}`);
    if (tab === "terminal") return this.showTerminal();
    if (tab === "conversation") {
      this.conversation = new Conversation(this.pane, this.id, this.store);
      return;
    }
    fill(this.pane, h("p", { class: "faint" }, "Reading..."));
    this.read = onAndOn(() => this.readTab(tab), () => this.tab !== tab);
    await this.read();
  }

  /** Reads what a view shows, and draws it if it is not what is drawn. Whoever writes something there is asked first.
   * @param {string} tab */
  async readTab(tab) {
    try {
      const told = await get(...this.source(tab));
      const text = JSON.stringify(told);
      if (this.tab !== tab || text === this.drawn) return;
      if (this.drawn && this.pane.querySelector("textarea, input:not([type=checkbox], :placeholder-shown)")) {
        if (!this.pane.querySelector("#reload")) this.pane.prepend(this.stale());
        return;
      }
      const { scrollTop } = this.pane;
      const folded = this.drawn ? [...this.pane.querySelectorAll("details.file")].map((one) => [one.id, /** @type {HTMLDetailsElement} */ (one).open]) : [];
      this.drawn = text;
      fill(this.pane, ...this.drawTab(tab, told));
      for (const [id, open] of folded) {
        const file = /** @type {HTMLDetailsElement | null} */ (document.getElementById(String(id)));
        if (file) file.open = Boolean(open);
      }
      this.pane.scrollTop = scrollTop;
    } catch (fault) {
      // What was read stays: the head of the page tells that nothing answers.
      if (this.tab === tab && !this.drawn) fill(this.pane, h("p", { class: "bad" }, /** @type {Error} */ (fault).message));
    }
  }

  /** Where a view's content comes from. @param {string} tab @returns {[string, Record<string, any>?]} */
  source(tab) {
    if (tab === "runs") return ["/runs", { repo: this.session?.repo_root, task: this.session?.task }];
    if (tab === "rules") return ["/auto-yes/log", { name: this.id }];
    return [pathOf`/sessions/${this.id}/${tab === "changes" ? "diff" : "snapshots"}`];
  }

  /** @param {string} tab @param {any} told */
  drawTab(tab, told) {
    if (tab === "changes") return changes(this.id, told, { send: (text) => this.outbox.send(this.id, text), again: () => this.show(tab), merge: this.merger() });
    if (tab === "rules") return ruled(told);
    return tab === "runs" ? runs(told) : this.snapshots(told);
  }

  /** Merges what is looked at, into where it began. */
  merger() {
    const { name = "", branch, base_branch: base, in_place: there } = this.session ?? {};
    return !there && branch && h("button", { id: "changes-merge", class: "outline", disabled: !this.store.may("manage"), onclick: () =>
      confirm(`Commit the work of ${name} on ${branch}, and merge that into ${base ?? "the branch that it began from"}? No checkout is touched.`) && this.merge("") },
      base ? `Merge into ${base}` : "Merge");
  }

  stale() {
    return h("p", { class: "strip", id: "reload" }, "Changed since you looked.",
      h("button", { class: "small", onclick: () => this.show(this.tab) }, "Reload"));
  }

  showTerminal() {
    const headless = this.session?.mode === "headless";
    // Keys would break what its program is told by us.
    const open = (/** @type {HTMLElement} */ place) => { this.terminal ??= new Terminal(place, this.id, !headless && this.store.may("manage")); };
    if (!headless) return open(this.pane);
    const raw = h("div", { class: "raw" });
    fill(this.pane, h("p", null, "This session has no terminal: its agent runs without one. What it says is under Conversation."),
      h("details", { ontoggle: () => open(raw) }, h("summary", null, "What its program writes"), raw));
  }

  /** @param {any[]} list */
  snapshots(list) {
    if (!list.length) return [h("p", { class: "faint" }, "No snapshots.")];
    const field = /** @type {HTMLInputElement} */ (h("input", { id: "restore-to", autocomplete: "off", placeholder: "/a/folder/that/is/not/there/yet" }));
    const restore = async (/** @type {any} */ one) => {
      const to = field.value.trim();
      if (to) return this.act("restore", "restore", { snapshot: one.ref, to }, `Restored to ${to}.`);
      const rests = this.session && isResting(this.session);
      if (!confirm(`Restore this snapshot? What is there now is moved aside${rests ? "" : ", and its process is stopped first"}.`)) return;
      if (rests || await this.act("stop", "stop")) await this.act("restore", "restore", { snapshot: one.ref }, "Restored.");
    };
    const look = (/** @type {any} */ one, /** @type {any} */ event) => get(pathOf`/sessions/${this.id}/diff`, { since: one.ref })
      .then((diff) => event.target.closest(".snapshot").after(...glance(diff)), (fault) => complain("look into it", fault));
    const into = h("p", { class: "inline" }, h("label", { for: "restore-to" }, "Restore into this folder of the machine (empty: the worktree)"), field);
    return [into, ...[...list].reverse().map((one, index) => h("div", { class: "snapshot" },
      h("span", null, `${ago(one.at)} \u00b7 ${one.why} \u00b7 ${one.changed} changed`),
      h("button", { id: `since-${index}`, class: "small quiet", onclick: (/** @type {any} */ event) => { event.target.disabled = true; look(one, event); } }, "What has changed since"),
      h("button", { id: `restore-${index}`, "data-ref": one.ref, class: "small", disabled: !this.store.may("manage"), onclick: () => restore(one) }, "Restore")))];
  }

  /** Goes on in what is shown, by a key. @param {"file" | "hunk" | "tick"} what @param {1 | -1} [by] */
  step(what, by = 1) {
    if (this.tab !== "changes") return;
    if (what === "tick") tick(this.pane);
    else walk(this.pane, what, by);
  }

  /** Something has happened. @param {{session?: string, event?: any}} what */
  take(what) {
    if (what.session && what.session !== this.id) return;
    if (this.tab) this.draw();
    else this.begin();
    if (what.event?.event === "process_started") this.terminal?.again();
    if (!what.event) this.conversation?.read();
    if (CHANGES.includes(what.event?.event)) this.read?.();
  }

  /** Leaves what is shown. */
  leave() {
    this.terminal?.close();
    this.conversation?.close();
    [this.terminal, this.conversation, this.read, this.drawn] = [undefined, undefined, undefined, ""];
  }

  close() {
    this.leave();
    for (const name of ["keydown", "pointerdown"]) document.removeEventListener(name, this.closeMenu);
  }
}
