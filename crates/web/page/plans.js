// @ts-check
/** Plans: the tasks of a repository, how far each is, and having them worked on. */

import { get, post } from "./api.js";
import { complain, fill, h, icon, redraw } from "./dom.js";

const PLACE = "glis.repo";

/** A mark for each state, so that colour is never the only sign. */
const MARKS = {
  todo: "\u25cb", ready: "\u25cb", queued: "\u2026", running: "\u25cf", waiting: "?", paused: "\u2016", interrupted: "!",
  succeeded: "\u2713", failed: "\u2717",
};

export class PlansView {
  /** @param {HTMLElement} place @param {import("./store.js").Store} store */
  constructor(place, store) {
    this.store = store;
    /** @type {any} */
    this.plan = null;
    this.why = "";
    this.doing = "";
    /** Whether something has happened since it was read. */
    this.stale = false;
    this.reading = false;
    this.closed = false;
    this.repos = [...new Set([...store.sessions.values()].map((session) => session.repo_root))].sort();
    const kept = localStorage.getItem(PLACE) ?? "";
    this.repo = kept || this.repos[0] || "";
    this.body = h("div", { class: "plan" });
    fill(place, h("h2", null, "Plan"), this.chooser(), this.body);
    this.read();
  }

  chooser() {
    const field = /** @type {HTMLInputElement} */ (h("input", { id: "plan-repo", value: this.repo, list: "plan-repos", autocomplete: "off" }));
    const choose = (/** @type {Event} */ event) => {
      event.preventDefault();
      this.repo = field.value.trim();
      localStorage.setItem(PLACE, this.repo);
      this.read();
    };
    return h("form", { class: "inline", onsubmit: choose },
      h("label", { for: "plan-repo" }, "Repository"), field,
      h("datalist", { id: "plan-repos" }, ...this.repos.map((repo) => h("option", { value: repo }))),
      h("button", { type: "submit", class: "outline" }, "Show"));
  }

  /** Reads it, and once more if something happens meanwhile. */
  async read() {
    this.stale = true;
    if (this.reading) return;
    this.reading = true;
    while (this.stale && !this.closed) {
      this.stale = false;
      try {
        this.plan = this.repo ? await get("/plan", { repo: this.repo }) : null;
        this.why = this.repo ? "" : "Name a repository: a folder of the machine.";
      } catch (fault) {
        [this.plan, this.why] = [null, /** @type {Error} */ (fault).message];
      }
      if (!this.closed) this.draw();
    }
    this.reading = false;
  }

  draw() {
    const may = this.store.may("manage");
    const { plan } = this;
    if (!plan) return redraw(this.body, h("p", { class: "faint pre" }, this.why), may && this.adder());
    const done = plan.tasks.filter((/** @type {any} */ task) => task.state === "succeeded").length;
    const runs = plan.tasks.some((/** @type {any} */ task) => task.run?.moves);
    const id = plan.tasks.find((/** @type {any} */ task) => task.run)?.run.plan;
    const told = [`${done} of ${plan.tasks.length} done`, plan.branch, plan.paused ? `paused: ${plan.paused}` : ""];
    redraw(this.body,
      h("div", { class: "head" },
        h("div", { class: "title" }, h("h3", null, plan.title ?? "Tasks"), h("p", { class: "faint" }, told.filter(Boolean).join(" \u00b7 "))),
        h("div", { class: "buttons" },
          runs && id
            ? h("button", { type: "button", id: "plan-pause", class: "outline", disabled: !may || !!this.doing,
                onclick: () => this.act("/plan/pause", { plan: id }, "Failed to pause") }, icon("pause"), "Pause")
            : h("button", { type: "button", id: "plan-execute", class: "filled", disabled: !may || plan.done || !!this.doing,
                onclick: () => this.act("/plan/execute", { repo: this.repo }, "Failed to execute") }, icon("play"), "Execute"))),
      h("ul", { class: "tasks" }, ...plan.tasks.map((/** @type {any} */ task) => this.task(task, may))),
      may && this.adder());
  }

  /** @param {any} task @param {boolean} may */
  task(task, may) {
    const state = task.state ?? (task.ready ? "ready" : "todo");
    const { run } = task;
    const told = [state, task.needs?.length ? `needs ${task.needs.join(", ")}` : "", task.agent ?? ""];
    const again = run && !run.moves && ["paused", "interrupted", "failed", "waiting"].includes(state);
    return h("li", { id: `task-${task.id}`, class: `task is-${state}` },
      h("span", { class: "mark", "aria-hidden": "true" }, MARKS[state] ?? "-"),
      h("div", { class: "grow" },
        h("p", null, run?.session ? h("a", { href: `#/s/${run.session}` }, task.id) : h("b", null, task.id), task.title ? ` ${task.title}` : ""),
        h("p", { class: "faint" }, told.filter(Boolean).join(" \u00b7 ")),
        run?.asks && h("p", { class: "pre" }, run.asks),
        run?.doubt && h("p", { class: "pre bad" }, run.doubt)),
      again && h("button", { type: "button", id: `task-${task.id}-resume`, class: "small", disabled: !may,
        onclick: () => this.act("/tasks/resume", { repo: this.repo, task: task.id }, "Failed to resume") }, "Resume"),
      run && h("button", { type: "button", id: `task-${task.id}-restart`, class: "small", disabled: !may || run.moves,
        onclick: () => confirm(`Begin another run of ${task.id}, from its prompt?`) &&
          this.act("/tasks/restart", { repo: this.repo, task: task.id, yes: true }, "Failed to restart") }, "Restart"));
  }

  /** Adds a task, by its name and its prompt. */
  adder() {
    const form = /** @type {HTMLFormElement} */ (h("form", { class: "form", id: "plan-add", onsubmit: async (/** @type {Event} */ event) => {
      event.preventDefault();
      const given = Object.fromEntries([...new FormData(form)].filter(([, value]) => value !== ""));
      const needs = String(given.needs ?? "").split(",").map((one) => one.trim()).filter(Boolean);
      const added = await this.act("/plan/add", { ...given, needs: needs.length ? needs : undefined, repo: this.repo }, "Failed to add");
      if (added) form.reset();
    } },
      h("h3", null, "Add a task"),
      h("label", null, "Id", h("input", { name: "id", required: true, autocomplete: "off" })),
      h("label", null, "What an agent is told", h("textarea", { name: "prompt", rows: "3", required: true })),
      h("label", null, "Needs (ids, with commas)", h("input", { name: "needs", autocomplete: "off" })),
      h("label", null, "Agent (the usual one if empty)", h("input", { name: "agent", autocomplete: "off" })),
      h("button", { type: "submit", class: "outline" }, "Add")));
    return form;
  }

  /** @param {string} path @param {Record<string, any>} body @param {string} lead */
  async act(path, body, lead) {
    if (this.doing) return null;
    this.doing = path;
    this.draw();
    try {
      return await post(path, body) ?? {};
    } catch (fault) {
      complain(lead, fault);
      return null;
    } finally {
      this.doing = "";
      await this.read();
      if (!this.closed) this.draw();
    }
  }

  /** Something has happened: to a plan, or to a session that works on a task. @param {{session?: string, event?: any}} what */
  take(what) {
    const { event } = what;
    if (event && (!event.session || this.store.sessions.get(event.session)?.task)) this.read();
  }

  // What every view has.
  drawLetters() {}
  pause() {}
  resume() {}

  close() {
    this.closed = true;
  }
}
