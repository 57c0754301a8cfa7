/** Labels, pins, snoozes and budgets on the page: what a person has put aside asks for nobody, and what is pinned stands first. */

import { same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("first", "--prompt", "say one");
  await house.headless("second", "--prompt", "say two");
  await house.headless("asker", "--prompt", "approve run touch it");
  await house.until("asker", "waiting");
  const page = await desk.paired("desk");
  const open = async (/** @type {string} */ name) => {
    await page.click(`#list .row:has-text('${name}')`);
    await shows(page, "#main h2", name);
    if (!(await page.locator("details.more[open]").count())) await page.click("#do-more");
  };
  await shows(page, "#group-you .name", "asker");
  await shows(page, "#row-asks", "1 open");

  await open("asker");
  await page.fill("#do-label-text", "auth -none");
  await page.click("#do-label");
  await shows(page, "#group-you .row", "#auth");
  await page.fill("#do-snooze-text", "soon");
  await page.click("#do-snooze");
  await shows(page, "#toasts", "`soon` is no time");
  await page.fill("#do-snooze-text", "2h");
  await page.click("#do-snooze");
  await shows(page, "#group-rest .row", "snoozed until");
  await shows(page, "#row-asks", "none open");
  same(await page.locator("#group-you").count(), 0, "groups that need a person");
  // Who goes there can answer all the same.
  await shows(page, ".card.asks", "touch it");
  await page.fill("#do-snooze-text", "off");
  await page.click("#do-snooze");
  await shows(page, "#row-asks", "1 open");

  // Found by its label, and by words in any order.
  await page.keyboard.press("Escape");
  await page.locator("#main h2").click();
  await page.keyboard.press("/");
  await page.keyboard.type("wait #auth");
  await page.waitForFunction(() => document.querySelectorAll("#list .row .mark + .name").length === 2);
  await shows(page, "#group-you .name", "asker");
  await page.fill("#filter", "nobody");
  await shows(page, "#list", "No session fits.");
  await page.fill("#filter", "");
  await shows(page, "#list .row .name", "first");

  // Both have come to an end; the later one stands first once it is pinned.
  await house.until("second", "idle");
  const order = () => page.locator("#list .row .name").allInnerTexts();
  const before = (await order()).filter((name) => name.includes("first") || name.includes("second"));
  same(before, ["first", "second"], "the order as they were made");
  await open("second");
  await page.click("#do-pin");
  await shows(page, "#list .row .name [title=pinned]", "^");
  await house.glis("stop", "second");
  await house.glis("stop", "first");
  await page.waitForFunction(() => {
    const names = [...document.querySelectorAll("#list .row .name")].map((name) => name.textContent);
    return names.findIndex((name) => name?.includes("second")) < names.findIndex((name) => name?.includes("first"));
  });

  // A budget ends in a question, which is answered like any other.
  await open("second");
  await page.fill("#do-budget-text", "five");
  await page.click("#do-budget");
  await shows(page, "#toasts", "`five` is no part of a budget");
  await page.fill("#do-budget-text", "usd=5");
  await page.click("#do-budget");
  await shows(page, "#main .facts", "0% of usd=5");
  await house.glis("send", "second", "cost 4.5 ;; say nearly");
  await shows(page, "#list", "90% of its budget");
  await house.glis("send", "second", "cost 6 ;; say over");
  await shows(page, ".card.asks", "The budget is used up ($6 of $5). Grant as much again?");
  await page.locator(".card.asks button", { hasText: "grant" }).click();
  await shows(page, "#main .facts", "0% of usd=5");
  await house.until("second", "idle");
});
