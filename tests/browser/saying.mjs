/** A conversation while it goes on: what was said to the agent, its tools, and what it is in the middle of saying. */

import { gone, has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.headless("blue", "--prompt", "say hello");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.evaluate((id) => { location.hash = `#/s/${id}`; }, blue.id);
  await shows(page, ".entry", "hello");
  await page.fill("#message", "say three ;; run true ;; work 600 ;; say four");
  await page.press("#message", "Control+Enter");
  await has(page, "busy");
  await shows(page, ".entry.by-user", "say three");
  await shows(page, ".entry.by-assistant", "three");
  await gone(page, ".letter");
  // A tool is a line that opens to what it was given.
  await shows(page, ".entry.by-tool summary", "true");
  await page.click(".entry.by-tool summary");
  await page.locator(".entry.by-tool pre").waitFor();

  // What is being said is the last entry, and not read out word by word.
  let saying = /** @type {string | null} */ ("Once upon");
  await page.route(/\/sessions\/[^/?]+\?glance=/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json(), saying } });
  });
  await shows(page, ".entry:last-child", "Once upon");
  // The end stays in sight, also where there is more of it than room.
  saying = `Once upon a time${"\nand so on".repeat(100)}\nthe end`;
  await shows(page, ".entry:last-child", "Once upon a time");
  await page.waitForFunction(() => {
    const pane = /** @type {HTMLElement} */ (document.querySelector("#pane"));
    return pane.scrollTop > 0 && pane.scrollTop + pane.clientHeight >= pane.scrollHeight - 4;
  });
  // Who reads what was said before is left there.
  await page.evaluate(() => { /** @type {HTMLElement} */ (document.querySelector("#pane")).scrollTop = 0; });
  saying += ", almost";
  await shows(page, ".entry:last-child", "almost");
  same(await page.evaluate(() => document.querySelector("#pane")?.scrollTop), 0, "where somebody reads");
  same(await page.locator(".entry", { hasText: "Once upon" }).count(), 1, "entries of what is being said");
  same(await page.locator(".entry", { hasText: "Once upon" }).getAttribute("aria-live"), "off", "how a growing entry is told");
  // Who has gone on reading is not disturbed: what was there is the same element still.
  await page.evaluate(() => { /** @type {any} */ (window).first = document.querySelector("#pane .entry"); });
  saying = null;
  await gone(page, ".entry", "Once upon");
  same(await page.evaluate(() => document.querySelector("#pane .entry") === /** @type {any} */ (window).first), true, "the first entry is left alone");

  // Without a terminal there is none to be shown.
  await page.click("#tab-terminal");
  await shows(page, "#pane", "no terminal");
  same(await page.locator("#pane .screen").isVisible().catch(() => false), false, "raw output is shown by itself");
  await page.click("#pane summary");
  await page.locator("#pane .screen").waitFor();
  same(await page.locator("#type-here").count(), 0, "keys for a program that has no terminal");
});
