// @ts-check
/** Messages on their way. Each has its key when it is typed, and stays here until the daemon has it: whichever tab
 * lives sends it, those of a session one after the other in the order in which they were typed. */

import { Refused, newKey, pathOf, post } from "./api.js";
import { DRAFT, LETTER, keep, kept, keptUnder } from "./kept.js";

/** For so long it is said that a message has arrived. */
const DELIVERED_MS = 2500;
/** The server answers within five seconds; a connection that is dead never tells so. */
const ANSWER_MS = 30000;
/** A slow connection takes so many characters in a millisecond. */
const SLOW_CHARS = 10;
/** Before one that could not be sent is sent again; longer each time. */
const AGAIN_MS = [1000, 2000, 5000, 10000, 30000];

/**
 * @typedef {object} Letter
 * @property {string} key
 * @property {string} session its id
 * @property {string} text
 * @property {"sending" | "stored" | "delivered" | "unknown" | "refused"} state
 * @property {number} at when it was typed; no two have the same
 * @property {boolean} [kept] whether other tabs know of it
 * @property {number} [message] its number, once it is stored
 * @property {string} [why]
 */

/** Whether the daemon may not have it yet. @param {Letter} letter */
const waits = (letter) => letter.state !== "stored" && letter.state !== "delivered";

export class Outbox {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Map<string, Letter>} */
    this.letters = new Map();
    /** Sessions of which a letter is under way. @type {Set<string>} */
    this.posting = new Set();
    /** How often the next letter of a session has failed, and when it is tried again. @type {Map<string, {tries: number, timer: number}>} */
    this.failed = new Map();
    /** Messages that have arrived: an event may be faster than the answer that tells a message's number. @type {Set<string>} */
    this.arrived = new Set();
    this.look();
    window.addEventListener("storage", (told) => {
      if (!told.key?.startsWith(LETTER)) return;
      this.look();
      this.changed();
      for (const session of this.waiting()) if (!this.failed.has(session)) this.sendAll(session);
    });
  }

  /** Reads what all tabs keep. What another one has sent is not kept any more. */
  look() {
    const all = new Map(keptUnder(LETTER).filter(([, letter]) => letter));
    for (const [key, letter] of this.letters) {
      if (letter.kept && waits(letter) && !all.has(key)) this.letters.delete(key);
    }
    for (const [key, letter] of all) this.letters.set(key, Object.assign(this.letters.get(key) ?? {}, letter, { kept: true }));
  }

  /** @param {string} session */
  of(session) {
    return [...this.letters.values()].filter((letter) => letter.session === session).sort((a, b) => a.at - b.at);
  }

  /** @param {string} session @param {string} text */
  send(session, text) {
    const last = Math.max(0, ...[...this.letters.values()].map((letter) => letter.at));
    this.put({ key: newKey(), session, text, state: "sending", at: Math.max(Date.now(), last + 1) });
    this.draft(session, "");
    this.sendAll(session);
  }

  /** Keeps a letter as it is now. @param {Letter} letter */
  put(letter) {
    this.letters.set(letter.key, letter);
    // What is stored is the daemon's, and only watched here for as long as the page is open.
    letter.kept = keep(LETTER + letter.key, waits(letter) && letter) && waits(letter);
    this.changed();
  }

  /** Sessions for which letters wait. */
  waiting() {
    return new Set([...this.letters.values()].filter((one) => one.state === "sending").map((one) => one.session));
  }

  /** Sends what is not known to be stored. Under its key nothing is stored twice. */
  flush() {
    for (const session of this.waiting()) this.sendAll(session);
  }

  /** Sends the letters of a session, unless that is being done. @param {string} session */
  async sendAll(session) {
    if (this.posting.has(session)) return;
    this.posting.add(session);
    clearTimeout(this.failed.get(session)?.timer);
    const work = async () => {
      for (;;) {
        this.look();
        const next = this.of(session).find((letter) => letter.state === "sending");
        if (!next || !await this.post(next)) return;
      }
    };
    // One tab at a time; a browser that has no locks sends twice at worst, and what is sent twice is stored once.
    await (navigator.locks ? navigator.locks.request(`${LETTER}${session}`, work) : work());
    this.posting.delete(session);
    if (!this.posting.size) this.arrived.clear();
    this.changed();
  }

  /** Sends one letter. Whether the next may go. @param {Letter} letter */
  async post(letter) {
    const { session } = letter;
    try {
      const stored = await post(pathOf`/sessions/${session}/send`, { text: letter.text }, letter.key,
        AbortSignal.timeout(ANSWER_MS + letter.text.length / SLOW_CHARS));
      this.put(Object.assign(letter, { state: "stored", message: stored.message, why: undefined }));
      if (this.arrived.has(`${session} ${stored.message}`)) this.deliver(letter);
    } catch (fault) {
      const { message } = /** @type {Error} */ (fault);
      // It may have been discarded meanwhile.
      if (!this.letters.has(letter.key)) return true;
      if (!(fault instanceof Refused) || fault.status > 500) {
        this.put(Object.assign(letter, { why: message }));
        const tries = this.failed.get(session)?.tries ?? 0;
        const wait = AGAIN_MS[Math.min(tries, AGAIN_MS.length - 1)];
        this.failed.set(session, { tries: tries + 1, timer: setTimeout(() => this.sendAll(session), wait) });
        return false;
      }
      this.put(Object.assign(letter, { state: fault.status === 500 ? "unknown" : "refused", why: message }));
    }
    this.failed.delete(session);
    return true;
  }

  /** An event tells that a message has arrived. @param {any} event */
  take(event) {
    if (event.event !== "message_taken") return;
    if (this.posting.size) this.arrived.add(`${event.session} ${event.message}`);
    const found = this.of(event.session).find((one) => one.message === event.message && one.state === "stored");
    if (found) this.deliver(found);
  }

  /** It is in the conversation now. @param {Letter} letter */
  deliver(letter) {
    letter.state = "delivered";
    this.put(letter);
    setTimeout(() => this.forget(letter.key), DELIVERED_MS);
  }

  /** @param {string} key */
  forget(key) {
    const letter = this.letters.get(key);
    this.letters.delete(key);
    keep(LETTER + key, null);
    this.changed();
    // What waits behind it need not wait any longer.
    if (letter?.state === "sending") this.sendAll(letter.session);
  }

  /** Tries one again that was refused, or of which it is not known, or that was not sent yet. @param {string} key */
  retry(key) {
    const letter = this.letters.get(key);
    if (!letter) return;
    if (letter.state === "refused") {
      // What was refused was not stored: it is another attempt. What is unknown keeps its key.
      this.letters.delete(key);
      keep(LETTER + key, null);
      letter.key = newKey();
    }
    this.put(Object.assign(letter, { state: "sending", why: undefined }));
    this.sendAll(letter.session);
  }

  /** What was typed for a session and not sent. @param {string} session @returns {string} */
  drafted(session) {
    return kept(DRAFT + session, "");
  }

  /** @param {string} session @param {string} text */
  draft(session, text) {
    keep(DRAFT + session, text);
  }
}
