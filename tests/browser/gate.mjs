/** Everything is paused: who is still at work is named, with ways to stop it, and what is said meanwhile is told what
 * delivers it. */

import { has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  for (const name of ["one", "two"]) await house.headless(name, "--prompt", "say At it. ;; work 600");
  await house.headless("calm", "--prompt", "say done");
  for (const name of ["one", "two"]) await house.until(name, "busy");
  await house.until("calm", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('calm')");
  await has(page, "idle");

  // An answer that lists what did not stop is none that all is well.
  const fault = { error: { kind: "storage", message: "it cannot be written down", hint: null } };
  await page.route("**/api/v1/pause", (route) => route.fulfill({ status: 409, json: [fault] }), { times: 1 });
  await desk.confirm(page.locator("#gate-do"));
  await shows(page, ".toast", "Failed to pause: it cannot be written down");

  await desk.confirm(page.locator("#gate-do"));
  await shows(page, "#gate-waits", "2 still at work: ");
  for (const name of ["one", "two"]) await shows(page, "#gate-waits", name);
  await has(page, "paused");
  same(await page.locator(".head .buttons > button").allInnerTexts(), ["Resume all"], "what one that was stopped with all others offers");
  await shows(page, ".card.paused", "It was paused with all others. Resume all starts it again.");
  await page.fill("#message", "say later");
  await page.press("#message", "Control+Enter");
  await shows(page, ".letter", "Resume all delivers it");

  await page.click("#gate-force");
  await page.waitForFunction(() => /** @type {HTMLElement} */ (document.querySelector("#gate-waits")).hidden);
  await shows(page, "#gate-do", "Resume all");
  await desk.confirm(page.locator("#do-resume-all"));
  await shows(page, "#gate-do", "Pause all");
  await shows(page, ".entry.by-assistant", "later");
});
