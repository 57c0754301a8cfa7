// @ts-check
/** A plan that an agent drafts: asked for, looked at, changed, and written once a person has approved it. */

import { get, pathOf } from "./api.js";
import { state } from "./list.js";
import { h } from "./dom.js";
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
    this.why = "";
  }

  /** @param {string} session */
  remember(session) {
    keep(PLAN + this.repo, session);
    [this.session, this.found, this.why] = [session, null, ""];
  }

  async read() {
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
      const body = { repo: this.repo, from: this.session, yes: true, replace: replaces || undefined, draft: this.found?.draft };
      if (await this.act("/plan/new", body, "Failed to write the plan")) this.remember("");
    };
    return h("section", { class: "card", id: "plan-draft", "aria-label": "A drafted plan" },
      h("header", null, h("h3", null, "Draft"),
        session ? h("span", { class: "badge" }, state(session)) : null),
      session
        ? h("p", null, h("a", { href: `#/s/${session.id}` }, session.name), found ? " has drafted this. Nothing is written yet." : " drafts a plan.")
        : h("p", null, "The session that drafted it is gone."),
      found && h("pre", { class: "words pre", tabindex: "0", "aria-label": "The draft" }, found.draft),
      ...(found?.faults ?? []).map((/** @type {any} */ fault) => h("p", { class: "bad" }, `Line ${fault.line}: ${fault.why}`)),
      this.why && h("p", { class: "bad pre" }, this.why),
      session && SAID.includes(session.status) && may && this.different(session.id),
      h("div", { class: "buttons" },
        found && h("button", { type: "button", id: "draft-write", class: "filled", disabled: !may || found.faults.length > 0, "data-replaces": String(replaces), onclick: write },
          replaces ? "Write it in place of the plan" : "Write this plan"),
        h("button", { type: "button", id: "draft-leave", class: "outline", onclick: () => { this.remember(""); this.act("", {}, ""); } }, "Leave it")));
  }

  /** Has an agent draft one. */
  asking() {
    const form = /** @type {HTMLFormElement} */ (h("form", { class: "form", id: "plan-new", onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
      const made = await this.act("/plan/new", { ...given, repo: this.repo }, "Failed to begin a draft");
      if (!made) return;
      this.remember(made.id);
      this.act("", {}, "");
    } },
      h("h3", null, "Have an agent draft the plan"),
      h("label", null, "What is to be reached", h("textarea", { name: "goal", rows: "3", required: true })),
      h("label", null, "Agent (the usual one if empty)", h("input", { name: "agent", autocomplete: "off" })),
      h("button", { type: "submit", class: "outline" }, "Draft")));
    return form;
  }

  /** Says what is to be different. @param {string} session */
  different(session) {
    const form = /** @type {HTMLFormElement} */ (h("form", { class: "form", id: "draft-change", onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const words = String(new FormData(form).get("words") ?? "").trim();
      if (!words || !await this.act(pathOf`/sessions/${session}/send`, { text: words + AGAIN }, "Failed to send")) return;
      if (String(new FormData(form).get("words") ?? "").trim() === words) form.reset();
    } },
      h("label", null, "What is to be different", h("textarea", { name: "words", rows: "2", required: true })),
      h("button", { type: "submit", class: "outline" }, "Have it changed")));
    return form;
  }
}
