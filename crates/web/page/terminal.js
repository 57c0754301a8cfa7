// @ts-check
/** A terminal as rows of text. Nothing that a program asks its terminal is answered here; what is typed is what a
 * person types. */

import { enter, leave, pathOf } from "./api.js";
import { h } from "./dom.js";
import { Past } from "./past.js";
import { SILENCE_MS, onWake } from "./stream.js";

/** Keys that a phone has not, and how they are told to a screen reader. */
const BAR = [
  ["Esc", { key: "Escape" }, null], ["Tab", { key: "Tab" }, null], ["\u21e7Tab", { key: "Tab", shift: true }, "Shift Tab"],
  ["\u2191", { key: "ArrowUp" }, "Up"], ["\u2193", { key: "ArrowDown" }, "Down"], ["\u2190", { key: "ArrowLeft" }, "Left"],
  ["\u2192", { key: "ArrowRight" }, "Right"], ["^C", { key: "c", ctrl: true }, "^C, Control C"], ["\u23ce", { key: "Enter" }, "Enter"],
];
/** Keys of the bar that are held for the next one. */
const STICKY = [["Ctrl", "ctrl"], ["Alt", "alt"]];
const NAMED = /^(Enter|Tab|Escape|Backspace|Arrow(Up|Down|Left|Right)|Home|End|Insert|Delete|Page(Up|Down)|F([1-9]|1[0-2]))$/;

/** Before a connection that failed is tried again. */
const AGAIN_MS = 1500;
/** What is typed is answered within a second, also where it prints nothing. */
const ANSWER_MS = 5000;
/** Stands in the field: a phone tells of a deletion only where there is something to delete. */
const REST = " ";
/** Belongs to the letter before it. */
const MARK = /^[\p{M}\u200d]$/u;
const AWAY = "The terminal is not connected; it is tried again.";
const UNSENT = "The terminal is not connected; what is typed is not sent.";
const MISSED = "The terminal was not connected; what was typed last may not have arrived.";
const ENDED = "Nothing runs here; this is the last screen.";

/** A screen with nothing on it; `letters` stand before its cursor. @returns {{runs: any[], cursor: [number, number] | null, letters: number, size: {columns: number, rows: number}}} */
const nothing = () => ({ runs: [], cursor: null, letters: 0, size: { columns: 0, rows: 0 } });

export class Terminal {
  /** @param {HTMLElement} place @param {string} session @param {boolean} may whether keys may be typed into it */
  constructor(place, session, may) {
    this.session = session;
    /** Whether the keyboard is the terminal's. */
    this.types = false;
    /** Why what was typed is not taken. */
    this.refused = "";
    this.screen = h("div", { class: "screen", role: "group", tabindex: "0", "aria-label": "Terminal",
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.press(event),
      onpaste: (/** @type {ClipboardEvent} */ event) => this.paste(event),
      onclick: () => { if (this.types && getSelection()?.isCollapsed) this.field.focus(); },
      onfocusout: (/** @type {any} */ event) => { if (!this.screen.contains(event.relatedTarget)) this.toggle(false); } });
    // A keyboard on glass, dictation and input methods write into a field and nowhere else.
    this.field = /** @type {HTMLTextAreaElement} */ (h("textarea", { class: "typed", rows: "1", tabindex: "-1", value: REST,
      "aria-label": "Keys for the terminal", autocapitalize: "off", autocomplete: "off", autocorrect: "off", spellcheck: "false",
      inputmode: "text", oninput: (/** @type {InputEvent} */ event) => { if (!event.isComposing) this.written(); },
      oncompositionend: () => this.written(), onfocus: () => this.field.setSelectionRange(REST.length, REST.length) }));
    this.screen.append(this.field);
    this.note = h("p", { class: "faint", role: "status" });
    this.scroll = h("div", { class: "scroll" }, this.screen);
    this.past = new Past(session, (screen) => this.lookBack(screen));
    place.replaceChildren(this.scroll, this.past.element, this.note, ...(may ? [this.bar()] : []));
    /** @type {HTMLElement[]} */
    this.rows = [];
    /** The present: what the frames have told, whether or not it is what is shown. */
    this.present = nothing();
    this.shown = this.present;
    /** The offset of the present. */
    this.offset = 0;
    this.closed = false;
    [this.watch, this.heard] = [0, 0];
    /** Whether something was typed since the server was heard, and whether such was given up. */
    [this.unsure, this.missed] = [false, false];
    this.gone = new AbortController();
    onWake(() => {
      if (!this.ended && Date.now() - this.heard > SILENCE_MS / 2) this.open();
    }, this.gone.signal);
    /** Whether the cursor is kept in sight: until a person looks elsewhere. */
    this.follows = true;
    const { scroll } = this;
    for (const name of ["wheel", "touchmove"]) {
      scroll.addEventListener(name, () => { this.follows = false; }, { passive: true });
    }
    // What comes above it takes its room.
    this.sized = new ResizeObserver(() => { if (this.follows) this.look(); });
    this.sized.observe(scroll);
    scroll.addEventListener("scroll", () => {
      if (scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - 4) this.follows = true;
    });
    this.open();
  }

  /** A switch that gives the keyboard to the terminal, and the keys that a phone has not. */
  bar() {
    this.switch = h("button", { id: "type-here", class: "small", "aria-pressed": "false",
      onpointerdown: (/** @type {Event} */ event) => event.preventDefault(),
      onclick: () => { this.toggle(!this.types); if (this.types) this.field.focus(); } }, "Type into the terminal");
    // A press that took the focus away would end the typing.
    const keep = (/** @type {Event} */ event) => event.preventDefault();
    this.held = STICKY.map(([text, name]) => h("button", { class: "small", "data-key": name, "aria-pressed": "false",
      onpointerdown: keep, onclick: (/** @type {any} */ event) => hold(event.currentTarget, !isHeld(event.currentTarget)) }, text));
    return h("div", { class: "keys", role: "toolbar", "aria-label": "Keys for the terminal" }, this.switch, ...this.held,
      ...BAR.map(([text, said, name]) => h("button", { class: "small", "aria-label": name,
        onpointerdown: keep, onclick: () => this.say(said) }, String(text))));
  }

  /** @param {boolean} on */
  toggle(on) {
    if (on === this.types || !this.switch) return;
    if (on && this.past.shown) this.past.leave();
    [this.types, this.refused] = [on, ""];
    this.switch.setAttribute("aria-pressed", String(on));
    // A key that the browser takes for itself may close the tab.
    if (on) addEventListener("beforeunload", stay, { signal: this.gone.signal });
    else removeEventListener("beforeunload", stay);
    // In full screen a browser that can gives these away as well.
    /** @type {any} */ (navigator).keyboard?.[on ? "lock" : "unlock"]?.()?.catch(() => {});
    this.screen.classList.toggle("types", on);
    if (!on) this.field.blur();
    this.settle();
  }

  /** Says what keys do here. */
  settle() {
    const hint = matchMedia("(pointer: coarse)").matches ? "What you type goes to the terminal. Tap the same button again to end that."
      : "Every key goes to the terminal. Ctrl+] gives the keyboard back.";
    const open = this.socket?.readyState === WebSocket.OPEN;
    this.note.textContent = this.refused ? this.refused : this.ended ? ENDED : !open ? AWAY : this.types ? hint : "";
  }

  /** The field was written into, or what stood there was deleted. */
  written() {
    const { value } = this.field;
    if (value === REST) return;
    this.field.value = REST;
    if (!this.types) return;
    if (!value) return this.say({ key: "Backspace" });
    const text = value.startsWith(REST) ? value.slice(REST.length) : value;
    text.split("\n").forEach((line, at) => {
      if (at) this.say({ key: "Enter" });
      if (line) this.say({ text: line });
    });
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    // What an input method composes comes as a whole.
    if (!this.types || event.isComposing || event.keyCode === 229) return;
    if (event.ctrlKey && event.key === "]") {
      event.preventDefault();
      this.toggle(false);
      return this.switch?.focus();
    }
    const said = spoken(event);
    if (!said) return;
    event.preventDefault();
    event.stopPropagation();
    this.say(said);
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    const text = event.clipboardData?.getData("text/plain");
    if (!this.types || !text) return;
    event.preventDefault();
    this.say({ paste: text });
  }

  /** What is typed, with the keys of the bar that are held for it. @param {any} said */
  along(said) {
    const held = (this.held ?? []).filter(isHeld);
    const key = said.key ?? said.text;
    if (!held.length || !key || (said.text && [...key].length > 1)) return said;
    for (const one of held) hold(one, false);
    return { ...said, text: undefined, key, ...Object.fromEntries(held.map((one) => [one.dataset.key, true])) };
  }

  /** @param {any} typed */
  say(typed) {
    const said = this.along(typed);
    // A key for what is seen must not press what is not.
    if (this.past.shown) {
      this.past.leave();
      this.note.textContent = "This is the present again; the key was not sent.";
      return;
    }
    if (this.ended) this.note.textContent = "Nothing takes keys here right now; what was typed was not sent.";
    else if (this.socket?.readyState !== WebSocket.OPEN) this.note.textContent = UNSENT;
    else {
      this.socket.send(JSON.stringify(said));
      // What was refused before is another matter.
      if (this.refused) {
        this.refused = "";
        this.settle();
      }
      if (!this.unsure) this.expect(ANSWER_MS);
      this.unsure = true;
    }
  }

  async open() {
    this.drop();
    const opening = (this.opening = {});
    const ticket = document.body.dataset.link === "lost" ? null : await enter().catch(() => null);
    if (this.opening !== opening) return;
    if (!ticket) return this.retry();
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    // What is shown already is not told again.
    const has = this.present.size.rows ? `?offset=${this.offset}` : "";
    const socket = new WebSocket(`${scheme}://${location.host}/api/v1${pathOf`/sessions/${this.session}/terminal`}${has}`, ["glis", ticket]);
    [this.socket, this.heard] = [socket, Date.now()];
    this.expect(ANSWER_MS);
    // There may be nothing new to tell.
    socket.onopen = () => {
      this.hear();
      this.settle();
      if (this.missed) this.note.textContent = MISSED;
      this.missed = false;
    };
    socket.onmessage = (told) => {
      this.hear();
      this.take(JSON.parse(told.data));
    };
    socket.onclose = () => {
      if (this.ended) return this.drop();
      // Whoever answers next may be another one.
      leave();
      this.lose();
      this.retry();
    };
  }

  retry() {
    this.watch = setTimeout(() => this.open(), AGAIN_MS);
  }

  /** Something came: the connection lives, and what was typed has arrived. */
  hear() {
    [this.unsure, this.heard] = [false, Date.now()];
    this.expect(SILENCE_MS);
  }

  /** A connection may die without a word. @param {number} within */
  expect(within) {
    clearTimeout(this.watch);
    this.watch = setTimeout(() => {
      this.lose();
      this.open();
    }, within);
  }

  lose() {
    this.drop();
    this.settle();
  }

  /** A socket that is dead says so much later, if ever. */
  drop() {
    clearTimeout(this.watch);
    this.opening = null;
    this.missed ||= this.unsure;
    this.unsure = false;
    if (!this.socket) return;
    this.socket.onopen = this.socket.onmessage = this.socket.onclose = null;
    this.socket.close();
    this.socket = null;
  }

  /** @param {any} frame */
  take(frame) {
    if (frame.beat) return;
    if (frame.refused) {
      this.refused = frame.refused;
      this.settle();
      return;
    }
    if (frame.error) {
      this.ended = true;
      this.note.textContent = frame.error.message;
      return;
    }
    if (frame.ended) {
      this.ended = true;
      if (!this.past.shown) this.note.textContent = ENDED;
      return;
    }
    this.offset = frame.offset;
    this.past.grown(frame.offset);
    const { present } = this;
    const [before, size] = [present.cursor, present.size];
    [present.cursor, present.size] = [frame.cursor, frame.size];
    present.letters = frame.letters ?? frame.cursor?.[0] ?? 0;
    present.runs.length = frame.size.rows;
    const changed = new Set();
    for (const [number, runs] of frame.rows) {
      present.runs[number] = runs;
      changed.add(number);
    }
    if (this.past.shown) return;
    if (!this.types && this.note.textContent !== MISSED) this.note.textContent = "";
    if (frame.cursor) this.field.style.setProperty("top", `${(100 * frame.cursor[1]) / frame.size.rows}%`);
    if (size.columns !== frame.size.columns || size.rows !== frame.size.rows) this.resize();
    for (const cursor of [before, present.cursor]) if (cursor) changed.add(cursor[1]);
    for (const number of changed) this.draw(number);
    if (this.follows) this.look();
  }

  /** Shows a screen of the past; without one, the present again. @param {any | null} screen */
  lookBack(screen) {
    this.screen.classList.toggle("of-the-past", Boolean(screen));
    this.shown = screen
      ? { runs: screen.runs, cursor: null, letters: 0, size: { columns: screen.columns, rows: screen.rows } } : this.present;
    if (!screen && this.ended) this.note.textContent = ENDED;
    this.resize();
    this.rows.forEach((_, number) => this.draw(number));
  }

  /** Brings the cursor into sight, or the last row that holds something. */
  look() {
    const { runs, cursor } = this.shown;
    const last = runs.findLastIndex((row) => row?.length);
    this.rows[Math.max(cursor ? cursor[1] : 0, last)]?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** As many rows as what is shown has. */
  resize() {
    const { size } = this.shown;
    this.screen.style.setProperty("--columns", String(size.columns));
    while (this.rows.length < size.rows) {
      const row = h("div", { class: "line" });
      this.rows.push(row);
      this.screen.append(row);
    }
    while (this.rows.length > size.rows) this.rows.pop()?.remove();
  }

  /** @param {number} number */
  draw(number) {
    const row = this.rows[number];
    if (!row) return;
    const { runs, cursor, letters } = this.shown;
    const here = runs[number] ?? [];
    const at = cursor && cursor[1] === number ? letters : -1;
    row.replaceChildren(...(at < 0 ? here.map(span) : withCursor(here, at)));
  }

  /** After its process has begun again. */
  again() {
    if (!this.ended || this.closed) return;
    this.ended = false;
    this.open();
  }

  close() {
    this.closed = true;
    this.sized.disconnect();
    this.gone.abort();
    this.drop();
  }
}

/** A tab is not closed while its terminal is typed into, without a question. @param {Event} event */
const stay = (event) => event.preventDefault();

/** @param {HTMLElement} button */
const isHeld = (button) => button.getAttribute("aria-pressed") === "true";
/** @param {HTMLElement} button @param {boolean} on */
const hold = (button, on) => button.setAttribute("aria-pressed", String(on));

/** What a press of a key says to a terminal; nothing for what is the browser's. @param {KeyboardEvent} event */
function spoken(event) {
  const { key, shiftKey: shift, altKey: alt, ctrlKey: ctrl } = event;
  const letter = [...key].length === 1;
  // What a keyboard writes with a third level of its keys is a letter, whatever is held down for it.
  if (letter && (event.getModifierState("AltGraph") || (alt && !ctrl && !/[ -~]/.test(key)))) return { text: key };
  if (event.metaKey) return null;
  // It pastes.
  if (ctrl && !alt && key.toLowerCase() === "v") return null;
  if (NAMED.test(key)) return { key, shift, alt, ctrl };
  if (!letter) return null;
  return ctrl || alt ? { key, alt, ctrl } : { text: key };
}

/** @param {[string, any?]} run */
function span([text, look]) {
  if (!look) return document.createTextNode(text);
  const element = document.createElement("span");
  element.textContent = text;
  const style = look.s ?? "";
  const names = [...style].map((letter) => `t-${letter}`);
  for (const [letter, property] of [["f", "color"], ["b", "background-color"]]) {
    const colour = look[letter];
    if (typeof colour === "number" && colour < 16) names.push(`${letter}${colour}`);
    else if (colour !== undefined) element.style.setProperty(property, rgb(colour));
  }
  element.className = names.join(" ");
  return element;
}

/** @param {number | string} colour */
function rgb(colour) {
  if (typeof colour === "string") return /^#[0-9a-f]{6}$/.test(colour) ? colour : "";
  if (colour >= 232) {
    const level = 8 + (colour - 232) * 10;
    return `rgb(${level}, ${level}, ${level})`;
  }
  const level = (/** @type {number} */ step) => (step ? 55 + step * 40 : 0);
  const index = colour - 16;
  return `rgb(${level(Math.floor(index / 36))}, ${level(Math.floor(index / 6) % 6)}, ${level(index % 6)})`;
}

/** The runs of a row with the cursor behind so many letters. @param {[string, any?][]} runs @param {number} before */
function withCursor(runs, before) {
  const mark = (/** @type {string} */ text) => h("span", { class: "cursor" }, text);
  const nodes = [];
  let at = 0;
  let drawn = false;
  for (const [text, look] of runs) {
    const letters = [...text];
    if (!drawn && before < at + letters.length) {
      const here = before - at;
      let end = here + 1;
      while (MARK.test(letters[end])) end += 1;
      nodes.push(span([letters.slice(0, here).join(""), look]), mark(letters.slice(here, end).join("")),
        span([letters.slice(end).join(""), look]));
      drawn = true;
    } else {
      nodes.push(span([text, look]));
    }
    at += letters.length;
  }
  if (!drawn) nodes.push(" ".repeat(Math.max(0, before - at)), mark(" "));
  return nodes.map((node) => (node instanceof Node ? node : document.createTextNode(node)));
}
