/** Three browsers among two hundred clients: each of them is told, and each shows what happens. */

import { gone, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "cat");
  const pages = [await desk.paired("desk"), await desk.paired("laptop"), await desk.paired("phone", { size: "phone" })];
  // Three pages have a stream each; the rest are scripts.
  await house.ask("clients", ["197"]);
  for (const page of pages) {
    await page.click("#list .row:has-text('shell')");
    await page.locator(".screen .line").first().waitFor();
  }
  await house.glis("send", "shell", "good morning");
  for (const page of pages) await shows(page, ".screen .line", "good morning");
  await house.headless("blue", "--prompt", "approve Bash: touch it");
  await house.until("blue", "waiting");
  for (const page of pages) {
    await page.evaluate(() => { location.hash = "#/asks"; });
    await shows(page, ".card.asks", "touch it");
  }
  await pages[2].click(".card.asks button:text-is('Allow')");
  for (const page of pages) await gone(page, "section.card.asks");
  same(await house.ask("clients told"), 197, "clients that were told each event once and in order");
});
