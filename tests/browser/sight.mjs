/** What is asked to be allowed is what would run, and no letter of an agent turns what stands around it. */

import { check, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const turned = "rm \u202e txt.ton\u202c \u200b\u00ad\u2066x\u2069 \u034f\u17b4\u2800\u00a0\u3000\ufe0f \u26a0\ufe0f";
  const written = "rm \\u{202e} txt.ton\\u{202c} \\u{200b}\\u{ad}\\u{2066}x\\u{2069} \\u{34f}\\u{17b4}\\u{2800}\\u{a0}\\u{3000}\\u{fe0f} \u26a0\ufe0f";
  const odd = "n\u00e4he \u65e5\u672c \u202e\"q\".txt";
  const path = odd.replaceAll(" ", "_");
  const words = `write ${path} one\u202eeno\\n ;; say so\u202eos ;; approve Bash: ${turned}`;
  const bold = await house.headless("bold", "--prompt", words);
  await house.until("bold", "waiting");
  const page = await desk.page();
  await page.addInitScript(() => {
    const told = (/** @type {any} */ (window).told = []);
    Object.defineProperty(document, "visibilityState", { get: () => "hidden" });
    /** @type {any} */ (window).Notification = class {
      static permission = "granted";
      constructor(/** @type {string} */ title, /** @type {any} */ { body }) { told.push(`${title}: ${body}`); }
    };
  });
  await page.goto(await house.link("desk"));
  await shows(page, "#list .row .asks", written);
  await page.evaluate(() => { location.hash = "#/asks"; });
  await shows(page, ".card.asks", written);
  await page.evaluate((id) => { location.hash = `#/s/${id}`; }, bold.id);
  await shows(page, ".card.asks", written);
  await shows(page, ".entry.by-assistant", "so\\u{202e}os");
  await page.click("#tab-changes");
  await shows(page, ".diff .is-added", "one\\u{202e}eno");
  // A file has its own name, also beyond ASCII.
  await shows(page, ".file summary", path.replace("\u202e", "\\u{202e}"));
  await page.locator(".diff .is-added .comment").click();
  await page.fill(".diff textarea", "why?");
  let sent = "";
  await page.route("**/send", async (route) => {
    sent = route.request().postDataJSON().text;
    await route.continue();
  });
  await page.click("#send-comments");
  await shows(page, ".letter", "Comments on your changes");
  await page.waitForFunction(() => document.querySelector(".letter:not(.is-sending)"));
  check(sent.includes(`\n${path}:1\n>`), `a comment names its file: ${sent}`);
  // No text anywhere has a letter that turns others.
  const turns = () => page.evaluate(() => /[\u202a-\u202e\u2066-\u2069]/.test(document.body.textContent ?? ""));
  same(await turns(), false, "letters that turn others in a session");
  await page.click("#row-search");
  await page.fill("#words", "so");
  await page.press("#words", "Enter");
  await shows(page, ".entry", "\\u{202e}");
  same(await turns(), false, "letters that turn others in what was found");
  await house.headless("late", "--prompt", `approve Bash: ${turned}`);
  await page.waitForFunction((wanted) => /** @type {any} */ (window).told.some((/** @type {string} */ one) => one.includes(wanted)), written);
});
