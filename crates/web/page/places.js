// @ts-check
/** What is not a session: words in all conversations, and what was removed. */

import { get, pathOf, post } from "./api.js";
import { ago, complain, fill, form, h, headline } from "./dom.js";

/** @param {Element} place */
export function drawSearch(place) {
  const found = h("div", { role: "status" });
  const field = /** @type {HTMLInputElement} */ (h("input", { id: "words", type: "search", autocomplete: "off" }));
  const search = async () => {
    if (!field.value.trim()) return;
    fill(found, h("p", { class: "faint" }, "Searching..."));
    try {
      const hits = await get("/search", { words: field.value });
      fill(found, h("p", { class: "faint" }, hits.length === 1 ? "One place" : `${hits.length} places`), ...hits.map(hit));
    } catch (fault) {
      fill(found);
      complain("search", fault);
    }
  };
  fill(place, headline("Search all conversations"),
    form({ class: "form" }, search, h("label", null, "Words", field), h("button", { type: "submit", class: "filled" }, "Search")), found);
  field.focus();
}

/** @param {any} one */
function hit(one) {
  return h("article", { class: `entry by-${one.type}` },
    h("header", { class: "faint" }, h("a", { href: `#/s/${one.session}` }, one.name), ` \u00b7 ${one.type} \u00b7 ${ago(one.at)}`),
    h("p", { class: "pre" }, one.snippet));
}

/** @param {Element} place @param {import("./store.js").Store} store */
export async function drawTrash(place, store) {
  fill(place, headline("Trash"), h("p", { class: "faint" }, "Reading..."));
  const restore = async (/** @type {any} */ one) => {
    try {
      const back = await post(pathOf`/trash/${one.id}/restore`);
      location.hash = `#/s/${back.id}`;
    } catch (fault) {
      complain("restore", fault);
    }
  };
  try {
    const list = await get("/trash");
    // The person may have gone elsewhere meanwhile.
    if (location.hash !== "#/trash") return;
    const rows = list.map((/** @type {any} */ one, /** @type {number} */ at) => h("div", { class: "snapshot" },
      h("span", null, `${one.name} \u00b7 removed ${ago(one.removed_at)}`),
      h("button", { id: `untrash-${at}`, "data-id": one.id, class: "small", disabled: !store.may("manage"), onclick: () => restore(one) }, "Take back")));
    const empty = () => confirm(`Delete all ${list.length} for good?`) && post("/trash/empty", { all: true, yes: true })
      .then(() => drawTrash(place, store), (fault) => complain("empty the trash", fault));
    if (rows.length) rows.unshift(h("p", null, h("button", { id: "trash-empty", class: "outline danger", disabled: !store.may("manage"), onclick: empty }, "Delete all for good")));
    fill(place, headline("Trash"), ...(rows.length ? rows : [h("p", { class: "faint" }, "The trash is empty.")]));
  } catch (fault) {
    fill(place, headline("Trash"), h("p", { class: "bad" }, /** @type {Error} */ (fault).message));
  }
}
