// @ts-check
/** A session that begins, or a loop: what is to be done, where, by which agent, and within which bounds. */

import { get, make } from "./api.js";
import { complain, fill, form, given, h, headline, whyNot } from "./dom.js";
import { keep, kept } from "./kept.js";

/** What is not started yet, as far as it was typed. */
const NEW = "glis.new";
/** Any program, in place of an agent. */
const PROGRAM = "command";

/** @typedef {{agents: {name: string, installed: boolean, usual: boolean}[], personas: {name: string}[]}} Choices */

/** @param {import("./store.js").Store} store @param {Choices} choices */
const known = (store, choices) => {
  const agents = choices.agents.filter((one) => one.installed && one.name !== PROGRAM).map((one) => one.name);
  const usual = choices.agents.find((one) => one.usual)?.name;
  const used = [...store.sessions.values()].map(({ agent }) => agent).filter((agent) => agent !== PROGRAM);
  return { agents: [...new Set([usual, ...agents, ...used])].filter(Boolean), usual };
};

/** What is asked of the server. @param {Record<string, any>} typed @returns {[string, Record<string, any>]} */
function asked({ again, max, until, max_cost, other, agent, program, headless, auto_yes, ...session }) {
  const body = { ...session, headless: headless === "on" || undefined, auto_yes: auto_yes === "on" || undefined,
    agent: agent === "other" ? other : agent || undefined, argv: agent === PROGRAM ? program?.split(/\s+/) : undefined };
  const bounds = { max: max && Number(max), until, max_cost: max_cost && Number(max_cost) };
  return again === "on" ? ["/loops", { ...body, ...bounds }] : ["/sessions", body];
}

/** @param {HTMLElement} place @param {import("./store.js").Store} store */
export async function drawNew(place, store) {
  const { hash } = location;
  // Without an answer everything can be typed all the same.
  const choices = await get("/choices").catch(() => ({ agents: [], personas: [] }));
  if (location.hash === hash) draw(place, store, choices);
}

/** @param {HTMLElement} place @param {import("./store.js").Store} store @param {Choices} choices */
function draw(place, store, choices) {
  const typed = kept(NEW, {});
  const repos = [...new Set([...store.sessions.values()].map((session) => session.repo_root))];
  const { agents, usual } = known(store, choices);
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ more = {}) =>
    h("label", null, label, h("input", { name, id: `new-${name}`, autocomplete: "off", ...more, value: typed[name] ?? more.value }));
  const tick = (/** @type {string} */ name, /** @type {string} */ label) =>
    h("label", { class: "check" }, h("input", { type: "checkbox", name, id: `new-${name}`, checked: typed[name] === "on" }), label);
  const choice = (/** @type {string} */ value, /** @type {string} */ text) => h("option", { value, selected: typed.agent === value }, text);
  const program = field("program", "Program, with what it is given");
  const other = field("other", "Its name");
  const bounds = h("div", { class: "pair" }, field("max", "At most so often", { type: "number", min: "1" }),
    field("until", "Until this shell line succeeds"), field("max_cost", "At most so many dollars", { type: "number", min: "0", step: "any" }));
  /** What goes with what was chosen. */
  const settle = () => {
    const { agent, again } = given(wanted);
    program.hidden = agent !== PROGRAM;
    other.hidden = agent !== "other";
    bounds.hidden = again !== "on";
    keep(NEW, given(wanted));
  };
  const wanted = form({ class: "form", oninput: () => settle() }, async (session) => {
    try {
      const made = await make(...asked(session));
      keep(NEW, null);
      location.hash = `#/s/${made.id}`;
    } catch (fault) {
      complain("start", fault);
    }
  },
    h("label", null, "First message", h("textarea", { name: "prompt", rows: "4", id: "new-prompt", value: typed.prompt })),
    field("repo", "Repository (a folder of the machine)", { required: true, value: repos[0] ?? "", list: "repos" }),
    h("div", { class: "pair" },
      h("label", null, "Agent", h("select", { name: "agent", id: "new-agent" }, choice("", usual ? `As configured: ${usual}` : "As configured"),
        ...agents.map((agent) => choice(agent, agent)), choice("other", "Another agent\u2026"), choice(PROGRAM, "Any program\u2026"))),
      program, other, field("name", "Name", { placeholder: "made from the message" })),
    h("datalist", { id: "personas" }, ...choices.personas.map(({ name }) => h("option", { value: name }))),
    h("datalist", { id: "repos" }, ...repos.map((repo) => h("option", { value: repo }))),
    tick("again", "As a loop: the same message again and again"), bounds,
    h("details", { class: "fold", open: ["base", "model", "persona", "budget"].some((name) => typed[name]) }, h("summary", null, "More"), h("div", { class: "form" },
      h("div", { class: "pair" }, field("base", "Begins from (a branch or commit)"), field("model", "Model"), field("persona", "Persona, of the configuration", { list: "personas" }),
        field("budget", "Budget", { placeholder: "usd=5, tokens=200k, time=2h" })),
      tick("auto_yes", "Have rules answer what it asks"), tick("headless", "Without a terminal"))),
    h("button", { type: "submit", class: "filled", disabled: !store.may("manage") }, "Start"));
  settle();
  fill(place, headline("New session"), whyNot(store, "manage") || "", wanted);
}
