/** Somebody who has never seen the page: from the link to the trash and back. */

import { check, gone, has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const page = await desk.page();
  await page.goto(await house.link("desk"));
  await live(page);
  check(!page.url().includes("pair="), "the code is out of the address");
  await shows(page, "#list", "No sessions.");
  await shows(page, "#main", "Inbox");

  await page.click("#row-new");
  await page.fill("#new-repo", await house.ask("repo"));
  await page.fill("#new-name", "blue");
  await page.selectOption("#new-agent", "other");
  await page.fill("#new-other", "rehearsal");
  await page.fill("#new-prompt", "todo one|two|three|four ;; say good morning");
  await page.click("button:text-is('Start')");
  await shows(page, "#main h2", "blue");
  await shows(page, ".screen .line", "good morning");
  await has(page, "idle");

  await page.fill("#message", "approve Bash: touch it");
  await page.click("button:text-is('Send')");
  await shows(page, ".card.asks", "touch it");
  await shows(page, "#list .row", "blue");
  same(await page.title(), "(1) glis", "the title counts what is asked");
  await page.click(".card.asks button:text-is('Allow')");
  await gone(page, ".card.asks");
  await has(page, "idle");
  await gone(page, ".letter");

  // A pause that waits for the turn is taken back.
  await page.fill("#message", "say beginning ;; work 600");
  await page.press("#message", "Control+Enter");
  await has(page, "busy");
  await page.click("#do-more");
  await page.click("#do-boundary");
  await shows(page, "#do-pause:disabled", "Pausing...");
  await page.click("#do-cancel");
  await has(page, "busy");

  // One that fails says why, and offers the way that does not wait.
  const refusal = { error: { kind: "not_safe", message: "no safe state", hint: "force it" } };
  await page.route("**/pause", (route) => route.fulfill({ status: 409, json: refusal }), { times: 1 });
  await page.click("#do-pause");
  await shows(page, ".toast", "Failed to pause: no safe state");
  await page.click(".toast button:text-is('Force')");
  await shows(page, ".card.paused .badge", "Paused");
  await shows(page, ".card.paused", "Last Action:");
  await shows(page, ".card.paused", "Pending:");
  same(await page.locator(".card.paused li").count(), 3, "pending tasks that are shown");
  same((await house.glis("show", "blue")).status, "paused", "what the command line says");

  await page.click("#do-resume");
  await gone(page, ".card.paused");
  await page.waitForFunction(() => document.querySelector("#do-pause:not(:disabled)"));
  const before = (await house.glis("show", "blue")).agent_session_ref;

  await page.click("#do-more");
  await desk.confirm(page.locator("#do-restart"));
  await page.waitForFunction(() => !document.querySelector("#do-restart:disabled"));
  await has(page, "idle");
  check((await house.glis("show", "blue")).agent_session_ref !== before, "the conversation is a fresh one");

  await desk.confirm(page.locator("#do-rm"));
  await shows(page, "#list", "No sessions.");
  await page.click("#row-trash");
  await page.click("button:text-is('Take back')");
  await shows(page, "#main h2", "blue");
  await shows(page, "#list .row", "blue");

  // From here the whole of it stops, and goes on.
  await desk.confirm(page.locator("#gate-do"));
  await shows(page, "#gate-do", "Resume all");
  await desk.confirm(page.locator("#gate-do"));
  await shows(page, "#gate-do", "Pause all");
});
