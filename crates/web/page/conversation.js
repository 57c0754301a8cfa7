// @ts-check
/** What was said in a session, and what is being said: read on while somebody looks at it and the agent works. */

import { get, onAndOn, pathOf } from "./api.js";
import { clock, copies, fill, h } from "./dom.js";
import { markdown } from "./markdown.js";
import { spent } from "./state.js";
import { patch } from "./wanted.js";

/** An agent that works is looked at so often, and half as often while it has nothing new to say: each look is some
 * kilobytes, and events tell the end of a turn at once. */
const LOOK_MS = 1500;
/** So much of its end is read at first: some hundred entries, which are there at once however long it is. */
const TAIL_BYTES = 65536;
/** So many times as much is read when more is asked for. */
const MORE = 8;
/** Behind any end. */
const END = Number.MAX_SAFE_INTEGER;

export class Conversation {
  /** @param {HTMLElement} pane @param {string} session @param {import("./store.js").Store} store */
  constructor(pane, session, store) {
    [this.pane, this.session, this.store, this.closed] = [pane, session, store, false];
    this.bytes = TAIL_BYTES;
    this.read = onAndOn(() => this.readOnce(), () => this.closed);
    // Whole entries are read out when they come; the one that grows is not, or each word would be told many times.
    this.log = h("div", { role: "log", class: "said" });
    this.saying = h("article", { class: "entry by-assistant", "aria-live": "off", hidden: true });
    this.earlier = h("button", { id: "earlier", class: "outline", onclick: () => this.lookBack() }, "Show what was said before");
    fill(pane, h("p", { class: "faint" }, "Reading..."));
    /** Whether the end is kept in sight: who reads what was said before is left there. */
    this.follows = true;
    this.scrolled = () => { this.follows = pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 4; };
    pane.addEventListener("scroll", this.scrolled);
    this.sized = new ResizeObserver(() => this.follow());
    this.sized.observe(pane);
    /** Whether the last look found nothing new, and the next is left out. */
    this.rests = false;
    this.timer = setInterval(() => {
      if (this.rests) this.rests = false;
      else if (this.known?.status === "busy" && document.visibilityState === "visible") store.readOne(session).catch(() => {});
    }, LOOK_MS);
    this.forget();
    this.read();
  }

  get known() {
    return this.store.sessions.get(this.session);
  }

  /** Nothing was read. */
  forget() {
    /** Where the next read begins: only what came after it is read. None before the end is known. @type {number?} */
    this.next = null;
    this.log.replaceChildren();
    /** When the turn began, and what all had cost before it. @type {{at?: string, cost?: number}} */
    this.turn = {};
    /** What was being said at the last look. @type {string | null} */
    this.said = null;
  }

  /** Reads on, whenever the session was read. */
  async readOnce() {
    try {
      const log = pathOf`/sessions/${this.session}/log`;
      if (this.next === null) {
        const { next: end } = await get(log, { from: END });
        this.next = Math.max(0, end - this.bytes);
        this.earlier.hidden = this.next === 0;
      }
      const { turn } = this;
      const saying = this.known?.saying ?? null;
      // While an answer grows nothing is whole that was not so before.
      const grows = this.said && saying?.startsWith(this.said);
      const moved = saying !== this.said;
      this.said = saying;
      const { entries, next } = grows ? { entries: [], next: this.next } : await get(log, { from: this.next });
      if (this.closed || turn !== this.turn) return;
      if (next < this.next) {
        // A shorter conversation is another one.
        this.forget();
        return this.read();
      }
      this.rests = !moved && !entries.length;
      this.next = next;
      this.draw(entries, saying);
    } catch (fault) {
      // What was read stays: the head of the page tells that nothing answers.
      if (!this.closed && !this.log.isConnected) fill(this.pane, h("p", { class: "bad" }, /** @type {Error} */ (fault).message));
    }
  }

  /** Reads from further back, and leaves in sight what was. */
  async lookBack() {
    const { pane } = this;
    const below = pane.scrollHeight - pane.scrollTop;
    this.bytes *= MORE;
    this.forget();
    await this.read();
    pane.scrollTop = pane.scrollHeight - below;
  }

  /** @param {any[]} fresh entries that came since the last read @param {string | null} saying */
  draw(fresh, saying) {
    const { pane, log } = this;
    this.saying.hidden = !saying;
    fill(this.saying, h("header", { class: "faint" }, "is saying"), ...markdown(`${saying ?? ""}\u2026`));
    this.saying.remove();
    log.append(...fresh.map((entry) => this.entry(entry)), this.saying);
    const nothing = log.childElementCount === 1 && !saying;
    if (log.parentNode !== pane || nothing) fill(pane, this.earlier, log, nothing ? h("p", { class: "faint" }, "Nothing was said yet.") : "");
    else while (log.nextSibling) log.nextSibling.remove();
    this.follow();
  }

  /** @param {any} entry */
  entry(entry) {
    const { type, content, timestamp: at, metadata: more = {} } = entry;
    const article = (/** @type {any[]} */ ...parts) => h("article", { class: `entry by-${type}` }, ...parts);
    const head = (/** @type {any[]} */ ...parts) => h("header", { class: "faint" }, ...parts, h("time", { datetime: at }, clock(at)));
    if (type === "tool") return tool(content.replace(`${this.known?.worktree}/`, ""), more);
    if (type === "system") return article(head(this.ended(entry)));
    if (type !== "user") return article(...markdown(content));
    this.turn.at = at;
    return article(head(h("b", null, more.by ?? "You")), h("p", { class: "pre" }, content));
  }

  /** What an entry says that nobody has said: mostly the end of a turn, how it came, and what it took. @param {any} entry */
  ended({ content, timestamp, metadata: { outcome, tokens_in, tokens_out, cost_micros: cost } = {} }) {
    const turn = !content || tokens_in !== undefined;
    const { at, cost: former } = this.turn;
    // An agent tells what all of it has cost: of a turn that is known where the one before it is.
    const usd = cost === undefined ? undefined : (cost - (former ?? 0)) / 1e6;
    if (cost !== undefined) this.turn.cost = cost;
    const seconds = at && Math.round((Date.parse(timestamp) - Date.parse(at)) / 1000);
    const told = [outcome ?? "ended", seconds ? lasted(seconds) : "", spent({ tokens_in, tokens_out, usd }), usd && former === undefined ? "so far" : ""];
    return [content, turn ? `turn ${told.filter(Boolean).join(" \u00b7 ")}` : ""].filter(Boolean).join(" \u00b7 ");
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

/** @param {number} seconds */
const lasted = (seconds) => (seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`);

/** The lines of an edit, in whichever form its agent has it: what stays at both ends is left out. @param {any} edit @returns {string[]} */
function linesOf({ old_string: old, new_string, content, new_source, edits, changes }) {
  if (edits) return edits.flatMap(linesOf);
  if (changes) return changes.flatMap((/** @type {any} */ { diff }) => String(diff ?? "").split("\n"));
  const [was, is] = [old, new_string ?? content ?? new_source].map((text) => (text ? String(text).replace(/\n$/, "").split("\n") : []));
  let [before, after] = [0, 0];
  while (before < was.length && was[before] === is[before]) before += 1;
  const room = Math.min(was.length, is.length) - before;
  while (after < room && was.at(-1 - after) === is.at(-1 - after)) after += 1;
  const signed = (/** @type {string} */ sign, /** @type {string[]} */ lines) => lines.slice(before, lines.length - after).map((line) => sign + line);
  return [...signed("-", was), ...signed("+", is)];
}

/** The use of a tool: a line that opens to all that is known of it. @param {string} content @param {any} more */
function tool(content, { tool: name = "tool", outcome, edit }) {
  const [first] = content.split("\n", 1);
  const lines = edit ? linesOf(edit) : [];
  const count = (/** @type {string} */ sign) => lines.filter((line) => line.startsWith(sign)).length;
  return h("details", { class: "entry by-tool" },
    h("summary", null, h("b", null, name), " ", h("span", { class: "path" }, first),
      lines.length > 0 && ` +${count("+")} \u2212${count("-")}`, outcome && h("b", { class: "bad" }, ` ${outcome}`)),
    lines.length > 0 && patch(lines), h("div", { class: "code" }, h("pre", { tabindex: "0" }, content), copies(content)));
}
