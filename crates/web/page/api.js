// @ts-check
/** Calls to the server that served this page. It proves first that it is the one which paired this browser, and gives a
 * ticket for the browser's secret; every call shows that ticket. */

import { keep, kept } from "./kept.js";

/** A failure, as the command line tells it. */
export class Refused extends Error {
  /** @param {number} status @param {{kind?: string, message?: string, hint?: string | null}} error */
  constructor(status, error) {
    super(error.message ?? `the server answered ${status}`);
    this.status = status;
    this.kind = error.kind ?? "failed";
    this.hint = error.hint ?? null;
  }
}

/** What went wrong, of one or the first of several. @param {any} document */
const faultIn = (document) => (Array.isArray(document) ? document.find((one) => one?.error) : document)?.error ?? {};

/** Nothing came back: whether it was done is not known. */
export class Unreached extends Error {}

/** Asks without a ticket. @param {string} path @param {RequestInit} [options] */
async function ask(path, options = {}) {
  let response, text;
  try {
    response = await fetch(path, { ...options, cache: "no-store" });
    text = await response.text();
  } catch {
    throw new Unreached("the server cannot be reached");
  }
  let document = null;
  try {
    document = text ? JSON.parse(text) : null;
  } catch {
    throw new Unreached("the answer was cut off");
  }
  if (!response.ok) throw new Refused(response.status, faultIn(document));
  return document;
}

/** Asks with a ticket. @param {string} path @param {RequestInit} [options] */
async function call(path, options = {}) {
  for (let again = true; ; again = false) {
    const headers = { ...options.headers, "X-Glis-Ticket": await enter() };
    try {
      return await ask(path, { ...options, headers });
    } catch (fault) {
      const refused = fault instanceof Refused && fault.status === 401;
      // Whoever answers next may be another one.
      if (refused || fault instanceof Unreached) leave();
      // The server that gave the ticket may have ended, and another one of ours runs.
      if (!refused || !again) throw fault;
    }
  }
}

/** A path with names in it: whatever one holds, it stays one part. Dots alone are a way up, however they are written.
 * @param {TemplateStringsArray} strings @param {...string} names */
export function pathOf(strings, ...names) {
  if (names.some((name) => /^\.{0,2}$/.test(name))) throw new Refused(404, { kind: "not_found", message: "there is nothing of this name" });
  return String.raw({ raw: strings }, ...names.map(encodeURIComponent));
}

/** A connection that died while the machine slept never answers.
 * @param {string} path @param {Record<string, any>} [query] @param {number} [within] milliseconds */
export function get(path, query = {}, within = 60000) {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(pairs.map(([k, v]) => [k, String(v)])).toString();
  return call(`/api/v1${path}${text ? `?${text}` : ""}`, { signal: AbortSignal.timeout(within) });
}

/** A read that is never under way twice: asked for meanwhile, it is done once more, until nobody wants it.
 * @param {() => Promise<void>} once @param {() => boolean} ended */
export function onAndOn(once, ended) {
  let [stale, reading] = [false, false];
  return async () => {
    stale = true;
    if (reading) return;
    reading = true;
    while (stale && !ended()) {
      stale = false;
      await once();
    }
    reading = false;
  };
}

/** @param {string} path @param {Record<string, any>} [body] @param {string} [key] @param {AbortSignal} [signal] ends the waiting */
export function post(path, body = {}, key = newKey(), signal) {
  const said = saying(body, signal);
  return call(`/api/v1${path}`, { ...said, headers: { ...said.headers, "Idempotency-Key": key } });
}

/** What brings something to the server. @param {Record<string, any>} body @param {AbortSignal} [signal] */
const saying = (body, signal) => ({
  method: "POST", signal, headers: { "Content-Type": "application/json", "X-Glis": "1" }, body: JSON.stringify(body),
});

/** Whoever asks for the same again so long after an answer was lost means another one. */
const SAME_MS = 600000;

/**
 * As `post`, for what makes something: until there is an answer it is the same change, however often it is asked
 * for, also after a reload. @param {string} path @param {Record<string, any>} body
 */
export async function make(path, body) {
  const place = `glis.make ${path} ${JSON.stringify(body)}`;
  const [at, former] = (sessionStorage.getItem(place) ?? "").split(" ");
  const key = Date.now() - Number(at) < SAME_MS && former ? former : newKey();
  try {
    sessionStorage.setItem(place, `${Date.now()} ${key}`);
  } catch {
    // Too long for a browser to keep: then each press is another change.
  }
  const made = post(path, body, key);
  await made.catch((fault) => { if (!(fault instanceof Refused) || fault.status > 500) throw fault; });
  sessionStorage.removeItem(place);
  return made;
}

/** @typedef {{id: string, secret: string, server_key: string}} Device what a browser was given when it was paired */

/** Where it is kept: for this scheme, name and port alone. A cookie would go to every port of the name. */
const DEVICE = "glis.device";
/** What a page of an older version kept beside its cookie. */
const FORMER = "glis.server";
/** A server that is there answers sooner. */
const ENTER_MS = 10000;

/** For a browser that keeps nothing. @type {Device | null} */
let device = null;
/** Counts with the server that gave it, for as long as that runs. @type {Promise<string> | null} */
let ticket = null;

/** Brings the code of a link. @param {string} code */
export async function pair(code) {
  const { id, secret, server_key } = await ask("/pair", saying({ code }));
  device = { id, secret, server_key };
  keep(DEVICE, device);
  keep(FORMER, null);
  leave();
}

/** This browser is to be known no more. */
export async function forget() {
  await post("/device/forget");
  keep(DEVICE, null);
}

/** The ticket; where there is none, who answers proves first that it is our server. @param {AbortSignal} [signal]
 * @param {number} [times] so often at once it is asked for the proof */
export function enter(signal, times = 1) {
  if (ticket) return ticket;
  const fresh = letIn(signal ?? AbortSignal.timeout(ENTER_MS), times);
  ticket = fresh;
  fresh.catch(() => { if (ticket === fresh) ticket = null; });
  return fresh;
}

/** The connection is lost, and with it the knowledge of who answers. */
export const leave = () => { ticket = null; };

/** @param {AbortSignal} signal @param {number} times @returns {Promise<string>} */
async function letIn(signal, times) {
  /** @type {Device | null} */
  const known = kept(DEVICE, device);
  if (!known) {
    const older = localStorage.getItem(FORMER) !== null;
    throw new Refused(401, older ? { kind: "older", message: "It was paired by an older version of glis. Pair it again." } : {});
  }
  const proofs = Array.from({ length: times }, () => prove(known, signal));
  await Promise.any(proofs).catch(({ errors: [first] }) => { throw first; });
  return (await ask("/ticket", saying({ secret: known.secret }, signal))).ticket;
}

/** Fails unless the server is the one that paired this browser, at this very address: another account of the machine may
 * have taken the port, and ask our server elsewhere what to answer. @param {Device} known @param {AbortSignal} signal */
async function prove({ id, server_key: key }, signal) {
  if (!crypto.subtle) throw new Unreached("this browser cannot tell who answers here; open the page by HTTPS");
  const nonce = newKey();
  const answer = await ask(pathOf`/proof?device=${id}&nonce=${nonce}`, { signal }).catch((fault) => { if (fault instanceof Unreached) throw fault; });
  const wanted = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${key} ${location.origin} ${nonce}`));
  if (answer?.proof !== hex(new Uint8Array(wanted))) throw new Unreached("another server answers here, or yours cannot read its devices");
}

/** Names a change: repeated under it, it is made once. */
export function newKey() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
