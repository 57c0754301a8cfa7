/** A message of which it is not known whether it arrived is asked about as that. */

import { gone, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  // An agent that swallows a message twice.
  await house.glis("new", "blue", "--agent", "rehearsal", "--", "--misbehave", "swallow=2");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await page.fill("#message", "say heard");
  await page.press("#message", "Control+Enter");
  await shows(page, ".card.asks", "Did the agent get this message?");
  await shows(page, ".card.asks .wanted", "say heard");
  await shows(page, ".card.asks .said", "Its terminal shows");
  same(await page.locator(".card.asks button").allInnerTexts(), ["Send again", "Drop it"], "the answers");
  await page.click(".card.asks button:text-is('Send again')");
  await gone(page, ".card.asks");
  await shows(page, ".card.gone", "sent again here");
  await shows(page, ".screen .line", "heard");
});
