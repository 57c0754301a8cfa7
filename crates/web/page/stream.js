// @ts-check
/** The stream of events: it is counted, watched, and opened again where it was. */

/** The server sends a beat every 15 seconds; two that are missing mean that the connection is dead. */
const SILENCE_MS = 35000;
/** Before a connection that failed is tried again; longer each time. */
const AGAIN_MS = [500, 1000, 2000, 5000, 10000];

/**
 * @typedef {object} Ears
 * @property {(event: any) => void} event something has happened
 * @property {() => void} beat nothing has happened for a while, and the connection lives
 * @property {() => Promise<{log: string, seq: number}>} begin everything is read anew; from which event on
 * @property {(state: "live" | "connecting" | "lost" | "refused", why?: string) => void} state
 */

export class Stream {
  /** @param {Ears} ears */
  constructor(ears) {
    this.ears = ears;
    /** @type {EventSource | null} */
    this.source = null;
    this.seq = 0;
    this.log = "";
    this.heard = 0;
    this.tries = 0;
    this.timer = 0;
    this.watch = 0;
    for (const name of ["visibilitychange", "pageshow", "online", "focus"]) {
      const target = name === "visibilitychange" ? document : window;
      target.addEventListener(name, () => this.look());
    }
    // Without a network the machine that the page is on can still be reached, and no other.
    window.addEventListener("offline", () => this.source && this.reach());
  }

  /** Reads everything, then follows. */
  async start() {
    this.close();
    this.ears.state("connecting");
    try {
      const { log, seq } = await this.ears.begin();
      [this.log, this.seq] = [log, seq];
    } catch (fault) {
      const status = /** @type {any} */ (fault).status;
      if (status === 401) return this.ears.state("refused");
      return this.again(/** @type {Error} */ (fault).message);
    }
    this.open();
  }

  open() {
    this.close();
    const from = `from=${this.seq + 1}&log=${encodeURIComponent(this.log)}`;
    const source = new EventSource(`/api/v1/events?${from}`);
    this.source = source;
    this.alive();
    source.addEventListener("hello", () => {
      this.alive();
      this.tries = 0;
      this.ears.state("live");
    });
    source.addEventListener("beat", () => {
      this.alive();
      this.ears.beat();
    });
    source.addEventListener("found", () => {
      this.alive();
      this.ears.state("live");
    });
    source.addEventListener("anew", () => this.start());
    source.addEventListener("lost", (told) => {
      this.alive();
      this.ears.state("lost", JSON.parse(told.data).message);
    });
    source.onmessage = (told) => {
      this.alive();
      const event = JSON.parse(told.data);
      // Each number once, whatever comes twice.
      if (event.seq <= this.seq) return;
      this.seq = event.seq;
      this.ears.state("live");
      this.ears.event(event);
    };
    source.onerror = () => {
      if (this.source === source) this.again("the connection is lost");
    };
  }

  /** Something came: the connection lives. */
  alive() {
    this.heard = Date.now();
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.again("nothing was heard for a while"), SILENCE_MS);
  }

  /** The page is looked at again: a phone may have slept, and the connection with it. */
  look() {
    if (document.visibilityState !== "visible") return;
    if (this.timer) this.resume();
    else if (this.source && Date.now() - this.heard > SILENCE_MS / 2) this.open();
  }

  /** @param {string} why */
  again(why) {
    this.close();
    this.ears.state("lost", why);
    const wait = AGAIN_MS[Math.min(this.tries, AGAIN_MS.length - 1)];
    this.tries += 1;
    this.timer = setTimeout(() => this.resume(), wait);
  }

  /** Goes on where it was; who was never there begins. */
  resume() {
    clearTimeout(this.timer);
    this.timer = 0;
    if (this.log) this.probe();
    else this.start();
  }

  /** An `EventSource` does not tell why it failed: a device that was revoked is not to try for ever. */
  async probe() {
    if (await this.reach()) this.open();
  }

  /** Whether the server lets us in; if not, that is told. */
  async reach() {
    try {
      const response = await fetch("/api/v1/device", { cache: "no-store" });
      if (response.status !== 401) return true;
      this.ears.state("refused");
    } catch {
      this.again("the server cannot be reached");
    }
    return false;
  }

  close() {
    clearTimeout(this.timer);
    clearTimeout(this.watch);
    this.timer = 0;
    this.source?.close();
    this.source = null;
  }
}
