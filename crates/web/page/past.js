// @ts-check
/** A slider through the whole past of a terminal. At its right end is the present. */

import { get, pathOf } from "./api.js";
import { h, toast } from "./dom.js";

/** Steps of the slider: a press of an arrow is one, Page Up and Page Down are ten times as far. */
const STEPS = 200;

export class Past {
  /** @param {string} session @param {(screen: any | null) => void} show draws a screen of the past, or goes on with the present */
  constructor(session, show) {
    [this.session, this.show] = [session, show];
    /** What there is of the output: from where, to where. */
    [this.oldest, this.end] = [0, 0];
    /** Whether the past is shown. */
    this.shown = false;
    /** @type {number | null} the offset that is wanted next */
    this.wanted = null;
    this.slider = /** @type {HTMLInputElement} */ (h("input", { type: "range", id: "past", min: "0", max: String(STEPS), value: String(STEPS),
      "aria-label": "The terminal's past", "aria-valuetext": "now", oninput: () => this.move() }));
    this.slider.value = String(STEPS);
    this.now = h("button", { id: "now", class: "small", hidden: true, onclick: () => this.leave() }, "Back to now");
    // Who cannot see it is told by the slider itself.
    this.text = h("span", { class: "faint", "aria-hidden": "true" }, "now");
    this.element = h("div", { class: "past", hidden: true }, this.slider, this.text, this.now);
  }

  /** The output has grown. @param {number} end */
  grown(end) {
    this.element.hidden = end === 0;
    // While the past is looked at the slider stands still.
    if (!this.shown) this.end = end;
  }

  move() {
    const part = Number(this.slider.value) / STEPS;
    if (part === 1) return this.leave();
    this.shown = true;
    this.now.hidden = false;
    this.describe(this.oldest + Math.round((this.end - this.oldest) * part));
  }

  /** @param {number} offset */
  describe(offset) {
    const share = Math.round(((offset - this.oldest) / Math.max(1, this.end - this.oldest)) * 100);
    const text = `${share} % of the output, byte ${offset.toLocaleString("en")} of ${this.end.toLocaleString("en")}`;
    this.slider.setAttribute("aria-valuetext", text);
    this.text.textContent = `${share} %`;
    const busy = this.wanted !== null;
    this.wanted = offset;
    if (!busy) this.fetch();
  }

  /** Fetches what is wanted, one at a time: of a slider that is dragged only the last place matters. */
  async fetch() {
    while (this.wanted !== null) {
      const offset = this.wanted;
      try {
        const screen = await get(pathOf`/sessions/${this.session}/screen`, { at: offset });
        if (!this.shown) break;
        // What was cut at the beginning is known from the first answer on.
        this.oldest = screen.oldest;
        this.show(screen);
      } catch (fault) {
        toast(`The past cannot be shown: ${/** @type {Error} */ (fault).message}`);
      }
      if (this.wanted === offset) break;
    }
    this.wanted = null;
  }

  /** Back to the present. */
  leave() {
    if (document.activeElement === this.now) this.slider.focus();
    [this.shown, this.now.hidden, this.slider.value] = [false, true, String(STEPS)];
    this.slider.setAttribute("aria-valuetext", "now");
    this.text.textContent = "now";
    this.show(null);
  }
}
