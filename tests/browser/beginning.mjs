/** A session is begun by choices, and what was typed stays after a refusal; so is a loop. What the menu has beyond a
 * button asks first, and says what the rules did. */

import { has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("former", "--prompt", "say done");
  await house.until("former", "idle");
  const page = await desk.paired("desk");
  const begin = async () => {
    await page.evaluate(() => { location.hash = "#/new"; });
    await page.locator("#new-prompt").waitFor();
  };
  await begin();
  same(await page.locator("#new-agent option[value='rehearsal']").count(), 1, "agents that are known");
  await page.fill("#new-prompt", "say with a branch");
  await page.fill("#new-name", "based");
  await page.selectOption("#new-agent", "rehearsal");
  await page.click("#main .fold > summary");
  await page.fill("#new-base", "no-such-branch");
  await page.fill("#new-budget", "usd=5");
  await page.check("#new-auto_yes");
  await page.check("#new-headless");
  await page.click("button:text-is('Start')");
  await shows(page, ".toast", "Failed to start");
  same([await page.inputValue("#new-base"), await page.inputValue("#new-prompt")], ["no-such-branch", "say with a branch"], "what was typed");
  await page.fill("#new-base", "main");
  await page.click("button:text-is('Start')");
  await shows(page, "#main h2", "based");
  const based = await house.glis("show", "based");
  same([based.agent, based.auto_yes, based.base_branch, based.budget.allowed], ["rehearsal", true, "main", "usd=5"], "what was begun");
  await house.until("based", "idle");

  // What the rules have said of what it asked.
  await house.says("send", "based", "approve run ./deploy --now");
  await page.click("#tab-rules");
  await shows(page, "#pane .entry", "left to you");
  await shows(page, "#pane .entry", "deploy --now");
  await page.click(".card.asks button:text-is('Deny')");
  await house.until("based", "idle");

  // Any program, and a loop.
  await begin();
  await page.fill("#new-name", "program");
  await page.selectOption("#new-agent", "command");
  await page.fill("#new-program", "sleep 1000");
  await page.click("button:text-is('Start')");
  await shows(page, "#main h2", "program");
  same((await house.glis("show", "program")).argv, ["sleep", "1000"], "the program");
  await begin();
  await page.fill("#new-prompt", "say again ;; work 600");
  await page.fill("#new-name", "round");
  await page.selectOption("#new-agent", "rehearsal");
  await page.check("#new-again");
  await page.fill("#new-max", "4");
  await page.click("#main .fold > summary");
  await page.check("#new-headless");
  await page.click("button:text-is('Start')");
  await shows(page, ".card", "Iteration #1 of 4");
  same(await page.locator(".card progress").getAttribute("max"), "4", "its bar");

  // Resumed with words, and begun anew with what was said before.
  await house.glis("pause", "former");
  await page.click("#list .row:has-text('former')");
  await has(page, "paused");
  await page.click("#do-more");
  await page.fill("#do-resume-with-text", "say with words");
  await page.click("#do-resume-with");
  await shows(page, ".entry.by-assistant", "with words");
  await house.until("former", "idle");
  await desk.confirm(page.locator("#do-restart-with"));
  await shows(page, ".entry.by-user", "glis");
  await house.until("former", "idle");

  // One that nobody may work on is given back by who knows why.
  /** @type {string[]} */
  const told = [];
  await page.route(/\/sessions\/[^/?]+\?glance=/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json(), barred: told.length ? null : "Work on its files has crashed the daemon twice." } });
  });
  await page.route("**/acknowledge", async (route) => { told.push("acknowledged"); await route.fulfill({ json: {} }); });
  await house.glis("timeout", "former", "30");
  await shows(page, ".card.bad", "crashed the daemon twice");
  await page.click("#do-acknowledge");
  await house.glis("timeout", "former", "40");
  await page.waitForFunction(() => !document.querySelector("#do-acknowledge"));
  same(told, ["acknowledged"], "what was told");
  await page.unroute(/\/sessions\/[^/?]+\?glance=/);

  // What was removed is deleted for good once that is meant.
  await house.glis("rm", "former", "--stop");
  await page.click("#row-trash");
  await shows(page, "#main", "former");
  await desk.confirm(page.locator("#trash-empty"));
  await shows(page, "#main", "The trash is empty.");
});
