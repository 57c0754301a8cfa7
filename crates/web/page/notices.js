// @ts-check
/** Tells of what a person waits for while the page is open and not looked at. */

import { inSight } from "./dom.js";

/** @typedef {Record<string, any>} Session */

/** What is told of a session that was like `former` and is like `session` now: title, text, and where a click
 * leads. @param {Session | undefined} former @param {Session} session @returns {[string, string, string][]} */
function news(former, session) {
  const known = new Set((former?.asks ?? []).map((/** @type {any} */ ask) => ask.request));
  const fresh = (session.asks ?? []).filter((/** @type {any} */ ask) => !known.has(ask.request));
  const asked = fresh.map((/** @type {any} */ ask) => [`${session.name} asks`, ask.text, "#/asks"]);
  if (!former || former.status === session.status) return asked;
  const place = `#/s/${session.id}`;
  if (["failed", "interrupted"].includes(session.status)) {
    return [...asked, [`${session.name} has failed`, session.failure ?? "", place]];
  }
  if (former.status === "busy" && ["idle", "completed"].includes(session.status)) {
    return [...asked, [`${session.name} is done`, session.last_action ?? "", place]];
  }
  return asked;
}

/** Tells it. @param {Session | undefined} former @param {Session} session */
export function notify(former, session) {
  if (session.snoozed_until || !("Notification" in window) || Notification.permission !== "granted" || document.visibilityState === "visible") return;
  for (const [title, body, place] of news(former, session)) {
    try {
      const shown = new Notification(inSight(title), { body: inSight(body), tag: `${session.id} ${title} ${body}` });
      shown.onclick = () => {
        window.focus();
        location.hash = place;
        shown.close();
      };
    } catch {
      // A browser of a phone shows none for a page: there is the chat.
    }
  }
}
