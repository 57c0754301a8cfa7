/** Changes are walked through by keys: file by file, hunk by hunk, with ticks for what was looked at; and what was
 * found goes back, or is merged. */

import fs from "node:fs";
import path from "node:path";
import { check, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const repo = await house.ask("repo");
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at + 1}\n`).join("");
  for (const [file, text] of [["long.txt", lines], ["old.txt", lines], ["same.txt", "x\nx\n"]]) fs.writeFileSync(path.join(repo, file), text);
  await house.ask("git", ["add", "."]);
  await house.ask("git", ["commit", "--quiet", "--message", "begin"]);
  await house.headless("blue", "--prompt", "edit long.txt line 3\\n => line three\\n ;; edit long.txt line 38 => line thirty-eight ;; "
    + "run git mv old.txt new.txt ;; append same.txt x\\n");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await page.click("#tab-changes");
  await shows(page, ".file", "long.txt");

  // Lines have numbers, words that are others are marked, and what was renamed is told as that.
  const long = page.locator(".file", { hasText: "long.txt" });
  const row = (/** @type {string} */ text) => long.locator(".diff > div", { hasText: text });
  same(await row("-line 3").first().getAttribute("data-at"), "3", "the number of what went");
  same(await row("+line three").getAttribute("data-at"), "3", "the number of what came");
  same(await long.locator("mark").allInnerTexts(), ["3", "three", "38", "thirty-eight"], "words that are others");
  await shows(page, ".file summary", "from old.txt");
  same(await page.locator(".files a").allInnerTexts(), ["long.txt", "new.txt", "same.txt"], "the files");

  // By keys, from wherever one is.
  const at = () => page.evaluate(() => document.activeElement?.textContent?.split("@@")[1] ?? document.activeElement?.textContent ?? "");
  await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  await page.keyboard.press("n");
  check((await at()).startsWith(" -1,"), `the first hunk: ${await at()}`);
  await page.keyboard.press("n");
  check((await at()).startsWith(" -35,"), `the next: ${await at()}`);
  await page.keyboard.press("p");
  check((await at()).startsWith(" -1,"), `and back: ${await at()}`);
  await page.keyboard.press("v");
  check(await page.locator(".files input").first().isChecked(), "a tick for what was looked at");
  check(!await long.evaluate((one) => /** @type {HTMLDetailsElement} */ (one).open), "which is folded");
  await page.locator(".files a").first().focus();
  await page.keyboard.press("]");
  check((await at()).startsWith("long.txt"), `the first file: ${await at()}`);
  await page.keyboard.press("]");
  check((await at()).startsWith("new.txt"), `the next: ${await at()}`);
  await page.reload();
  await live(page);
  await page.click("#tab-changes");
  await shows(page, ".file", "long.txt");
  same(await page.locator(".files input").evaluateAll((all) => all.map((one) => /** @type {HTMLInputElement} */ (one).checked)), [true, false, false], "ticks after a reload");
  // What has changed since was not looked at.
  await house.says("send", "blue", "edit long.txt line 20 => line twenty");
  await house.until("blue", "idle");
  await page.waitForFunction(() => document.querySelectorAll(".files input:checked").length === 0);

  // Of two lines that are the same the comment knows which it is.
  const same3 = page.locator(".file", { hasText: "same.txt" }).locator(".diff > div[data-at='3']");
  await same3.hover();
  await same3.locator("button").click();
  await same3.locator("textarea").fill("not again");
  same(await page.locator("#send-comments").innerText(), "Request changes (1)", "what will be sent");
  await page.click("#send-comments");
  await shows(page, ".letter, .toast, #send-comments", "Request changes");
  const said = (await house.events()).filter((event) => event.event === "message_queued").map((event) => event.text);
  check(said.at(-1).endsWith("same.txt:3\n> +x\nnot again"), `what was sent: ${said.at(-1)}`);
  await house.until("blue", "idle");

  // Merged, it says into what.
  same(await page.locator("#changes-merge").innerText(), "Merge into main", "where it goes");
  await desk.confirm(page.locator("#changes-merge"));
  await shows(page, ".toast", "Merged into");
});
