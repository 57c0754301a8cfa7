/** A link that was used already: its device goes on, and nobody else is shut out by it. */

import { live, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const link = await house.link("desk");
  const page = await desk.page();
  await page.goto(link);
  await live(page);
  for (let times = 0; times < 6; times += 1) {
    await page.goto("about:blank");
    await page.goto(link);
    await live(page);
    await shows(page, "#list", "No sessions.");
  }
  // Another device is told that it was used, as often as it tries.
  const other = await desk.page({ size: "phone" });
  for (let times = 0; times < 6; times += 1) {
    await other.goto("about:blank");
    await other.goto(link);
    await shows(other, "#main", "This device is not known here");
    await shows(other, "#main .bad", "used already");
  }
  await other.goto(await house.link("phone"));
  await live(other);
});
