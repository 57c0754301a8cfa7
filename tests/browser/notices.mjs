/** What a person waits for is told by the browser while the page is open and not looked at. */

import { live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("old", "--prompt", "approve Bash: touch old");
  await house.until("old", "waiting");
  const page = await desk.page();
  await page.addInitScript(() => {
    const own = /** @type {any} */ (window);
    own.told = [];
    // A browser without a window shows none and allows none, and its pages are always in sight: both are played.
    own.Notification = class {
      static permission = "granted";

      constructor(/** @type {string} */ title, /** @type {NotificationOptions} */ options) {
        own.told.push([title, options.body, this]);
      }

      close() {}
    };
    Object.defineProperty(document, "visibilityState", { get: () => own.seen ? "visible" : "hidden" });
  });
  await page.goto(await house.link("desk"));
  await live(page);
  const told = () => page.evaluate(() => /** @type {any} */ (window).told.map((/** @type {any[]} */ one) => one.slice(0, 2)));
  const tells = (/** @type {string} */ title) => page.waitForFunction(
    (wanted) => /** @type {any} */ (window).told.some((/** @type {any[]} */ one) => one[0] === wanted), title);

  await house.headless("blue", "--prompt", "approve Bash: touch one ;; work 0.5 ;; say all is made");
  await tells("blue asks");
  await house.glis("answer", "blue", "allow");
  await tells("blue is done");
  await house.glis("new", "green", "--agent", "command", "--headless", "--", "sh", "-c", "sleep 1; exit 3");
  await tells("green has failed");
  const all = await told();
  same(all.map((/** @type {string[]} */ one) => one[0]), ["blue asks", "blue is done", "green has failed"], "each once, and nothing that was there before");
  same(all[0][1], "Bash: touch one", "what is asked");

  // A click leads there.
  await page.evaluate(() => /** @type {any} */ (window).told[0][2].onclick());
  await shows(page, ".card.asks", "touch old");

  // Whoever looks is told nothing: it is on the page.
  await page.evaluate(() => { /** @type {any} */ (window).seen = true; });
  await house.glis("send", "blue", "approve Bash: touch two");
  await shows(page, ".card.asks", "touch two");
  same((await told()).length, 3, "what was told to who looks");
});
