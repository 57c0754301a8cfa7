/** How a session is and why: what does not run can be resumed, with its reason, and a pause is what was asked for. */

import { check, gone, has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("broken", "--prompt", "say I try. ;; die 3");
  await house.headless("sleeper", "--prompt", "cost 0.25 ;; say done");
  await house.headless("limited", "--prompt", "limit +3600");
  await house.headless("asker", "--prompt", "approve run touch it");
  await house.headless("worker", "--prompt", "write a.txt one\\n ;; say At it. ;; work 600");
  await house.until("broken", "interrupted");
  await house.until("sleeper", "idle");
  await house.until("limited", "paused");
  await house.until("asker", "waiting");
  await house.until("worker", "busy");
  await house.glis("pause", "asker", "--mode", "force");
  const page = await desk.paired("desk");
  const open = async (/** @type {string} */ name) => {
    await page.click(`#list .row:has-text('${name}')`);
    await shows(page, "#main h2", name);
  };
  const offers = () => page.locator(".head .buttons > button").allInnerTexts();

  await open("broken");
  await has(page, "interrupted");
  same(await offers(), ["Resume"], "what a session that died offers");
  await shows(page, ".card.rests", "its process died: exit status 3");
  await page.click("#do-more");
  same(await page.locator("#do-force").count(), 0, "ways to pause what does not run");
  await page.keyboard.press("Escape");
  await page.click("#do-resume.filled");
  await has(page, "idle");
  same(await offers(), ["Pause"], "what a session that runs offers");

  await open("limited");
  await shows(page, ".card.paused", "Usage limit until");
  await shows(page, ".card.paused", "Does not resume by itself.");
  await open("asker");
  await shows(page, ".card.asked", "touch it");
  await shows(page, ".card.paused", "A user paused it.");

  // What it asks while it is looked at stays to be seen when it is paused, here and in the list, once.
  await house.headless("late", "--prompt", "approve run touch late");
  await house.until("late", "waiting");
  await open("late");
  await shows(page, ".card.asks", "touch late");
  await house.glis("pause", "late", "--mode", "force");
  await shows(page, ".card.asked", "touch late");
  await shows(page, "#list .row .asks", "asked: run touch late");
  same(await page.locator(".card.gone, .card.asks").count(), 0, "other cards about it");

  // What it has cost, changed and holds; warnings; and what the end of a turn says.
  await open("sleeper");
  await shows(page, ".facts", "$0.25");
  await shows(page, ".facts", "MB");
  await open("worker");
  await has(page, "busy");

  // The second press of a double click takes nothing back, and what is cancelled here has not failed.
  for (const size of [{ width: 1280, height: 800 }, { width: 390, height: 844 }]) {
    await page.setViewportSize(size);
    await page.route("**/pause", async (route) => {
      // One that waits for a turn which does not end.
      const { cancel } = route.request().postDataJSON();
      return route.continue(cancel ? {} : { postData: JSON.stringify({ mode: "boundary" }) });
    });
    await page.dblclick("#do-pause");
    await shows(page, "#do-pause:disabled", "Pausing...");
    await page.waitForFunction(() => document.querySelector("#do-cancel:not(:disabled)"));
    same((await house.events()).filter((event) => event.event === "pause_cancelled").length, size.width === 1280 ? 0 : 1, "pauses that were cancelled");
    await page.click("#do-cancel");
    await page.waitForFunction(() => document.querySelector("#do-pause:not(:disabled)"));
    same(await page.locator(".toast").allInnerTexts(), [], "what is complained of");
    await page.unroute("**/pause");
  }
  await page.setViewportSize({ width: 1280, height: 800 });

  // Force is offered for an agent that is at work, and for nothing else.
  const fail = async (/** @type {string} */ kind) => {
    await page.route("**/pause", (route) => route.fulfill({ status: 409, json: { error: { kind, message: `it is ${kind}`, hint: null } } }), { times: 1 });
    await page.click("#do-pause");
    await shows(page, ".toast", `Failed to pause: it is ${kind}`);
    const offered = await page.locator(".toast button:text-is('Force')").count();
    await page.click(".toast [aria-label=Dismiss]");
    await gone(page, ".toast");
    return offered;
  };
  same([await fail("busy"), await fail("not_safe")], [0, 1], "offers of force");

  await house.glis("pause", "worker", "--mode", "interrupt");
  await page.click("#tab-conversation");
  await shows(page, ".entry.by-system", "turn interrupted");
  await shows(page, ".facts", "1 file changed");
  check(!(await page.locator(".entry p").allInnerTexts()).includes(""), "entries without words");
});
