// @ts-check
/** The page: who this device is, what is shown, and what the connection is like. */

import { Refused, forget, make, pair, post } from "./api.js";
import { compare, hear, leaveGone } from "./asks.js";
import { complain, fill, form, given, h, headline, icon, redraw, whyNot } from "./dom.js";
import { drawInbox } from "./inbox.js";
import { keep, kept } from "./kept.js";
import { TAKEN, USUAL, bind, bindings, listen, pressed } from "./keys.js";
import { drawList } from "./list.js";
import { notify } from "./notices.js";
import { Outbox } from "./outbox.js";
import { drawSearch, drawTrash } from "./places.js";
import { PlansView } from "./plans.js";
import { SessionView } from "./session.js";
import { Store } from "./store.js";
import { Stream } from "./stream.js";

const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
const store = new Store((former, session) => { notify(former, session); compare(former, session); });
const outbox = new Outbox(() => view?.drawLetters());
/** @type {SessionView | PlansView | null} */
let view = null;
let shown = "none yet";
/** Whether what the address names was shown: a page that is loaded while nothing answers shows it later. */
let routed = false;

const stream = new Stream({
  begin: () => store.begin(),
  beat: () => draw({}),
  event: (event) => { outbox.take(event); hear(event); store.take(event); },
  state: (state, why) => {
    const came = document.body.dataset.link !== state;
    const words = { live: "", connecting: "Connecting...", lost: `Not connected: ${why ?? ""}`, refused: "" };
    const told = words[state];
    if ($("link").textContent !== told) $("link").textContent = told;
    document.body.dataset.link = state;
    store.connected(state === "live");
    if (state === "live") {
      if (came) outbox.flush();
      if (!routed) route();
    }
    if (state === "refused") welcome(refusal || why);
  },
});

/** What this device is told that is not known here. @param {string} [why] */
function welcome(why) {
  stream.close();
  view?.close();
  [view, shown, routed] = [null, "", false];
  document.body.dataset.place = "detail";
  fill($("list"));
  fill($("gate"));
  fill($("main"),
    h("h2", null, "This device is not known here"),
    why ? h("p", { class: "bad" }, why) : "",
    h("p", null, "On the machine where glis runs, type ", h("code", null, "glis web pair --name phone --scope watch"), " and open the link. ",
      h("code", null, "send"), ", ", h("code", null, "answer"), " or ", h("code", null, "manage"), " in place of ", h("code", null, "watch"), " let it do more."));
}

/** Why the code of a link was not taken. */
let refusal = "";

/** Brings the code of a link, and takes it out of the address. */
async function start() {
  const code = /^#pair=([0-9a-z]+)$/.exec(location.hash)?.[1];
  if (code) {
    history.replaceState(null, "", "/#/");
    // Who opens an old link may be paired already: only who is not is told of the code.
    refusal = await pair(code).then(() => "", (fault) => fault.message);
  }
  await stream.start();
  refusal = "";
  route();
}

function route() {
  if (!store.device.name) return;
  routed = true;
  const [, kind, id, tab] = location.hash.split("/");
  const wanted = kind === "s" ? id : kind || "";
  document.body.dataset.place = wanted ? "detail" : "list";
  if (wanted !== shown) {
    view?.close();
    view = null;
    shown = wanted;
    leaveGone();
    if (kind === "s") view = new SessionView($("main"), store, outbox, id, tab);
    else if (kind === "new") drawNew();
    else if (kind === "plans") view = new PlansView($("main"), store);
    else if (kind === "settings") drawSettings();
    else if (kind === "search") drawSearch($("main"));
    else if (kind === "trash") drawTrash($("main"), store);
    if (wanted) $("main").focus({ preventScroll: true });
  }
  draw({});
}

/** @type {{session?: string, event?: any}[]} */
let waiting = [];

/** Draws once a frame, whatever comes. @param {{session?: string, event?: any}} what */
function draw(what) {
  // A page that is hidden draws no frames, and its title is what is seen of it.
  const asks = store.asks().length;
  document.title = asks ? `(${asks}) glis` : "glis";
  waiting.push(what);
  if (waiting.length === 1) requestAnimationFrame(drawAll);
}

function drawAll() {
  const all = waiting;
  waiting = [];
  drawList($("list"), store, shown);
  drawGate();
  if (routed && ["", "asks"].includes(shown)) drawInbox($("main"), store, outbox);
  for (const one of all) view?.take(one);
}

store.listeners.add(draw);

function drawGate() {
  const { gate, gate_waits_for: at_work = [] } = store.status;
  const may = store.may("manage");
  const act = async (/** @type {string} */ path, /** @type {string} */ lead, /** @type {Record<string, any>} */ body = {}) => {
    try {
      await post(path, body);
    } catch (fault) {
      // Who is still at work stands below the button, with what can be done about it.
      if (!(fault instanceof Refused && fault.kind === "not_safe")) complain(lead, fault);
    }
  };
  const button = gate === "running"
    ? h("button", { id: "gate-do", class: "outline", disabled: !may, "aria-label": "Pause all: every agent stops, and nothing starts",
        onclick: () => act("/pause", "pause") }, icon("pause"), "Pause all")
    : h("button", { id: "gate-do", class: "filled", disabled: !may, "aria-label": gate === "pausing" ? "Pausing all... Resume all" : "Resume all that was paused",
        onclick: () => act("/resume", "resume") }, icon("play"), gate === "pausing" ? "Pausing all... Resume" : "Resume all");
  const hasten = (/** @type {"interrupt" | "force"} */ mode, /** @type {string} */ text) => h("button", { id: `gate-${mode}`, class: "small", disabled: !may,
    onclick: () => act("/pause", "pause", { mode }) }, text);
  redraw($("gate"), button);
  $("gate-waits").hidden = gate !== "pausing" || !at_work.length;
  redraw($("gate-waits"), h("p", null, `${at_work.length} still at work: ${at_work.join(", ")}. Each pauses at the end of its turn.`),
    h("div", { class: "buttons" }, hasten("interrupt", "Interrupt"), hasten("force", "Force")));
}

/** A session that is not started yet, as far as it was typed. */
const NEW = "glis.new";

function drawNew() {
  const typed = kept(NEW, {});
  const repos = [...new Set([...store.sessions.values()].map((session) => session.repo_root))];
  const field = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Record<string, any>} */ more = {}) =>
    h("label", null, label, h("input", { name, id: `new-${name}`, autocomplete: "off", ...more, value: typed[name] ?? more.value }));
  const wanted = form({ class: "form", oninput: () => keep(NEW, given(wanted)) }, async (session) => {
    try {
      const made = await make("/sessions", { ...session, headless: session.headless === "on" || undefined });
      keep(NEW, null);
      location.hash = `#/s/${made.id}`;
    } catch (fault) {
      complain("start", fault);
    }
  },
    field("repo", "Repository (a folder of the machine)", { required: true, value: repos[0] ?? "", list: "repos" }),
    h("datalist", { id: "repos" }, ...repos.map((repo) => h("option", { value: repo }))),
    field("name", "Name (made from the prompt if empty)"),
    field("agent", "Agent (the usual one if empty)"),
    h("label", null, "First message", h("textarea", { name: "prompt", rows: "4", id: "new-prompt", value: typed.prompt })),
    h("label", { class: "check" }, h("input", { type: "checkbox", name: "headless", checked: typed.headless === "on" }), "Without a terminal"),
    h("button", { type: "submit", class: "filled", disabled: !store.may("manage") }, "Start"));
  fill($("main"), headline("New session"), whyNot(store, "manage") || "", wanted);
}

function drawSettings() {
  const leave = async () => {
    if (!confirm("Forget this device? It has to be paired again.")) return;
    await forget();
    location.reload();
  };
  const rows = Object.entries(bindings()).map(([action, keys]) => {
    const input = /** @type {HTMLInputElement} */ (h("input", { id: `key-${action}`, value: keys, readonly: true,
      "aria-label": `Keys for: ${USUAL[action].about}`,
      onkeydown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Tab" || ["Control", "Shift", "Alt", "Meta"].includes(event.key)) return;
        event.preventDefault();
        event.stopPropagation();
        bind(action, pressed(event));
        drawSettings();
      } }));
    return h("tr", null, h("td", null, USUAL[action].about), h("td", null, input), h("td", { class: "faint" }, TAKEN[keys] ?? ""));
  });
  fill($("main"), headline("This device"),
    h("p", null, `${store.device.name}, which may `, h("code", null, store.device.scope)),
    h("p", null, h("button", { class: "outline", onclick: leave }, "Forget this device"), " ",
      "Notification" in window && Notification.permission === "default" &&
        h("button", { class: "outline", onclick: () => Notification.requestPermission().then(drawSettings) }, "Notify me while this page is open")),
    h("h3", null, "Shortcuts"),
    h("p", { class: "faint" }, "Press the keys you want in a field. `mod` is Ctrl, or Cmd on a Mac."),
    h("table", null, h("thead", null, h("tr", null, h("th", null, "What"), h("th", null, "Keys"), h("th", null, "Kept by"))), h("tbody", null, ...rows)));
}

/** @param {1 | -1} step */
function move(step) {
  const all = store.ordered();
  const at = all.findIndex((session) => session.id === shown);
  const next = all[(at + step + all.length) % all.length];
  if (next) location.hash = `#/s/${next.id}`;
}

listen({
  "pause-workspace": () => view?.pause(),
  "resume-workspace": () => view?.resume(),
  "next-session": () => move(1),
  "previous-session": () => move(-1),
  "write-message": () => $("message")?.focus(),
  "filter": () => $("filter")?.focus(),
});
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // Addresses with a # are places of this page.
  event.preventDefault();
  $("main").focus();
});
window.addEventListener("hashchange", () => (location.hash.startsWith("#pair=") ? start() : route()));
start();
