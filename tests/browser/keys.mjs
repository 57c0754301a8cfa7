/** What is asked is answered by a key, with a reason where that is a no; and every place is a few letters away. */

import { check, gone, has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const repo = (await house.ask("repo")).split("/").pop();
  for (const name of ["one", "two", "three"]) {
    await house.headless(name, "--prompt", `say I look at ${name} first. ;; approve run touch ${name}`);
    await house.until(name, "waiting");
  }
  const page = await desk.paired("desk");
  const card = (/** @type {string} */ name) => page.locator(".card.asks", { has: page.locator(`a:text-is('${name}')`) });
  const answers = async () => (await house.events()).filter((event) => event.event === "answer_began");

  // Whose it is, how long it waits, and what led to it.
  await card("three").waitFor();
  const head = await card("one").locator("header").innerText();
  check(["rehearsal", repo, "asked "].every((part) => head.includes(part)), `the head of a question: ${head}`);
  await shows(page, ".card.asks .led", "I look at one first.");

  // The first, or the one that has the focus; while something is typed a key is a letter.
  await card("one").locator("button:text-is('Allow'):not([aria-disabled])").waitFor();
  await page.focus("#filter");
  await page.keyboard.press("a");
  await page.fill("#filter", "");
  await page.evaluate(() => /** @type {HTMLElement} */ (document.activeElement)?.blur());
  await page.keyboard.press("Control+KeyA");
  await page.keyboard.press("Alt+KeyA");
  same(await answers(), [], "answers by what is typed, or by other keys with the same letter");
  await page.keyboard.press("a");
  await shows(page, ".card.gone", "one allowed here");
  await card("three").locator("button:text-is('Deny')").focus();
  await page.keyboard.press("d");
  await page.keyboard.type("too early");
  await page.keyboard.press("Enter");
  await shows(page, ".card.gone", "three denied here");
  same((await answers()).map(({ answer }) => answer), ["allow", "deny"], "answers");
  // This agent takes no reason with a no: it is told as a message.
  check((await house.events()).some((event) => event.event === "message_queued" && event.text === "too early"), "the reason is told");
  // One that is not in sight is brought there, and nothing else.
  await page.setViewportSize({ width: 1280, height: 200 });
  let sent = 0;
  page.on("request", (request) => { if (request.url().endsWith("/answer")) sent += 1; });
  const away = await page.evaluate(() => {
    const main = /** @type {HTMLElement} */ (document.querySelector("#main"));
    const button = /** @type {HTMLElement} */ (document.querySelector(".card.asks [data-says=allow]"));
    main.scrollTop = 0;
    const { left, top, width, height } = button.getBoundingClientRect();
    const away = !button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key: "a", bubbles: true }));
    return away;
  });
  check(away, "the button is not in sight");
  await card("two").locator("button:text-is('Allow')").click({ trial: true });
  same(sent, 0, "answers by a key to what is not in sight");
  await page.setViewportSize({ width: 1280, height: 800 });

  // A few letters lead to a session, a place, or what can be done there.
  const go = async (/** @type {string} */ words) => {
    await page.keyboard.press("Control+KeyK");
    await page.locator("dialog input").waitFor();
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
    await gone(page, "dialog");
  };
  await go("three");
  await shows(page, "#main h2", "three");
  await go("snapsh");
  await has(page, "idle");
  await go("snapshots");
  same(await page.locator("#tab-snapshots").getAttribute("aria-selected"), "true", "the view that was gone to");
  await go("trash");
  await shows(page, "#main h2", "Trash");
  await page.keyboard.press("?");
  await shows(page, "dialog kbd", "ctrl+k");
  await page.keyboard.press("Escape");
  await gone(page, "dialog");

  // What sessions were found by is kept, and two actions do not share keys.
  await page.fill("#filter", "idle");
  await page.click("#filter-keep");
  await page.fill("#filter", "");
  await page.reload();
  await live(page);
  await page.click(".filters button:text-is('idle')");
  await gone(page, "#list .group .row", "two");
  await shows(page, "#list .group .row", "three");
  await page.click("#filter-keep");
  await page.evaluate(() => { location.hash = "#/settings"; });
  await page.focus("#key-allow");
  await page.keyboard.press("d");
  await shows(page, ".toast", "These keys are taken: Deny");
  same(await page.inputValue("#key-allow"), "a", "the keys to allow");

  // A paused session stands in the list as a card.
  await page.fill("#filter", "");
  await house.says("send", "three", "todo first|second|third|fourth ;; say halfway");
  await house.until("three", "idle");
  await house.glis("pause", "three");
  await shows(page, "#list .paused", "Paused");
  same(await page.locator("#list .paused li").allInnerTexts(), ["first", "second", "third"], "what it has before it");
  await page.click("#list .paused button:text-is('Resume')");
  await house.until("three", "idle");
  await gone(page, "#list .paused");
});
