/** Ten tabs of one browser: each is connected, is told each event once, and can act, whatever becomes of the others. */

import { check, live, same, shows, story } from "./driver.mjs";

/** A browser has six connections to a server. */
const TABS = 10;
/** A tab that waits for a beat for longer than this does not wait longer, if it is in a hurry. */
const HURRY_MS = 5_000;

await story(async ({ house, desk }) => {
  const { id } = await house.glis("new", "shell", "--agent", "command", "--", "cat");
  const first = await desk.page();
  const context = first.context();
  await context.addInitScript((most) => {
    const own = /** @type {any} */ (window);
    const [plain, fetched] = [setTimeout, fetch];
    own.setTimeout = (/** @type {() => void} */ act, /** @type {number} */ wait) => plain(act, own.hurry ? Math.min(wait, most) : wait);
    /** What ends each stream that was opened. @type {AbortSignal[]} */
    own.streams = [];
    own.fetch = (/** @type {string} */ path, /** @type {any} */ options) => {
      if (path.startsWith("/api/v1/events")) own.streams.push(options.signal);
      return fetched(path, options);
    };
  }, HURRY_MS);
  await first.goto(await house.link("desk"));
  const address = new URL(`/#/s/${id}`, first.url()).href;
  await live(first);
  await first.goto(address);
  const tabs = [first];
  for (let at = 1; at < TABS; at += 1) {
    const tab = await context.newPage();
    desk.watch(tab);
    await tab.goto(address);
    await live(tab);
    tabs.push(tab);
  }
  // The number of each event that a tab has taken.
  for (const tab of tabs) {
    await tab.evaluate(async () => {
      const { Stream } = await import(/** @type {any} */ ("/stream.js"));
      const numbers = (/** @type {any} */ (window).numbers = []);
      const plain = Stream.prototype.pass;
      Stream.prototype.pass = function pass(/** @type {any} */ what) {
        const before = this.seq;
        plain.call(this, what);
        if (this.seq !== before) numbers.push(this.seq);
      };
    });
  }
  for (const tab of tabs) await tab.locator(".screen .line").first().waitFor();
  /** A word of one tab is seen in the terminals and in the lists of all that are open. */
  let number = 0;
  const says = async (/** @type {import("playwright-core").Page} */ tab, open = tabs) => {
    number += 1;
    await tab.fill("#message", `word ${number}`);
    await tab.press("#message", "Control+Enter");
    for (const other of open) await shows(other, ".screen .line", `word ${number}`);
    // That it has arrived is told by an event.
    await tab.waitForFunction(() => !document.querySelector(".letter.is-sending, .letter.is-stored"));
  };
  for (const tab of [tabs[0], tabs[1], tabs[TABS - 1]]) await says(tab);
  const streams = async () => {
    const open = await Promise.all(tabs.map((tab) => tab.evaluate(() =>
      /** @type {any} */ (window).streams.filter((/** @type {AbortSignal} */ end) => !end.aborted).length)));
    return open.reduce((sum, one) => sum + one, 0);
  };
  same(await streams(), 1, "streams of all tabs");

  // A session that is made is in every list: the events come to all.
  await house.headless("news");
  for (const tab of tabs) await shows(tab, "#list .row", "news");

  // The tab that came last leads, and is closed.
  await tabs.pop()?.close();
  await house.headless("closed");
  for (const tab of tabs) await shows(tab, "#list .row", "closed");
  await says(tabs[3]);

  // The server dies, and comes again: every tab says so.
  await house.ask("kill web");
  for (const tab of tabs) await shows(tab, "#link", "Not connected");
  await house.ask("start web");
  for (const tab of tabs) await live(tab);
  await says(tabs[4]);

  // The tab that leads stands still, and lets go of nothing. Another one notices, and it catches up when it goes on.
  const leader = await leads(tabs);
  const others = tabs.slice(1).filter((tab) => tab !== leader);
  await others[0].evaluate(() => { /** @type {any} */ (window).hurry = true; });
  await house.headless("still");
  await shows(others[0], "#list .row", "still");
  const wire = await context.newCDPSession(leader);
  await wire.send("Debugger.enable");
  const stands = new Promise((done) => wire.once("Debugger.paused", done));
  await wire.send("Debugger.pause");
  leader.evaluate(() => 1).catch(() => {});
  await stands;
  await house.headless("frozen");
  for (const tab of others) await shows(tab, "#list .row", "frozen");
  await says(others[1], others);
  await wire.send("Debugger.disable");
  await shows(leader, "#list .row", "frozen");
  await says(leader);
  same(await streams(), 1, "streams in the end");

  // Each has had each event once and in order.
  const last = (await house.events()).at(-1).seq;
  for (const tab of tabs) {
    await tab.waitForFunction((seq) => /** @type {any} */ (window).numbers.at(-1) >= seq, last);
    const numbers = await tab.evaluate(() => /** @type {any} */ (window).numbers);
    same(numbers, numbers.map((/** @type {number} */ _, /** @type {number} */ at) => numbers[0] + at), "what a tab was told");
    check(numbers.length > 20, "events were told");
  }

  // A browser that has no locks: each tab has a stream of its own.
  const bare = await desk.page();
  await bare.context().addInitScript(() => Object.defineProperty(Navigator.prototype, "locks", { value: undefined }));
  await bare.goto(await house.link("bare"));
  await live(bare);
  const second = await bare.context().newPage();
  desk.watch(second);
  await second.goto(address);
  await house.headless("last");
  for (const tab of [bare, second]) await shows(tab, "#list .row", "last");

  // The device is forgotten: no tab goes on.
  await house.glis("web", "revoke", "desk");
  for (const tab of tabs) await shows(tab, "#main", "This device is not known here");
});

/** The tab that leads: the lock is its own. @param {import("playwright-core").Page[]} tabs */
async function leads(tabs) {
  const found = await Promise.all(tabs.map((tab) => tab.evaluate(async () => {
    const { held } = await navigator.locks.query();
    const own = await new Promise((done) => navigator.locks.request(`own ${Math.random()}`, async (lock) => {
      const all = (await navigator.locks.query()).held ?? [];
      done(all.find((one) => one.name === lock?.name)?.clientId);
    }));
    return held?.some((lock) => lock.name === "glis.stream" && lock.clientId === own);
  })));
  const leader = tabs.find((_, at) => found[at]);
  if (!leader) throw new Error("no tab leads");
  return leader;
}
