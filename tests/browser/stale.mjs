/** A session that cannot be read for a while is read again, without anything else having to happen. */

import { check, has, shows, story } from "./driver.mjs";

/** A read of one session. */
const read = /\/sessions\/[^/?]+(\?.*)?$/;

await story(async ({ house, desk }) => {
  await house.headless("blue", "--prompt", "say ready");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('blue')");
  await has(page, "idle");

  // The server has too much to do for it, while the events go on.
  let refused = 0;
  await page.route(read, (route) => {
    refused += 1;
    return route.fulfill({ status: 503, json: { error: { kind: "busy", message: "come again" } } });
  });
  await house.glis("send", "blue", "approve Bash: touch it");
  await house.until("blue", "waiting");
  while (refused < 2) await page.waitForRequest(read);
  await page.unroute(read);
  await has(page, "waiting");
  await shows(page, ".card.asks", "touch it");

  // It cannot be reached at all.
  let cut = 0;
  await page.route(read, (route) => {
    cut += 1;
    return route.abort("connectionreset");
  });
  await house.glis("answer", "blue", "allow");
  await house.until("blue", "idle");
  while (cut < 2) await page.waitForRequest(read);
  await page.unroute(read);
  await has(page, "idle");
  check(refused >= 2 && cut >= 2, "reads that failed");
});
