// @ts-check
/** Messages on their way. Each has its key when it is typed, and stays here until the daemon has it. */

import { Refused, newKey, post } from "./api.js";
import { keep, kept } from "./kept.js";

const PLACE = "glis.outbox";
const DRAFTS = "glis.drafts";
/** For so long it is said that a message has arrived. */
const DELIVERED_MS = 2500;

/**
 * @typedef {object} Letter
 * @property {string} key
 * @property {string} session its id
 * @property {string} text
 * @property {"sending" | "stored" | "delivered" | "unknown" | "refused"} state
 * @property {number} [message] its number, once it is stored
 * @property {string} [why]
 */

export class Outbox {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Letter[]} */
    this.letters = kept(PLACE, []);
    /** @type {Record<string, string>} */
    this.drafts = kept(DRAFTS, {});
    this.posting = new Set();
    /** Messages that have arrived: an event may be faster than the answer that tells a message's number. @type {Set<string>} */
    this.arrived = new Set();
  }

  /** @param {string} session */
  of(session) {
    return this.letters.filter((letter) => letter.session === session);
  }

  /** @param {string} session @param {string} text */
  send(session, text) {
    this.letters.push({ key: newKey(), session, text, state: "sending" });
    this.draft(session, "");
    this.save();
    this.flush();
  }

  /** Sends what is not known to be stored. Under its key nothing is stored twice. */
  async flush() {
    for (const letter of this.letters.filter((one) => one.state === "sending")) {
      if (this.posting.has(letter.key)) continue;
      this.posting.add(letter.key);
      try {
        const stored = await post(`/sessions/${letter.session}/send`, { text: letter.text }, letter.key);
        Object.assign(letter, { state: "stored", message: stored.message });
        if (this.arrived.has(`${letter.session} ${stored.message}`)) this.deliver(letter);
      } catch (fault) {
        if (fault instanceof Refused && fault.status < 500) {
          Object.assign(letter, { state: "refused", why: fault.message });
        } else if (fault instanceof Refused && fault.status === 500) {
          Object.assign(letter, { state: "unknown", why: fault.message });
        }
        // Not reached: it stays, and is sent again when the connection is back.
      } finally {
        this.posting.delete(letter.key);
      }
      this.save();
    }
  }

  /** An event tells that a message has arrived. @param {any} event */
  take(event) {
    if (event.event !== "message_taken") return;
    if (this.posting.size) this.arrived.add(`${event.session} ${event.message}`);
    const found = this.letters.find(
      (one) => one.session === event.session && one.message === event.message && one.state === "stored",
    );
    if (found) this.deliver(found);
  }

  /** It is in the conversation now. @param {Letter} letter */
  deliver(letter) {
    letter.state = "delivered";
    this.save();
    setTimeout(() => this.forget(letter.key), DELIVERED_MS);
  }

  /** @param {string} key */
  forget(key) {
    this.letters = this.letters.filter((letter) => letter.key !== key);
    this.save();
  }

  /** Tries one again that was refused or of which it is not known. @param {string} key */
  retry(key) {
    const letter = this.letters.find((one) => one.key === key);
    if (!letter) return;
    // What was refused was not stored: it is another attempt. What is unknown keeps its key.
    if (letter.state === "refused") letter.key = newKey();
    letter.state = "sending";
    this.save();
    this.flush();
  }

  /** @param {string} session @param {string} text */
  draft(session, text) {
    if (text) this.drafts[session] = text;
    else delete this.drafts[session];
    keep(DRAFTS, this.drafts);
  }

  save() {
    if (!this.posting.size) this.arrived.clear();
    // What is stored is the daemon's, and only watched here for as long as the page is open.
    keep(PLACE, this.letters.filter((letter) => letter.state !== "delivered" && letter.state !== "stored"));
    this.changed();
  }
}
