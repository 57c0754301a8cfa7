// @ts-check
/** Shortcuts. They can be changed, because browsers keep some for themselves. */

const PLACE = "glis.keys";

/** @type {Record<string, {keys: string, about: string}>} */
export const USUAL = {
  "pause-workspace": { keys: "mod+shift+p", about: "Pause current workspace" },
  "resume-workspace": { keys: "mod+shift+r", about: "Resume current workspace" },
  "next-session": { keys: "alt+arrowdown", about: "Next session" },
  "previous-session": { keys: "alt+arrowup", about: "Previous session" },
  "write-message": { keys: "alt+m", about: "Write a message" },
  "filter": { keys: "/", about: "Filter the sessions" },
  "go-to": { keys: "mod+k", about: "Go anywhere, or do something" },
  "allow": { keys: "a", about: "Allow what is asked" },
  "deny": { keys: "d", about: "Deny what is asked, with a reason" },
  "next-file": { keys: "]", about: "Next file of the changes" },
  "previous-file": { keys: "[", about: "Previous file" },
  "next-hunk": { keys: "n", about: "Next change" },
  "previous-hunk": { keys: "p", about: "Previous change" },
  "seen": { keys: "v", about: "This file was looked at, or not" },
  "keys": { keys: "?", about: "All keys" },
};

/** What browsers are known to take before a page gets it. */
export const TAKEN = {
  "mod+shift+p": "Firefox opens a private window",
  "mod+shift+r": "Chrome and Firefox reload the page",
};

/** The keys of every action. @returns {Record<string, string>} */
export function bindings() {
  let own = {};
  try {
    own = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
  } catch {
    // The usual ones, then.
  }
  const all = Object.entries(USUAL).map(([action, { keys }]) => [action, own[action] ?? keys]);
  return Object.fromEntries(all);
}

/** Gives an action its keys, unless another one has them: that is told. @param {string} action @param {string} keys */
export function bind(action, keys) {
  const all = bindings();
  const other = Object.keys(all).find((one) => one !== action && all[one] === keys);
  if (!other) localStorage.setItem(PLACE, JSON.stringify({ ...all, [action]: keys }));
  return other;
}

/** Keys as a person reads them. @param {string} keys */
export const written = (keys) => keys.replace("mod", /Mac|iP/.test(navigator.platform) ? "cmd" : "ctrl");

/** What was pressed, in the same words. @param {KeyboardEvent} event */
export function pressed(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("mod");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey) parts.push("shift");
  parts.push(event.key.toLowerCase());
  return parts.join("+");
}

/** @param {Record<string, () => void>} actions */
export function listen(actions) {
  document.addEventListener("keydown", (event) => {
    const keys = pressed(event);
    const alone = !event.ctrlKey && !event.metaKey && !event.altKey;
    // Of some keyboards a sign needs Shift.
    const found = Object.entries(bindings()).find(([, bound]) => bound === keys || (alone && bound === event.key));
    const act = found && actions[found[0]];
    // What is typed is no shortcut.
    const typed = alone && (event.defaultPrevented || /** @type {Element} */ (event.target).closest?.("input, textarea, select, dialog, .screen"));
    if (!act || typed) return;
    event.preventDefault();
    act();
  });
}
