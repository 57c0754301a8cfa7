/** Ways back, menus that close, and reasons for what cannot be pressed. */

import { has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.headless("blue", "--prompt", "say hello");
  await house.until("blue", "idle");
  const phone = await desk.paired("phone", { size: "phone" });
  for (const view of ["asks", "new", "search", "trash", "plans", "settings"]) {
    await phone.evaluate((to) => { location.hash = `#/${to}`; }, view);
    await phone.click("#main .back");
    await shows(phone, "#list .row", "blue");
    same(await phone.locator("#list").isVisible(), true, `the list after ${view}`);
  }

  const page = await desk.paired("desk");
  await page.evaluate((id) => { location.hash = `#/s/${id}`; }, blue.id);
  await has(page, "idle");
  const open = () => page.evaluate(() => /** @type {HTMLDetailsElement} */ (document.querySelector("details.more")).open);
  await page.click("#do-more");
  same(await open(), true, "the menu");
  await page.keyboard.press("Escape");
  same([await open(), await page.evaluate(() => document.activeElement?.id)], [false, "do-more"], "the menu after Escape");
  await page.click("#do-more");
  await page.click("#pane");
  same(await open(), false, "the menu after a press elsewhere");
  await page.click("#do-more");
  await page.fill("#do-for-text", "1h");
  same(await open(), true, "the menu while something is typed in it");
  await page.keyboard.press("Escape");

  // A pause that fails is advised of in the words of the page.
  const refusal = { error: { kind: "not_safe", message: "no safe state", hint: "`glis pause blue --mode force`" } };
  await page.route("**/pause", (route) => route.fulfill({ status: 409, json: refusal }), { times: 1 });
  await page.click("#do-pause");
  await shows(page, ".toast", "no safe state");
  same((await page.locator(".toast").innerText()).includes("--mode"), false, "an advice for another place");

  const watch = await desk.paired("watcher", { size: "phone", scope: "watch" });
  for (const hash of [`#/s/${blue.id}`, "#/new"]) {
    await watch.evaluate((to) => { location.hash = to; }, hash);
    await shows(watch, "#main", "may only watch");
  }
});
