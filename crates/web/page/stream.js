// @ts-check
/** The stream of events: it is counted, watched, and opened again where it was. */

import { enter, leave } from "./api.js";
import { follow } from "./source.js";
import { Tabs } from "./tabs.js";

/** The server sends a beat every 15 seconds; two that are missing mean that the connection is dead. */
export const SILENCE_MS = 35000;
/** A server that is there answers sooner; a connection that died while the machine slept never does. */
const ANSWER_MS = 5000;
/** A browser keeps so many. Those that are dead are closed when the calls over them are given up. */
const CONNECTIONS = 6;
/** Before a connection that failed is tried again; longer each time. */
const AGAIN_MS = [500, 1000, 2000, 5000, 10000];
/** A hidden tab that leads may try less often than that; then one that is looked at takes the lead. */
const LEADER_MS = 20000;
/** Not all tabs take the lead at once. */
const APART_MS = 3000;

/**
 * @typedef {object} Ears
 * @property {(event: any) => void} event something has happened
 * @property {() => void} beat nothing has happened for a while, and the connection lives
 * @property {() => Promise<{log: string, seq: number}>} begin everything is read anew; from which event on
 * @property {(state: "live" | "connecting" | "lost" | "refused", why?: string) => void} state
 */

/** Calls when the page is looked at again: a phone may have slept, and its connections with it.
 * @param {() => void} look @param {AbortSignal} [signal] */
export function onWake(look, signal) {
  for (const name of ["visibilitychange", "pageshow", "online", "focus"]) {
    const target = name === "visibilitychange" ? document : window;
    target.addEventListener(name, () => { if (document.visibilityState === "visible") look(); }, { signal });
  }
}

/** Why a device is not let in that was before, where more is known than that. @param {any} fault */
const whyRefused = ({ kind, message }) => (["expired", "older"].includes(kind) ? message : undefined);

export class Stream {
  /** @param {Ears} ears */
  constructor(ears) {
    this.ears = ears;
    /** Ends the stream that is open. @type {AbortController | null} */
    this.source = null;
    /** Whether events are followed, from this tab's stream or another's. */
    this.follows = false;
    /** What the connection is like. @type {{state: any, why?: string}} */
    this.link = { state: "connecting" };
    this.seq = 0;
    this.log = "";
    this.heard = 0;
    this.tries = 0;
    this.timer = 0;
    this.watch = 0;
    /** @type {AbortController | null} */
    this.probing = null;
    this.tabs = new Tabs({
      leads: () => this.connect(),
      follows: () => {
        this.rest();
        this.alive();
        this.tabs.tell({ ask: true });
      },
      hear: (told) => this.hear(told),
    });
    onWake(() => this.look());
    // Without a network the machine that the page is on can still be reached, and no other.
    window.addEventListener("offline", () => this.source && this.reach());
  }

  /** Reads everything, then follows. */
  async start() {
    this.close();
    this.ears.state("connecting");
    try {
      const { log, seq } = await this.ears.begin();
      [this.log, this.seq] = [log, seq];
    } catch (fault) {
      const { status, message } = /** @type {any} */ (fault);
      if (status === 401) return this.ears.state("refused", whyRefused(fault));
      return this.again(message);
    }
    this.open();
  }

  /** Goes on behind the last event that this tab has. It leads: what it has missed, the others leave out. */
  open() {
    this.rest();
    this.follows = true;
    this.alive(ANSWER_MS);
    this.tabs.lead();
  }

  connect() {
    this.rest();
    const from = `from=${this.seq + 1}&log=${encodeURIComponent(this.log)}`;
    const source = new AbortController();
    this.source = source;
    this.alive(ANSWER_MS);
    const take = (/** @type {string} */ name, /** @type {any} */ data) => {
      this.alive();
      if (name === "hello") this.tries = 0;
      if (name === "hello" || name === "found") this.tell({ state: "live" });
      else if (name === "beat") this.tell({ beat: true });
      else if (name === "anew") this.start();
      else if (name === "lost") this.tell({ state: "lost", why: data.message });
      else this.tell({ event: data });
    };
    follow(`/api/v1/events?${from}`, take, source.signal).catch(() => {
      if (this.source === source) this.again("the connection is lost");
    });
  }

  /** Tells this page, and the other tabs if they follow it. @param {any} what */
  tell(what) {
    if (this.tabs.leads) this.tabs.tell({ ...what, log: this.log, seq: this.seq });
    this.pass(what);
  }

  /** Another tab tells something. @param {any} told */
  hear(told) {
    if (this.tabs.leads && told.ask) this.tabs.tell({ ...this.link, log: this.log, seq: this.seq });
    if (this.tabs.leads || !this.follows || told.ask) return;
    if (told.log !== this.log) return this.start();
    // Before it this tab has missed something.
    if (told.seq > this.seq) return this.open();
    this.pass(told);
    const waits = this.link.state === "lost" && document.visibilityState === "visible";
    this.alive(waits ? LEADER_MS : SILENCE_MS);
  }

  /** @param {{event?: any, beat?: boolean, state?: any, why?: string}} what */
  pass({ event, beat, state, why }) {
    if (beat) return this.ears.beat();
    // Each number once, whatever comes twice.
    if (event && event.seq <= this.seq) return;
    this.link = event ? { state: "live" } : { state, why };
    if (this.link.state === "lost") leave();
    this.ears.state(this.link.state, why);
    if (!event) return;
    this.seq = event.seq;
    this.ears.event(event);
  }

  /** The connection lives; something has to come in time. @param {number} [within] */
  alive(within = SILENCE_MS) {
    this.heard = Date.now();
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      if (this.tabs.leads) this.again("nothing was heard for a while");
      else this.resume();
    }, within + (this.tabs.leads ? 0 : Math.random() * APART_MS));
  }

  look() {
    const lost = this.link.state === "lost" || Date.now() - this.heard > SILENCE_MS / 2;
    if (this.timer || this.probing || (this.follows && lost)) this.resume();
  }

  /** @param {string} why */
  again(why) {
    this.rest();
    this.tell({ state: "lost", why });
    const wait = AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)];
    this.tries += 1;
    this.timer = setTimeout(() => this.resume(), wait);
  }

  /** Goes on where it was; who was never there begins. A device that was revoked does not try for ever. */
  async resume() {
    this.rest();
    if (!(await this.reach())) return;
    if (this.log) this.open();
    else this.start();
  }

  /** Whether the server lets us in; if not, that is told. A former look may wait for what is dead, and is given up. */
  async reach() {
    this.probing?.abort();
    const probing = new AbortController();
    this.probing = probing;
    const late = setTimeout(() => probing.abort(), ANSWER_MS);
    leave();
    /** @type {any} */
    const fault = await enter(probing.signal, CONNECTIONS).then(() => null, (found) => found);
    clearTimeout(late);
    probing.abort();
    if (this.probing !== probing) return false;
    this.probing = null;
    if (fault?.status === 401) this.tell({ state: "refused", why: whyRefused(fault) });
    else if (fault) this.again(fault.message);
    return !fault;
  }

  /** Nothing is under way. */
  rest() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.probing?.abort();
    this.source?.abort();
    [this.timer, this.probing, this.source] = [0, null, null];
  }

  close() {
    this.rest();
    this.follows = false;
    this.tabs.leave();
  }
}
