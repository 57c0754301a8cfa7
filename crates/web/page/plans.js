// @ts-check
/** Plans: the tasks of a repository, how far each is, and having them worked on. */

import { get, make, onAndOn, post } from "./api.js";
import { complain, fill, form, h, headline, icon, inSight, redraw, whyNot } from "./dom.js";
import { Draft } from "./draft.js";
import { adder, editor } from "./tasks.js";

const PLACE = "glis.repo";
/** What makes something: not twice, where its answer was lost. */
const MAKES = ["/plan/new", "/plan/add", "/plan/execute", "/tasks/restart"];

/** A mark for each state, so that colour is never the only sign. */
const MARKS = {
  todo: "\u25cb", ready: "\u25cb", queued: "\u2026", running: "\u25cf", waiting: "?", paused: "\u2016", interrupted: "!",
  succeeded: "\u2713", failed: "\u2717", proposed: "?",
};
/** Where a task stands, by how far it is; what is none of these goes on only when a person has said how. */
const COLUMNS = [["To do", ["todo"]], ["Ready", ["ready"]], ["At work", ["queued", "running"]], ["Needs you", null], ["Done", ["succeeded", "skipped"]]];

/** How far a task is. @param {any} task */
const stateOf = (task) => (task.proposed ? "proposed" : task.state ?? (task.ready ? "ready" : "todo"));
/** @param {string} state */
const columnOf = (state) => COLUMNS.find(([, states]) => states?.includes(state))?.[0] ?? "Needs you";

/** What a person may say about the work of a task that does not go on by itself. */
const RULINGS = ["Accept", "Judge", "Reject", "Skip"];

export class PlansView {
  /** @param {HTMLElement} place @param {import("./store.js").Store} store */
  constructor(place, store) {
    this.store = store;
    /** @type {any} */
    this.plan = null;
    this.why = "";
    this.doing = "";
    this.closed = false;
    this.read = onAndOn(() => this.readOnce(), () => this.closed);
    this.repos = [...new Set([...store.sessions.values()].map((session) => session.repo_root))].sort();
    const kept = localStorage.getItem(PLACE) ?? "";
    this.repo = kept || this.repos[0] || "";
    this.draft = this.drafted();
    /** The task that is being changed, as it was when that began. @type {any} */
    this.editing = null;
    this.body = h("div", { class: "plan" });
    fill(place, headline("Plan"), this.chooser(), this.body);
    this.read();
  }

  drafted() {
    return new Draft(this.store, this.repo, (path, body, lead) => this.act(path, body, lead));
  }

  chooser() {
    const field = /** @type {HTMLInputElement} */ (h("input", { id: "plan-repo", value: this.repo, list: "plan-repos", autocomplete: "off" }));
    const choose = () => {
      this.repo = field.value.trim();
      [this.draft, this.editing] = [this.drafted(), null];
      // What was drawn before acts on the other one.
      this.body.replaceChildren();
      localStorage.setItem(PLACE, this.repo);
      this.read();
    };
    return form({ class: "inline" }, choose,
      h("label", { for: "plan-repo" }, "Repository"), field,
      h("datalist", { id: "plan-repos" }, ...this.repos.map((repo) => h("option", { value: repo }))),
      h("button", { type: "submit", class: "outline" }, "Show"));
  }

  async readOnce() {
    try {
      this.plan = this.repo ? await get("/plan", { repo: this.repo }) : null;
      this.why = this.repo ? "" : "Name a repository: a folder of the machine.";
    } catch (fault) {
      [this.plan, this.why] = [null, /** @type {Error} */ (fault).message];
    }
    await this.draft.read();
    if (!this.closed) this.draw();
  }

  draw() {
    const may = this.store.may("manage");
    const { plan } = this;
    const fold = (/** @type {string} */ id, /** @type {string} */ text, /** @type {any} */ inner) => h("details", {
      // What a person has opened or closed stays so.
      id, open: /** @type {any} */ (document.getElementById(id))?.open ?? !plan }, h("summary", null, text), inner);
    const draft = this.repo && this.draft.draw(may, !!plan);
    const below = [whyNot(this.store, "manage"), this.draft.session || !may ? draft : draft && fold("plan-drafts", "Have an agent draft a plan", draft),
      may && this.repo && fold("plan-adds", "Add a task", adder((body) => this.act("/plan/add", { ...body, repo: this.repo }, "add")))];
    if (!plan) return redraw(this.body, h("p", { class: "faint pre" }, this.why), ...below);
    const done = plan.tasks.filter((/** @type {any} */ task) => task.state === "succeeded").length;
    const runs = plan.tasks.some((/** @type {any} */ task) => task.run?.moves);
    const id = plan.tasks.find((/** @type {any} */ task) => task.run)?.run.plan;
    const told = [`${done} of ${plan.tasks.length} done`, plan.branch, plan.paused ? `paused: ${plan.paused}` : ""];
    redraw(this.body,
      h("div", { class: "head" },
        h("div", { class: "title" }, h("h3", null, plan.title ?? "Tasks"), h("p", { class: "faint" }, told.filter(Boolean).join(" \u00b7 "))),
        h("div", { class: "buttons" },
          runs && id
            ? h("button", { id: "plan-pause", class: "outline", disabled: !may || !!this.doing,
                onclick: () => this.act("/plan/pause", { plan: id }, "pause") }, icon("pause"), "Pause")
            : form({ class: "inline", id: "plan-pace" }, ({ jobs, review }) => this.act("/plan/execute", { repo: this.repo, jobs: jobs && Number(jobs), review: review === "on" || undefined }, "execute"),
              h("label", { class: "check" }, "At a time", h("input", { type: "number", name: "jobs", min: "1", max: "99", placeholder: "1" })),
              h("label", { class: "check" }, h("input", { type: "checkbox", name: "review" }), "I review each"),
              h("button", { type: "submit", id: "plan-execute", class: "filled", disabled: !may || (plan.done && !plan.tasks.some((/** @type {any} */ task) => task.ready)) || !!this.doing }, icon("play"), "Execute")))),
      h("progress", { max: plan.tasks.length || 1, value: done, "aria-label": `${done} of ${plan.tasks.length} tasks are done` }),
      h("div", { class: "board" }, ...COLUMNS.map(([text]) => this.column(String(text), plan.tasks.filter((/** @type {any} */ task) => columnOf(stateOf(task)) === text), may))),
      ...below);
  }

  /** @param {string} text @param {any[]} tasks @param {boolean} may */
  column(text, tasks, may) {
    return tasks.length > 0 && h("section", { "aria-label": text }, h("h3", null, text, " ", h("span", { class: "faint" }, tasks.length)),
      h("ul", { class: "tasks" }, ...tasks.map((task) => this.task(task, may))));
  }

  /** @param {any} task @param {boolean} may */
  task(task, may) {
    const state = stateOf(task);
    const { run } = task;
    const told = [state, task.needs?.length ? `needs ${task.needs.join(", ")}` : "", task.agent ?? ""];
    const again = run && !run.moves && ["paused", "interrupted", "failed", "waiting"].includes(state);
    const edits = this.editing?.id === task.id;
    const of = () => ({ repo: this.repo, task: task.id });
    const button = (/** @type {string} */ what, /** @type {string} */ label, /** @type {() => any} */ onclick, more = {}) =>
      h("button", { id: `task-${task.id}-${what}`, class: "small", disabled: !may, onclick, ...more }, label);
    const ruling = (/** @type {string} */ label, verb = label.toLowerCase()) => button(verb, label,
      () => confirm(`${label} ${task.id}?`) && this.act(`/tasks/${verb}`, of(), verb));
    return h("li", { id: `task-${task.id}`, class: `task is-${state}${columnOf(state) === "Needs you" ? " needs" : ""}` },
      h("span", { class: "mark", "aria-hidden": "true" }, MARKS[state] ?? "-"),
      h("div", { class: "grow" },
        h("p", null, run?.session ? h("a", { href: `#/s/${run.session}` }, task.id) : h("b", null, task.id), task.title ? ` ${task.title}` : ""),
        h("p", { class: "faint" }, told.filter(Boolean).join(" \u00b7 ")),
        task.proposed && h("p", { class: "pre" }, inSight([task.prompt, task.accept && `accept: ${task.accept}`].filter(Boolean).join("\n"))),
        run?.asks && h("p", { class: "pre" }, inSight(run.asks)),
        run?.doubt && h("p", { class: "pre bad" }, run.doubt),
        edits && editor(this.editing,
          (body) => this.act("/plan/edit", { ...body, repo: this.repo }, "change"),
          () => confirm(`Take ${task.id} out of the plan?`) && this.act("/plan/rm", { repo: this.repo, id: task.id }, "remove"),
          () => { this.editing = null; this.draw(); })),
      button("edit", "Edit", () => { this.editing = this.editing?.id === task.id ? null : task; this.draw(); },
        { "aria-expanded": String(edits), "aria-label": `Edit ${task.id}` }),
      task.proposed && button("approve", "Approve", () => this.act("/plan/approve", { repo: this.repo, id: task.id }, "approve")),
      ...(again && (run.unmerged || run.fault) ? RULINGS : []).map((label) => ruling(label)),
      again && button("resume", "Resume", () => this.act("/tasks/resume", of(), "resume")),
      run && button("restart", "Restart",
        () => confirm(`Begin ${task.id} anew, from its prompt?`) && this.act("/tasks/restart", { ...of(), yes: true }, "restart"),
        { disabled: !may || run.moves }));
  }

  /** Does something, and looks at the plan again; without a path only that.
   * @param {string} path @param {Record<string, any>} body @param {string} lead what it is, in words */
  async act(path, body, lead) {
    if (!path) return this.read();
    if (this.doing) return null;
    this.doing = path;
    this.draw();
    try {
      return await (MAKES.includes(path) || path.endsWith("/send") ? make(path, body) : post(path, body)) ?? {};
    } catch (fault) {
      complain(lead, fault);
      return null;
    } finally {
      this.doing = "";
      // Who waits for the outcome does not wait for this: what is typed meanwhile would be taken for what was sent.
      this.read();
    }
  }

  /** Something has happened: to a plan, or to a session that works on a task. @param {{session?: string, event?: any}} what */
  take(what) {
    const { event } = what;
    // The session that drafts is looked at when it was read anew, since its status tells whether there is a draft.
    const drafts = what.session && what.session === this.draft.session && !event;
    if (drafts || (event && (!event.session || this.store.sessions.get(event.session)?.task))) this.read();
  }

  // What every view has.
  drawLetters() {}
  pause() {}
  resume() {}
  step() {}

  close() {
    this.closed = true;
  }
}
