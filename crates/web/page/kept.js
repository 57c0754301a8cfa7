// @ts-check
/** What this browser keeps for the page, over a reload. */

/** @param {string} place @param {any} otherwise */
export function kept(place, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(place) ?? "") ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} place @param {any} value */
export function keep(place, value) {
  try {
    localStorage.setItem(place, JSON.stringify(value));
  } catch {
    // A browser without room keeps it for as long as the page is open.
  }
}
