/** At 200 percent, and on a phone on its side, a session can be worked with; and the page can be installed. */

import { check, same, shows, story } from "./driver.mjs";

/** A terminal with fewer rows is a slit. */
const ROWS = 12;

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "seq 1 60; sleep 1000");
  const page = await desk.paired("desk");
  const { id } = await house.glis("show", "shell");
  for (const [width, height] of [[640, 360], [844, 390], [1280, 720]]) {
    await page.setViewportSize({ width, height });
    await page.evaluate((to) => { location.hash = to; }, `#/s/${id}`);
    await shows(page, ".screen .line", "60");
    const size = `${width}×${height}`;
    const [tabs, rows] = await page.evaluate(() => {
      const line = /** @type {HTMLElement} */ (document.querySelector(".screen .line")).getBoundingClientRect().height;
      const scroll = /** @type {HTMLElement} */ (document.querySelector(".scroll"));
      const main = /** @type {HTMLElement} */ (document.querySelector("#main"));
      scroll.scrollIntoView({ block: "start" });
      return [/** @type {HTMLElement} */ (document.querySelector(".tabs")).getBoundingClientRect().height, Math.min(scroll.clientHeight, main.clientHeight) / line];
    });
    check(tabs >= 24, `the views at ${size} are ${tabs} high`);
    check(rows >= ROWS, `the terminal has ${rows} rows at ${size}`);
    same(await page.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${size} is wider than the window`);
  }

  const manifest = await page.evaluate(async () => (await fetch(/** @type {HTMLLinkElement} */ (document.querySelector("link[rel=manifest]")).href)).json());
  same([manifest.name, manifest.start_url, manifest.display], ["glis", "/", "standalone"], "what is installed");
  const icon = await page.evaluate(async (src) => (await fetch(src)).headers.get("content-type"), manifest.icons[0].src);
  same(icon, "image/svg+xml", "its icon");
  const session = await page.context().newCDPSession(page);
  const { errors } = await session.send("Page.getAppManifest");
  same(errors, [], "faults of the manifest");
});
