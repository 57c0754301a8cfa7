/** The home of the page: what is asked, who stands still, what is done and what is at work, each with its way on. */

import { gone, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const page = await desk.paired("desk");
  await shows(page, "#main", "Nothing runs here yet.");
  await page.click("#main .steps a");
  await shows(page, "#main h2", "New session");
  await page.click("#row-asks");

  await house.headless("asker", "--prompt", "approve run touch it ;; say thanks");
  await house.headless("done", "--prompt", "write a.txt one ;; say all is done");
  await house.headless("worker", "--prompt", "say on it ;; work 600000");
  await house.headless("broken", "--prompt", "say I try. ;; die 3");
  await house.until("asker", "waiting");
  await house.until("done", "idle");
  await house.until("broken", "interrupted");
  const section = (/** @type {string} */ head) => page.locator("#main section.inbox", { has: page.locator("h3.group-head", { hasText: head }) });
  await shows(page, "#main .card.asks", "touch it");
  await section("Failed").locator(".card", { hasText: "exit status 3" }).waitFor();
  await section("Done").locator(".card", { hasText: "all is done" }).waitFor();
  await section("At work").locator(".row", { hasText: "worker" }).waitFor();

  // Answered and resumed in place; what is asked again, or ends, stands there again.
  await page.locator("#main .card.asks button", { hasText: "Allow" }).first().click();
  await gone(page, "#main section.card.asks");
  await section("Done").locator(".card", { hasText: "asker" }).waitFor();
  const broken = section("Failed").locator(".card", { hasText: "broken" });
  await broken.locator("button", { hasText: "Resume" }).click();
  await house.until("broken", "idle");
  await gone(page, "#main .card.bad");

  // A review begins with the changes, and what was looked at is not new.
  await section("Done").locator("a", { hasText: "Review 1 file" }).click();
  await shows(page, "#main h2", "done");
  same(await page.locator("#tab-changes").getAttribute("aria-selected"), "true", "the tab that is open");
  await shows(page, ".pane", "a.txt");
  await page.click("#row-asks");
  await shows(page, "#main h2", "Inbox");
  await page.waitForFunction(() => !document.querySelector("#main")?.textContent?.includes("all is done"));
});
