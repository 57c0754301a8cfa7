/** The slider through a terminal's past, by mouse, by keyboard and by finger. */

import { check, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const script = "stty -echo; for n in $(seq 1 600); do printf 'row %04d\\r\\n' $n; done; while read line; do printf '\\033[31mheard %s\\033[0m\\r\\n' $line; done";
  const { id } = await house.glis("new", "long", "--agent", "command", "--", "sh", "-c", script);
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('long')");
  await shows(page, ".screen .line", "row 0600");
  const slider = page.locator("#past");
  const told = () => slider.getAttribute("aria-valuetext");
  const rows = () => page.locator(".screen .line").allTextContents();
  /** Waits until the rows are those of the command line at the offset that the slider tells. */
  const agrees = async (/** @type {import("playwright-core").Page} */ where) => {
    const text = (await where.locator("#past").getAttribute("aria-valuetext")) ?? "";
    const at = /byte ([\d,]+) of/.exec(text)?.[1].replaceAll(",", "");
    check(at, `the slider tells where it is: ${text}`);
    const { lines } = await house.glis("screen", "long", "--at", String(at));
    await where.waitForFunction((wanted) => {
      const shown = [...document.querySelectorAll(".screen .line")].map((line) => (line.textContent ?? "").trimEnd());
      return JSON.stringify(shown) === JSON.stringify(wanted);
    }, lines);
    return lines;
  };

  // By the keyboard: its beginning, a step, ten steps, and its end.
  await slider.focus();
  same(await told(), "now", "where it is at first");
  await page.keyboard.press("Home");
  check((await agrees(page)).every((/** @type {string} */ line) => line === ""), "at first there was nothing");
  await page.keyboard.press("PageUp");
  const early = await agrees(page);
  check(early.some((/** @type {string} */ line) => /^row 00[0-9]{2}$/.test(line)), `early rows: ${early}`);
  await page.keyboard.press("ArrowRight");
  check((await agrees(page)).join() !== early.join(), "a step goes on");

  // What is printed meanwhile is not shown, and nothing is typed into it.
  await house.glis("send", "long", "first");
  await page.click(".keys button:text-is('Tab')");
  await shows(page, "#pane", "the key was not sent");
  await shows(page, ".screen .line", "heard first");
  same(await told(), "now", "a key brings the present back");
  await slider.focus();
  await page.keyboard.press("ArrowLeft");
  await agrees(page);
  await page.keyboard.press("End");
  await shows(page, ".screen .line", "heard first");

  // By the mouse, to the middle.
  const box = await slider.boundingBox();
  if (!box) throw new Error("the slider is not to be seen");
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const middle = await agrees(page);
  check(middle.some((/** @type {string} */ line) => /^row 0[23]/.test(line)), `rows of the middle: ${middle}`);
  await house.glis("send", "long", "second");
  while (!(await house.glis("screen", "long")).lines.includes("heard second")) continue;
  check(!(await rows()).some((line) => line.includes("second")), "the past stands still");
  await page.click("#now");
  await shows(page, ".screen .line", "heard second");
  same(await page.evaluate(() => document.activeElement?.id), "past", "who has the keyboard then");
  same(await page.locator(".screen .f1").count() > 0, true, "the present has its colours");

  // Nothing runs any more, and by a finger.
  await house.glis("pause", "long", "--mode", "force");
  const phone = await desk.paired("phone", { size: "phone" });
  await phone.evaluate((session) => { location.hash = `#/s/${session}`; }, id);
  await shows(phone, ".screen .line", "heard second");
  const small = await phone.locator("#past").boundingBox();
  if (!small) throw new Error("the slider is not to be seen on a phone");
  check(small.width > 150, `the slider is ${small.width} wide`);
  await phone.touchscreen.tap(small.x + small.width / 4, small.y + small.height / 2);
  await agrees(phone);
  await phone.tap("#now");
  await shows(phone, ".screen .line", "heard second");
  await shows(phone, "#pane", "Nothing runs here");
});
