/** What a page shows is what is so: the title of a tab that nobody looks at, the changes, the snapshots. */

import { gone, has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.headless("blue", "--prompt", "say ready");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await has(page, "idle");
  await page.click("#tab-changes");
  await shows(page, "#pane", "No changes.");
  const turn = async (/** @type {string} */ text) => {
    await house.glis("send", "blue", text);
    await house.until("blue", "idle");
  };
  await turn("write a.txt one\\n");
  await shows(page, ".diff .is-added", "one");

  // Whoever comments is not disturbed, and told.
  await page.locator(".diff .is-added .comment").click();
  await page.fill(".diff textarea", "why?");
  await turn("write a.txt two\\n");
  await shows(page, "#reload", "Changed since you looked.");
  same(await page.inputValue(".diff textarea"), "why?", "the comment");
  await page.click("#reload button");
  await shows(page, ".diff .is-added", "two");
  same(await page.locator("#pane textarea").inputValue(), "why?", "the comment on a line that is not there any more");

  await page.click("#tab-snapshots");
  await page.locator(".snapshot").first().waitFor();
  const before = await page.locator(".snapshot").count();
  await turn("write b.txt three\\n");
  await house.glis("snapshot", "blue");
  await page.waitForFunction((count) => document.querySelectorAll(".snapshot").length > count, before);

  // A tab that is hidden draws no frames.
  const hidden = await desk.page();
  await hidden.addInitScript(() => {
    const plain = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (act) => (/** @type {any} */ (window).away ? 0 : plain(act));
  });
  await hidden.goto(await house.link("hidden"));
  await shows(hidden, "#list .row", "blue");
  await hidden.evaluate(() => { /** @type {any} */ (window).away = true; });
  same(await hidden.title(), "glis", "the title before anything is asked");
  await house.glis("send", "blue", "approve run touch it");
  await hidden.waitForFunction(() => document.title === "(1) glis", null, { polling: 100 });
  await house.glis("answer", "blue", "deny", "--request", (await house.glis("show", blue.id)).asks[0].request);
  await hidden.waitForFunction(() => document.title === "glis", null, { polling: 100 });
  await gone(page, ".card.asks");
});
