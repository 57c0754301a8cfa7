// @ts-check
/** The page: who this device is, what is shown, and what the connection is like. */

import { Refused, forget, pair, post } from "./api.js";
import { answerByKey, compare, hear, leaveGone } from "./asks.js";
import { complain, fill, h, headline, icon, redraw, toast } from "./dom.js";
import { goTo, showKeys } from "./goto.js";
import { drawInbox } from "./inbox.js";
import { TAKEN, USUAL, bind, bindings, listen, pressed, written } from "./keys.js";
import { drawList } from "./list.js";
import { drawNew } from "./new.js";
import { notify } from "./notices.js";
import { Outbox } from "./outbox.js";
import { drawSearch, drawTrash } from "./places.js";
import { PlansView } from "./plans.js";
import { resumeAll } from "./resume.js";
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
    else if (kind === "new") drawNew($("main"), store);
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
  // Who is still at work stands below the button, with what can be done about it.
  const pause = (/** @type {Record<string, any>} */ body = {}) => post("/pause", body).catch((fault) => {
    if (!(fault instanceof Refused && fault.kind === "not_safe")) complain("pause", fault);
  });
  const button = gate === "running"
    ? h("button", { id: "gate-do", class: "outline", disabled: !may, "aria-label": "Pause all: every agent stops, and nothing starts",
        onclick: () => confirm(`Pause everything? ${store.status.limits.agents.length} run now, and nothing starts until all is resumed.`) && pause() }, icon("pause"), "Pause all")
    : h("button", { id: "gate-do", class: "filled", disabled: !may, "aria-label": gate === "pausing" ? "Pausing all... Resume all" : "Resume all that was paused",
        onclick: () => resumeAll(store) }, icon("play"), gate === "pausing" ? "Pausing all... Resume" : "Resume all");
  const hasten = (/** @type {"interrupt" | "force"} */ mode, /** @type {string} */ text) => h("button", { id: `gate-${mode}`, class: "small", disabled: !may,
    onclick: () => pause({ mode }) }, text);
  const { day } = store.status;
  $("go").dataset.press = written(bindings()["go-to"]);
  const usd = [...store.sessions.values()].reduce((sum, session) => sum + (session.cost?.usd ?? 0), 0);
  const cost = day ? `${day.used} today` : usd ? `$${usd.toFixed(2)} in all` : "";
  redraw($("gate"), h("span", { class: "faint", title: day ? "of the day's budget" : "what the listed sessions have cost" }, `${cost} `), button);
  $("gate-waits").hidden = gate !== "pausing" || !at_work.length;
  redraw($("gate-waits"), h("p", null, `${at_work.length} still at work: ${at_work.join(", ")}. Each pauses at the end of its turn.`),
    h("div", { class: "buttons" }, hasten("interrupt", "Interrupt"), hasten("force", "Force")));
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
        const other = bind(action, pressed(event));
        if (other) toast(`These keys are taken: ${USUAL[other].about}.`);
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
  "go-to": () => goTo(store),
  "allow": () => answerByKey("allow"),
  "deny": () => answerByKey("deny"),
  "next-file": () => view?.step("file", 1),
  "previous-file": () => view?.step("file", -1),
  "next-hunk": () => view?.step("hunk", 1),
  "previous-hunk": () => view?.step("hunk", -1),
  "seen": () => view?.step("tick"),
  "keys": showKeys,
});
$("go").addEventListener("click", () => goTo(store));
document.querySelector(".skip")?.addEventListener("click", (event) => {
  // Addresses with a # are places of this page.
  event.preventDefault();
  $("main").focus();
});
window.addEventListener("hashchange", () => (location.hash.startsWith("#pair=") ? start() : route()));
start();
