// @ts-check
/** What is known of the house: read once, and then session by session as events tell of them. */

import { Unreached, get, pathOf } from "./api.js";

/** Before what could not be read is read again; longer each time. */
const AGAIN_MS = [1000, 2000, 5000, 10000, 30000];
/** What comes by the dozen and changes little of a session: its row follows so much later. */
const SMALL = ["tool_began", "tool_ended", "background_changed"];
const SMALL_MS = 4000;
/** A connection that is dead is not waited for. */
const READ_MS = 10000;

/** @typedef {Record<string, any>} Session */

/** The groups of sessions, those that need a person most first. */
export const NEEDS = [["you", "Needs you"], ["failed", "Failed"], ["new", "New"], ["working", "Working"], ["idle", "Idle"], ["rest", "At rest"]];

/** Whether a person has it before them. @param {string} id */
const isShown = (id) => document.visibilityState === "visible" && location.hash.startsWith(`#/s/${id}`);

export class Store {
  /** @param {(former: Session | undefined, session: Session) => void} changed */
  constructor(changed) {
    /** Hears what each session was and is, whenever it was read again. */
    this.changed = changed;
    /** @type {Map<string, Session>} */
    this.sessions = new Map();
    /** So many rest for longer than the list goes back. */
    this.more = 0;
    /** @type {Record<string, any>} */
    this.status = {};
    /** @type {Record<string, any>} */
    this.device = {};
    /** @type {Set<(what: {session?: string, event?: any}) => void>} */
    this.listeners = new Set();
    /** Sessions of which something was told since they were read. @type {Set<string>} */
    this.stale = new Set();
    this.reading = false;
    this.begun = false;
    /** Whether the stream is connected. */
    this.live = false;
    [this.tries, this.timer] = [0, 0];
    /** Sessions of which nothing but little was told, and when they are read. @type {Set<string>} */
    this.small = new Set();
    this.smallTimer = 0;
  }

  /** What could not be read is read when the connection is back. @param {boolean} live */
  connected(live) {
    if (live && !this.live) this.read();
    if (!live) clearTimeout(this.timer);
    this.live = live;
  }

  /** Reads everything. From which event on the rest is told. */
  async begin() {
    [this.device, this.status] = await Promise.all([get("/device"), get("/status")]);
    const sessions = await get("/sessions");
    const former = this.sessions;
    // What was read of one alone is more than its row.
    this.sessions = new Map(sessions.map((/** @type {Session} */ s) => [s.id, { ...former.get(s.id), ...s }]));
    this.more = Math.max(0, this.status.sessions - sessions.length);
    this.stale.clear();
    // What was there when the page was opened is no news.
    if (this.begun) for (const session of sessions) this.changed(former.get(session.id), session);
    this.begun = true;
    // A question stands with what led to it, which is in no row.
    for (const { id, asks } of sessions) if (asks.length) this.stale.add(id);
    this.read();
    this.tell({});
    return { log: this.status.log_id, seq: this.status.last_seq };
  }

  /** Something has happened. @param {any} event */
  take(event) {
    if (SMALL.includes(event.event)) this.later(event.session);
    else if (event.session) this.stale.add(event.session);
    // Whom a gate that shuts still waits for changes with each of them.
    if (!event.session || this.status.gate === "pausing") this.stale.add("");
    this.tell({ session: event.session ?? undefined, event });
    this.read();
  }

  /** Has a session read in a while. @param {string} id */
  later(id) {
    this.small.add(id);
    this.smallTimer ||= setTimeout(() => {
      for (const one of this.small) this.stale.add(one);
      this.smallTimer = 0;
      this.read();
    }, SMALL_MS);
  }

  /** Reads what is stale, one after the other: a flood of events is one look. What cannot be read stays stale. */
  async read() {
    if (this.reading) return;
    this.reading = true;
    clearTimeout(this.timer);
    const failed = new Set();
    while (this.stale.size) {
      const [id] = this.stale;
      this.stale.delete(id);
      try {
        await this.readOne(id);
      } catch (fault) {
        failed.add(id);
        // The others would not be reached either.
        if (fault instanceof Unreached) break;
      }
    }
    this.reading = false;
    for (const id of failed) this.stale.add(id);
    if (!failed.size) this.tries = 0;
    else if (this.live) {
      this.timer = setTimeout(() => this.read(), AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)]);
      this.tries += 1;
    }
  }

  /** @param {string} id */
  async readOne(id) {
    this.small.delete(id);
    if (!id) {
      this.status = await get("/status", {}, READ_MS);
      return this.tell({});
    }
    try {
      const session = await get(pathOf`/sessions/${id}`, { glance: !isShown(id) }, READ_MS);
      // By its name it would be there twice.
      if (session.status === "archived" || session.id !== id) this.sessions.delete(id);
      else {
        this.changed(this.sessions.get(id), session);
        this.sessions.set(id, session);
      }
    } catch (fault) {
      if (/** @type {any} */ (fault).status !== 404) throw fault;
      this.sessions.delete(id);
    }
    this.tell({ session: id });
  }

  /** By need; what waits for a person by the time since when, and everything else as it was made. */
  ordered() {
    const place = (/** @type {Session} */ s) => [NEEDS.findIndex(([need]) => need === s.need), !s.pinned, s.need === "you" ? s.asks?.[0]?.since ?? s.last_active_at : "", s.created_at, s.id].join(" ");
    const all = [...this.sessions.values()].map((session) => ({ session, at: place(session) }));
    return all.sort((a, b) => (a.at < b.at ? -1 : 1)).map(({ session }) => session);
  }

  /** Every open question that is for a person now, or those of one session, oldest session first. @param {string} [only] */
  asks(only) {
    const meant = (/** @type {Session} */ session) => (only ? session.id === only : !session.snoozed_until);
    return this.ordered().filter(meant).flatMap((session) =>
      (session.asks ?? []).map((/** @type {any} */ ask) => ({ session, ask })),
    );
  }

  /** Whether this device may do so much. @param {"watch" | "send" | "answer" | "manage"} scope */
  may(scope) {
    const scopes = ["watch", "send", "answer", "manage"];
    return scopes.indexOf(this.device.scope) >= scopes.indexOf(scope);
  }

  /** @param {{session?: string, event?: any}} what */
  tell(what) {
    for (const listener of this.listeners) listener(what);
  }
}
