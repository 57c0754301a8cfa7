// @ts-check
/** Calls to the server that served this page. */

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

/** @param {string} path @param {RequestInit} [options] */
async function call(path, options = {}) {
  let response, text;
  try {
    response = await fetch(path, { ...options, credentials: "same-origin", cache: "no-store" });
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
  return call(`/api/v1${path}`, {
    method: "POST",
    signal,
    headers: { "Content-Type": "application/json", "X-Glis": "1", "Idempotency-Key": key },
    body: JSON.stringify(body),
  });
}

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

/** What the server proves itself by: the device's id and a key that both have since it was paired. */
const SERVER = "glis.server";

/** Brings the code of a link. @param {string} code */
export async function pair(code) {
  const headers = { "Content-Type": "application/json", "X-Glis": "1" };
  const device = await call("/pair", { method: "POST", headers, body: JSON.stringify({ code }) });
  localStorage.setItem(SERVER, `${device.id} ${device.server_key}`);
}

/**
 * Fails unless the server is the one that paired this device. It is asked without the cookie: another account of the
 * machine may have taken the port meanwhile. A certificate proves as much. @param {AbortSignal} signal
 */
export async function prove(signal) {
  const [device, key] = (localStorage.getItem(SERVER) ?? "").split(" ");
  if (!key || !crypto.subtle || location.protocol === "https:") return;
  const nonce = newKey();
  const answer = await fetch(`/proof?device=${device}&nonce=${nonce}`, { credentials: "omit", cache: "no-store", signal });
  if (answer.status === 404) throw new Refused(401, {});
  const { proof } = await answer.json();
  const wanted = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${key} ${nonce}`));
  if (proof !== hex(new Uint8Array(wanted))) throw new Unreached("another server answers here");
}

/** Names a change: repeated under it, it is made once. */
export function newKey() {
  return hex(crypto.getRandomValues(new Uint8Array(16)));
}

/** @param {Uint8Array} bytes */
function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
