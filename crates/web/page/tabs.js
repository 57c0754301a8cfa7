// @ts-check
/** One stream for all tabs of a browser: it has six connections to a server, and a stream takes one for good. The tab
 * that holds a lock leads, and tells the others what it hears. Without locks each tab has a stream of its own. */

const NAME = "glis.stream";

export class Tabs {
  /** @param {{leads: () => void, follows: () => void, hear: (told: any) => void}} ears */
  constructor(ears) {
    this.ears = ears;
    /** Whether the stream is this tab's. */
    this.leads = false;
    /** Counts what was asked for: what comes of a former wish is nothing. */
    this.turn = 0;
    this.end = () => {};
    if (!navigator.locks || !window.BroadcastChannel) return;
    this.channel = new BroadcastChannel(NAME);
    this.channel.onmessage = (told) => ears.hear(told.data);
  }

  /** Takes the lead from the tab that has it. That one may be frozen, so it is not asked. */
  lead() {
    if (!this.channel || this.leads) this.begin();
    else this.ask({ steal: true });
  }

  begin() {
    this.leads = true;
    this.ears.leads();
  }

  /** Waits for the lock. A tab that is closed or has crashed has let go of it. @param {LockOptions} how */
  ask(how) {
    this.leave();
    const turn = this.turn;
    const held = () => new Promise((done) => {
      if (turn !== this.turn) return done(null);
      this.end = () => done(null);
      this.begin();
    });
    navigator.locks.request(NAME, how, held).catch((fault) => {
      if (turn !== this.turn) return;
      // A browser may have locks and forbid them.
      if (fault.name !== "AbortError") return this.begin();
      const wait = new AbortController();
      this.ask({ signal: wait.signal });
      this.end = () => wait.abort();
      this.ears.follows();
    });
  }

  leave() {
    this.turn += 1;
    this.leads = false;
    this.end();
    this.end = () => {};
  }

  /** @param {any} what */
  tell(what) {
    this.channel?.postMessage(what);
  }
}
