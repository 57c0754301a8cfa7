/** Where work goes: a snapshot into a folder, and what is done into a branch. */

import { same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("blue", "--prompt", "write a.txt one");
  await house.until("blue", "idle");
  await house.glis("pause", "blue");
  await house.glis("restore", "blue");
  await house.ask("git", ["branch", "release"]);
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await page.click("#tab-snapshots");
  // What has changed since one was taken is seen before it is restored.
  await house.glis("resume", "blue");
  await house.until("blue", "idle");
  await house.says("send", "blue", "write b.txt later");
  await house.until("blue", "idle");
  await page.locator("#pane .snapshot").last().locator("button", { hasText: "What has changed since" }).click();
  await shows(page, "#pane .file", "b.txt");
  await house.glis("pause", "blue");
  await page.click("#tab-snapshots");
  // One that runs is stopped for it, once that is meant.
  await house.glis("resume", "blue");
  await house.until("blue", "idle");
  await desk.confirm(page.locator("#pane .snapshot").last().locator("button", { hasText: "Restore" }));
  await shows(page, ".toast", "Restored.");
  await page.click(".toast [aria-label=Dismiss]");
  await house.glis("pause", "blue");
  const folder = `${await house.ask("repo")}-restored`;
  // A path that is none is told, and stays as it was typed.
  await page.fill("#restore-to", "restored");
  await page.click("#restore-0");
  await shows(page, ".toast", "Failed to restore");
  same(await page.inputValue("#restore-to"), "restored", "what was typed");
  await page.fill("#restore-to", folder);
  await page.click("#restore-0");
  await shows(page, ".toast", "Restored to");
  same(await house.ask("text", [`${folder}/a.txt`]), "one", "the file that was restored");

  await page.click("#do-more");
  await page.fill("#do-merge-text", "nowhere");
  await page.click("#do-merge");
  await shows(page, ".toast", "Failed to merge");
  await page.fill("#do-merge-text", "release");
  await page.click("#do-merge");
  await shows(page, ".toast", "Merged into release");
  same(await house.ask("git", ["show", "release:a.txt"]), "one", "the branch");
  same(await house.ask("git", ["ls-tree", "--name-only", "HEAD", "a.txt"]), "", "the branch that it began from");
});
