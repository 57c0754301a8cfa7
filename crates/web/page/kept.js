// @ts-check
/** What this browser keeps for the page, over a reload. Each thing has a place of its own: two tabs that kept
 * theirs in one would each write over what the other keeps. */

/** @param {string} place @param {any} otherwise */
export function kept(place, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** Whether it is kept; nothing is not. @param {string} place @param {any} value */
export function keep(place, value) {
  try {
    if (value) localStorage.setItem(place, JSON.stringify(value));
    else localStorage.removeItem(place);
    return true;
  } catch {
    // A browser without room keeps it for as long as the page is open.
    return false;
  }
}

/** All that is kept in places that begin like this. @param {string} begin @returns {[string, any][]} */
export function keptUnder(begin) {
  const places = Object.keys(localStorage).filter((place) => place.startsWith(begin));
  return places.map((place) => [place.slice(begin.length), kept(place, null)]);
}

export const LETTER = "glis.letter.";
export const DRAFT = "glis.draft.";
export const PLAN = "glis.plan.";

/** Takes over what older pages kept in one place for all tabs. A plan's draft has a path for its name. */
function takeOver() {
  kept("glis.outbox", []).forEach((/** @type {any} */ letter, /** @type {number} */ at) => keep(LETTER + letter.key, { at, ...letter }));
  for (const [name, text] of Object.entries(kept("glis.drafts", {}))) keep((name.startsWith("/") ? PLAN : DRAFT) + name, text);
  for (const place of ["glis.outbox", "glis.drafts"]) keep(place, null);
}
takeOver();
