/** Names, paths, titles, links and lines that would be markup: they are text, and nothing of them runs. */

import { check, shows, story } from "./driver.mjs";

const MARK = "<img src=x onerror=alert(1)><script>alert(2)</script>";
const LINK = "[here](javascript:alert(3)) javascript:alert(4) \\u2028";

await story(async ({ house, desk }) => {
  const repo = await house.ask("repo", [`a<img src=x onerror=alert(5)>`]);
  const words = `todo ${MARK}|${LINK} ;; write a<b>.html ${MARK}\\n ;; say ${MARK} ${LINK} ;; approve Bash: ${MARK}`;
  const bold = await house.headless("bold", "--repo", repo, "--prompt", words);
  await house.until("bold", "waiting");
  // A title, a link, a working folder, and a line that is longer than any screen.
  const title = `printf '\\033]0;${MARK}\\007\\033]8;;javascript:alert(6)\\033\\\\link\\033]8;;\\033\\\\ ${MARK}\\n'; `;
  const line = "head -c 10000000 /dev/zero | tr '\\0' 'x'; echo; echo the end; sleep 1000";
  await house.glis("new", "long", "--agent", "command", "--", "sh", "-c", title + line);
  const page = await desk.paired("desk");
  /** @type {string[]} */
  const strangers = [];
  const own = new URL(page.url()).origin;
  page.on("request", (request) => { if (!request.url().startsWith(own)) strangers.push(request.url()); });
  const clean = async (/** @type {string} */ where) => {
    const made = await page.evaluate(() => [...document.querySelectorAll("#main img, #main script, #list img, #list script, #main iframe, a")]
      .filter((one) => one.tagName !== "A" || !/^(#|$)/.test(one.getAttribute("href") ?? "#"))
      .map((one) => one.outerHTML.slice(0, 200)));
    check(made.length === 0, `${where} has ${made}`);
  };

  await shows(page, "#list .row", MARK);
  await clean("the list");
  await page.evaluate(() => { location.hash = "#/asks"; });
  await shows(page, ".card.asks", MARK);
  await clean("the questions");
  await page.evaluate((id) => { location.hash = `#/s/${id}`; }, bold.id);
  await shows(page, "#main .title", "a<img src=x onerror=alert(5)>");
  await shows(page, ".entry", MARK);
  await clean("the conversation");
  await page.click("#tab-changes");
  await shows(page, ".file summary", "a<b>.html");
  await shows(page, ".diff .is-added", MARK);
  await clean("the changes");
  await page.click("#tab-snapshots");
  await page.waitForFunction(() => !document.querySelector("#pane")?.textContent?.includes("Reading"));
  await clean("the snapshots");
  await house.glis("pause", "bold", "--mode", "force");
  await shows(page, ".card.paused li", MARK);
  await clean("the paused card");
  await page.click("#list .row:has-text('long')");
  await shows(page, ".screen .line", "the end");
  await clean("the terminal");
  await page.click("#row-search");
  await page.fill("#words", "onerror");
  await page.press("#words", "Enter");
  await shows(page, ".entry", "onerror");
  await clean("what was found");
  await house.glis("rm", "bold", "--stop");
  await page.click("#row-trash");
  await shows(page, "#main", "bold");
  await clean("the trash");
  await page.evaluate((mark) => { location.hash = `#/s/${mark}`; }, MARK);
  await shows(page, "#main", "This session is gone.");
  await clean("an address");
  check(strangers.length === 0, `nobody else is called: ${strangers}`);
});
