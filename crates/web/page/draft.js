// @ts-check
/** A plan that an agent drafts: asked for, looked at, changed, and written once a person has approved it. */

import { get, pathOf } from "./api.js";
import { state } from "./list.js";
import { form, given, h } from "./dom.js";
import { PLAN, keep, kept } from "./kept.js";

/** What an agent is told that is to change its draft, behind what is to be different. */
const AGAIN = "\n\nAnswer with the whole plan again, as one code block marked `toml`.";
/** It has said what it has to say. */
const SAID = ["idle", "suspended", "completed"];

/** @typedef {(path: string, body: Record<string, any>, lead: string) => Promise<any>} Act */

export class Draft {
  /** @param {import("./store.js").Store} store @param {string} repo @param {Act} act */
  constructor(store, repo, act) {
    [this.store, this.repo, this.act] = [store, repo, act];
    /** The session that drafts it, by its id; a reload does not lose it. @type {string} */
    this.session = kept(PLAN + repo, "");
    /** What it has drafted, as it is drawn. @type {any} */
    this.found = null;
    /** The draft that a person changes by hand, as it was before. @type {string | null} */
    this.edited = null;
    this.why = "";
  }

  /** @param {string} session */
  remember(session) {
    keep(PLAN + this.repo, session);
    [this.session, this.found, this.edited, this.why] = [session, null, null, ""];
  }

  async read() {
    // What a person changes by hand stays on the page.
    if (this.edited) return;
    const session = this.store.sessions.get(this.session);
    if (!session || !SAID.includes(session.status) || session.queued) {
      [this.found, this.why] = [null, ""];
      return;
    }
    try {
      [this.found, this.why] = [await get("/plan/draft", { repo: this.repo, from: session.name }), ""];
    } catch (fault) {
      [this.found, this.why] = [null, /** @type {Error} */ (fault).message];
    }
  }

  /** What there is of it. @param {boolean} may @param {boolean} replaces whether there is a plan already */
  draw(may, replaces) {
    if (!this.session) return may ? this.asking() : null;
    const session = this.store.sessions.get(this.session);
    const { found } = this;
    const write = async () => {
      if (replaces && !confirm("Write it in place of the plan that is there? That one is kept.")) return;
      const text = /** @type {any} */ (document.getElementById("draft-text"))?.value;
      const draft = this.edited ?? this.found?.draft;
      const body = { repo: this.repo, from: this.session, yes: true, replace: replaces || undefined, draft, text };
      if (await this.act("/plan/new", body, "write the plan")) this.remember("");
    };
    return h("section", { class: "card", id: "plan-draft", "aria-label": "A drafted plan" },
      h("header", null, h("h3", null, "Draft"),
        session ? h("span", { class: "badge" }, state(session)) : null),
      session
        ? h("p", null, h("a", { href: `#/s/${session.id}` }, session.name), found ? " has drafted this. Nothing is written yet." : " drafts a plan.")
        : h("p", null, "The session that drafted it is gone."),
      found && (this.edited
        ? h("textarea", { id: "draft-text", class: "words", rows: "20", "aria-label": "The draft", value: this.edited })
        : h("pre", { class: "words pre", tabindex: "0", "aria-label": "The draft" }, found.draft)),
      !this.edited && found?.tree && h("pre", { id: "draft-tree", class: "words pre", "aria-label": "Its tasks" }, found.tree),
      ...(this.edited ? [] : found?.faults ?? []).map((/** @type {any} */ fault) => h("p", { class: "bad" }, `Line ${fault.line}: ${fault.why}`)),
      this.why && h("p", { class: "bad pre" }, this.why),
      session && SAID.includes(session.status) && may && this.different(session.id),
      h("div", { class: "buttons" },
        found && h("button", { id: "draft-write", class: "filled", disabled: !may || (!this.edited && found.faults.length > 0), "data-replaces": String(replaces), onclick: write },
          replaces ? "Write it in place of the plan" : "Write this plan"),
        found && may && h("button", { id: "draft-edit", class: "outline", onclick: () => {
          this.edited = this.edited ? null : this.found.draft;
          this.act("", {}, "");
        } }, this.edited ? "Drop changes" : "Edit it"),
        h("button", { id: "draft-leave", class: "outline", onclick: () => { this.remember(""); this.act("", {}, ""); } }, "Leave it")));
  }

  /** Has an agent draft one. */
  asking() {
    return form({ class: "form", id: "plan-new" }, async (wish) => {
      const made = await this.act("/plan/new", { ...wish, repo: this.repo }, "begin a draft");
      if (!made) return;
      this.remember(made.id);
      this.act("", {}, "");
    },
      h("h3", null, "Have an agent draft the plan"),
      h("label", null, "What is to be reached", h("textarea", { name: "goal", rows: "3", required: true })),
      h("label", null, "Agent (the usual one if empty)", h("input", { name: "agent", autocomplete: "off" })),
      h("button", { type: "submit", class: "outline" }, "Draft"));
  }

  /** Says what is to be different. @param {string} session */
  different(session) {
    return form({ class: "form", id: "draft-change" }, async ({ words = "" }, made) => {
      if (!words.trim() || !await this.act(pathOf`/sessions/${session}/send`, { text: words.trim() + AGAIN }, "send")) return;
      if (given(made).words === words) made.reset();
    },
      h("label", null, "What is to be different", h("textarea", { name: "words", rows: "2", required: true })),
      h("button", { type: "submit", class: "outline" }, "Have it changed"));
  }
}
