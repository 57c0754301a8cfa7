/** Comments on what an agent has changed: kept over a reload, and sent as one message. */

import { has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.headless("blue", "--prompt", "write a.txt one\\ntwo\\nthree\\n");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await has(page, "idle");
  const look = async () => {
    await page.click("#tab-changes");
    await shows(page, ".diff .is-added", "two");
  };
  const on = (/** @type {string} */ line) => page.locator(".diff .is-added", { hasText: line });
  await look();
  for (const line of ["two", "three"]) {
    await on(line).hover();
    await on(line).locator("button").click();
    await on(line).locator("textarea").fill(`say about ${line}`);
  }
  await page.reload();
  await live(page);
  // What is not there any more is not forgotten either.
  await house.glis("send", "blue", "edit a.txt three => four");
  await house.until("blue", "idle");
  await look();
  same(await on("two").locator("textarea").inputValue(), "say about two", "a comment after a reload");
  await shows(page, ".lost", "three");
  const sent = page.waitForResponse(/\/send$/);
  await page.click("#send-comments");
  await page.locator(".diff textarea").first().waitFor({ state: "detached" });
  await page.waitForFunction(() => !localStorage.getItem("glis.comments") || localStorage.getItem("glis.comments") === "{}");
  // What is answered is stored.
  await sent;
  const events = (await house.events()).filter((event) => event.session === blue.id);
  const said = events.filter((event) => event.event === "message_queued").map((event) => event.text);
  same(said.slice(2), ["Comments on your changes:\n\na.txt:2\n> +two\nsay about two\n\na.txt:3\n> +three\nsay about three"], "what was sent");
});
