/** How fast the page is there, and how still it is while nothing happens. */

import { check, crowd, live, same, shows, story } from "./driver.mjs";

/** All files of the page together. */
const BYTES_MAX = 64 * 1024;
/** From the address to the list. */
const USABLE_MS_MAX = 300;
/** What happens within this after a click belongs to the click. */
const SETTLED_MS = 1_000;
/** A beat comes every fifteen seconds, the first one so long after the page has connected. */
const STILL_MS_MIN = 8_000;
/** The best of these counts: that something else runs meanwhile is not the page's fault. */
const TRIES = 12;

await story(async ({ house, desk }) => {
  for (const name of ["blue", "green"]) await house.headless(name);
  await house.glis("new", "red", "--agent", "rehearsal");
  await house.until("red", "idle");
  const page = await desk.page();
  await page.addInitScript(() => {
    const look = () => {
      if (!document.querySelector("#list .row .name")) return requestAnimationFrame(look);
      /** @type {any} */ (window).usable = performance.now();
    };
    requestAnimationFrame(look);
  });
  await page.goto(await house.link("desk"));
  await live(page);
  const took = [];
  let limit = 0;
  for (let tries = 0; tries < TRIES && Math.min(Infinity, ...took) > limit; tries += 1) {
    limit = Math.max(limit, USABLE_MS_MAX * (await crowd()));
    await page.goto("about:blank");
    await page.goto(new URL("/", process.env.GLIS_PAGE).href);
    await shows(page, "#list .row", "red");
    // It is seen with the next frame.
    const usable = await page.waitForFunction(() => /** @type {any} */ (window).usable);
    took.push(await usable.jsonValue());
  }
  check(Math.min(...took) <= limit, `usable after ${took.map(Math.round)} ms, at most ${Math.round(limit)}`);
  const bytes = await page.evaluate(() => performance.getEntries()
    .filter((one) => one instanceof PerformanceResourceTiming && !one.name.includes("/api/"))
    .reduce((sum, one) => sum + /** @type {PerformanceResourceTiming} */ (one).encodedBodySize, 0));
  check(bytes > 20_000 && bytes <= BYTES_MAX, `the page has ${bytes} bytes`);

  // With a terminal open: between one beat of the stream and the next nothing goes to and fro.
  await page.reload();
  await live(page);
  await page.click("#list .row:has-text('red')");
  await page.locator(".screen .line").first().waitFor();
  const wire = await page.context().newCDPSession(page);
  await wire.send("Network.enable");
  /** @type {string[]} */
  const heard = [];
  /** @type {(at: number) => void} */
  let beaten = () => {};
  await page.exposeFunction("told", (/** @type {any} */ what) => {
    if (what.beat) return beaten(performance.now());
    heard.push(`event ${JSON.stringify(what)}`);
  });
  await page.evaluate(async () => {
    const { Stream } = await import(/** @type {any} */ ("/stream.js"));
    const plain = Stream.prototype.pass;
    Stream.prototype.pass = function pass(/** @type {any} */ what) {
      /** @type {any} */ (window).told(what);
      plain.call(this, what);
    };
  });
  wire.on("Network.requestWillBeSent", (told) => heard.push(`request ${told.request.url}`));
  // A terminal has a beat of its own.
  wire.on("Network.webSocketFrameReceived", ({ response }) => { if (response.payloadData !== '{"beat":true}') heard.push("a frame"); });
  wire.on("Network.webSocketFrameSent", () => heard.push("a frame of ours"));
  // What the opening of the terminal has set going comes to an end first; that nothing more comes can only be
  // waited for.
  await new Promise((done) => setTimeout(done, SETTLED_MS));
  for (let from = performance.now(), still = 0; still < STILL_MS_MIN;) {
    heard.length = 0;
    const at = await new Promise((done) => { beaten = done; });
    [still, from] = [at - from, at];
  }
  same(heard, [], "what goes to and fro while nothing happens");
});
