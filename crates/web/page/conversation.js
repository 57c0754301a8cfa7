// @ts-check
/** What was said in a session, and what is being said: read on while somebody looks at it and the agent works. */

import { get, onAndOn, pathOf } from "./api.js";
import { ago, fill, h } from "./dom.js";
import { spent } from "./state.js";

/** An agent that works is looked at so often. */
const LOOK_MS = 1000;

export class Conversation {
  /** @param {HTMLElement} pane @param {string} session @param {() => boolean} works whether the agent is at work */
  constructor(pane, session, works) {
    [this.pane, this.session] = [pane, session];
    /** The entries that are drawn, and where the next read begins: only what came after them is read. */
    this.drawn = /** @type {{entry: any, place: HTMLElement}[]} */ ([]);
    [this.next, this.closed] = [0, false];
    this.read = onAndOn(() => this.readOnce(), () => this.closed);
    // Whole entries are read out when they come; the one that grows is not, or each word would be told many times.
    this.log = h("div", { role: "log" });
    this.saying = h("article", { class: "entry by-assistant", "aria-live": "off", hidden: true });
    fill(pane, h("p", { class: "faint" }, "Reading..."));
    /** Whether the end is kept in sight: who reads what was said before is left there. */
    this.follows = true;
    this.scrolled = () => { this.follows = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 4; };
    pane.addEventListener("scroll", this.scrolled);
    this.sized = new ResizeObserver(() => this.follow());
    this.sized.observe(pane);
    this.timer = setInterval(() => works() && document.visibilityState === "visible" && this.read(), LOOK_MS);
    this.read();
  }

  async readOnce() {
    try {
      const session = pathOf`/sessions/${this.session}`;
      const [{ saying }, { entries, next }] = await Promise.all([get(session, { glance: true }), get(`${session}/log`, { from: this.next })]);
      if (this.closed) return;
      if (next < this.next) {
        // A shorter conversation is another one.
        [this.drawn, this.next] = [[], 0];
        this.log.replaceChildren();
        return this.read();
      }
      this.next = next;
      this.draw(entries, saying);
    } catch (fault) {
      // What was read stays: the head of the page tells that nothing answers.
      if (!this.closed && !this.drawn.length) fill(this.pane, h("p", { class: "bad" }, /** @type {Error} */ (fault).message));
    }
  }

  /** @param {any[]} fresh entries that came since the last read @param {string | null} saying */
  draw(fresh, saying) {
    const { pane, log } = this;
    const begins = log.parentNode !== pane;
    for (const { entry, place: { firstChild } } of this.drawn) {
      const told = head(entry);
      if (firstChild && firstChild.textContent !== told) firstChild.textContent = told;
    }
    const places = fresh.map((entry) => h("article", { class: `entry by-${entry.type}` },
      h("header", { class: "faint" }, head(entry)), h("p", { class: "pre" }, words(entry))));
    this.drawn.push(...fresh.map((entry, at) => ({ entry, place: places[at] })));
    this.saying.hidden = !saying;
    fill(this.saying, h("header", { class: "faint" }, "assistant \u00b7 is saying"), h("p", { class: "pre" }, `${saying ?? ""}\u2026`));
    log.append(...places, this.saying);
    const nothing = !this.drawn.length && !saying;
    if (begins || nothing) fill(pane, log, nothing ? h("p", { class: "faint" }, "Nothing was said yet.") : "");
    else while (log.nextSibling) log.nextSibling.remove();
    this.follow();
  }

  follow() {
    if (this.follows) this.pane.scrollTop = this.pane.scrollHeight;
  }

  close() {
    this.closed = true;
    clearInterval(this.timer);
    this.sized.disconnect();
    this.pane.removeEventListener("scroll", this.scrolled);
  }
}

/** What it says. The end of a turn says how it came, and what was used so far. @param {any} entry */
function words(entry) {
  const { outcome, tokens_in, tokens_out, cost_micros } = entry.metadata ?? {};
  if (entry.type !== "system") return entry.content;
  const used = spent({ tokens_in, tokens_out, usd: cost_micros === undefined ? undefined : cost_micros / 1e6 });
  const turn = !entry.content || tokens_in !== undefined ? `turn ${outcome ?? "ended"}${used && `: ${used}`}` : "";
  return [entry.content, turn].filter(Boolean).join("\n");
}

/** Who says it and when; a tool has a name. @param {any} entry */
function head(entry) {
  const { tool, outcome } = entry.metadata ?? {};
  const ended = entry.type === "tool" && outcome ? ` (${outcome})` : "";
  return `${entry.type}${tool ? ` ${tool}` : ""}${ended} \u00b7 ${ago(entry.timestamp)}`;
}
