/** A link that was used already: its device goes on, and nobody else is shut out by it. */

import { live, same, shows, story } from "./driver.mjs";

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

  // A browser that an older version has paired had a cookie: it is told that it is to be paired again.
  await other.evaluate(() => {
    localStorage.removeItem("glis.device");
    localStorage.setItem("glis.server", "0123 4567");
  });
  await other.reload();
  await shows(other, "#main .bad", "paired by an older version");
  await other.goto("about:blank");
  await other.goto(await house.link("phone again"));
  await live(other);
  await other.reload();
  await live(other);
  // What is forgotten is forgotten on both sides.
  await other.evaluate(() => { location.hash = "#/settings"; });
  await desk.confirm(other.locator("button:text-is('Forget this device')"));
  await shows(other, "#main", "This device is not known here");
  same(await other.evaluate(() => localStorage.getItem("glis.device")), null, "what the browser keeps");
});
