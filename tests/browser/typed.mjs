/** What was typed is kept until it has arrived, and what is made is made once, also where the answer was lost. */

import { check, gone, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const red = await house.headless("red", "--prompt", "question Which colour?");
  await house.until("red", "waiting");
  const page = await desk.paired("desk");
  const go = (/** @type {string} */ hash) => page.evaluate((to) => { location.hash = to; }, hash);
  const again = async () => {
    await page.reload();
    await live(page);
  };

  // The answer to a question.
  await go("#/asks");
  await page.fill(".card.asks textarea", "blue, since");
  await again();
  await page.waitForSelector(".card.asks textarea");
  same(await page.inputValue(".card.asks textarea"), "blue, since", "the answer after a reload");
  // Somebody else answers: what was typed here is not lost.
  await house.glis("answer", "red", "green", "--request", (await house.glis("show", "red")).asks[0].request);
  await gone(page, ".card.asks");
  await shows(page, ".card.left", "blue, since");
  await page.click(".card.left button:text-is('Put it into a message')");
  await shows(page, "#main h2", "red");
  same(await page.inputValue("#message"), "blue, since", "what was typed, as a message");
  await page.fill("#message", "");
  await go("#/asks");
  same(await page.locator(".card.left").count(), 0, "what is left of answers");

  // The first message of a session that is not started yet.
  await go("#/new");
  const words = "say doubled words";
  await page.fill("#new-prompt", words);
  await page.selectOption("#new-agent", "rehearsal");
  await page.click("#main .fold > summary");
  await page.check("input[name=headless]");
  await again();
  await page.waitForSelector("#new-prompt");
  same(await page.inputValue("#new-prompt"), words, "the first message after a reload");
  check(await page.isChecked("input[name=headless]"), "what was chosen after a reload");
  await go("#/");
  await go("#/new");
  await page.waitForSelector("#new-prompt");
  same(await page.inputValue("#new-prompt"), words, "the first message after a look at the list");

  // Its answer is lost, and it is started again: there is one.
  /** @type {Set<string>} */
  const lost = new Set();
  const lose = async (/** @type {any} */ route) => {
    const url = route.request().url();
    if (route.request().method() !== "POST" || lost.has(url)) return route.continue();
    lost.add(url);
    await route.fetch();
    await route.abort("connectionreset");
  };
  await page.route("**/api/v1/sessions", lose);
  await page.click("button:text-is('Start')");
  await shows(page, ".toast", "Failed to start");
  same(lost.size, 1, "answers that were lost");
  await again();
  await page.waitForSelector("#new-prompt");
  await page.click("button:text-is('Start')");
  // A session without a terminal begins with its conversation.
  await page.waitForSelector("#tab-conversation[aria-selected=true]");
  same((await house.glis("ls")).length, 2, "sessions after two presses");
  await go("#/new");
  same(await page.inputValue("#new-prompt"), "", "the first message of the next one");

  // So for a plan's draft, which no message that is typed forgets.
  await go("#/plans");
  await page.fill("#plan-new textarea", "say Here:\\n```toml\\n[[task]]\\nid = \"air\"\\nprompt = \"say y\"\\n```");
  await page.fill("#plan-new input[name=agent]", "rehearsal");
  await page.route("**/plan/new", lose);
  await page.click("#plan-new button");
  await shows(page, ".toast", "Failed to begin a draft");
  await page.click("#plan-new button");
  await shows(page, "#plan-draft pre", "air");
  same((await house.glis("ls")).length, 3, "sessions after two presses for a draft");
  await go(`#/s/${red.id}`);
  await page.fill("#message", "half a thought");
  await go("#/plans");
  await shows(page, "#plan-draft pre", "air");
});
