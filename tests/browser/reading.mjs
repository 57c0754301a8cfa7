/** A conversation is read as it was meant: Markdown as elements, tools in a line that opens. However long it is, its end
 * is there at once, and only what is new is fetched. */

import { check, crowd, has, same, shows, story } from "./driver.mjs";

/** What a person waits for without noticing, on a machine of its own. */
const OPEN_MS = 200;
/** Fifteen seconds of an agent at work. */
const [WORK_MS, WORK_BYTES] = [15_000, 50_000];
const ENTRIES = 10_000;

await story(async ({ house, desk }) => {
  const words = [
    "## The cause", "", "- the **total** is *wrong*", "  - twice", "1. see `cart.py`", "", "> as it was", "",
    "\x60\x60\x60js", "<b>let</b> a = 1;", "\x60\x60\x60", "", "| a | b |", "", "<i>no</i> [here](javascript:alert(1)) **open",
  ].join("\\n");
  const blue = await house.headless("blue", "--prompt", `say ${words} ;; run echo hello ;; write a.txt one\\ntwo ;; edit a.txt two => three ;; cost 0.25`);
  await house.until("blue", "idle");
  await house.says("send", "blue", "cost 0.40 ;; say more");
  await house.until("blue", "idle");
  const page = await desk.paired("desk", { permissions: ["clipboard-read", "clipboard-write"] });
  await page.click("#list .row:has-text('blue')");
  const said = page.locator(".entry.by-assistant").first();
  await said.waitFor();
  const texts = (/** @type {string} */ what) => said.locator(what).allInnerTexts();
  same(await texts(".heading"), ["The cause"], "headings");
  same(await texts("ul > li > b"), ["total"], "bold words");
  same(await texts("ul ul > li"), ["twice"], "what stands further in");
  same(await texts("ol > li > code"), ["cart.py"], "code in a line");
  same(await texts("blockquote"), ["as it was"], "quotes");
  same(await texts("pre"), ["<b>let</b> a = 1;", "| a | b |"], "blocks");
  same(await texts("p.pre"), ["as it was", "<i>no</i> [here](javascript:alert(1)) **open"], "what is no Markdown, or none that is taken");
  await said.locator(".copy").click();
  await shows(page, ".copy", "Copied");
  same(await page.evaluate(() => navigator.clipboard.readText()), "<b>let</b> a = 1;", "what was copied");

  // Each turn stands apart, with what it took.
  await shows(page, ".entry.by-system", "$0.25");
  await shows(page, ".entry.by-system", "$0.15");
  same(await page.locator(".entry.by-user header b").allInnerTexts(), ["You", "You"], "who says it");
  const tool = page.locator(".entry.by-tool").first();
  check(!await tool.locator("pre").isVisible(), "a tool is one line");
  await tool.locator("summary").click();
  check((await tool.locator("pre").innerText()).includes("echo hello"), "which opens to all of it");
  const edit = page.locator(".entry.by-tool").last();
  check((await edit.locator("summary").innerText()).endsWith("+1 \u22121"), "how much an edit is");
  await edit.locator("summary").click();
  same(await edit.locator(".diff > div").allInnerTexts(), ["-two", "+three"], "its patch");

  // Long: only its end is read, and more of it when that is asked for.
  const long = await house.headless("long", "--prompt", "say begin");
  await house.until("long", "idle");
  // As much as an argument of a command holds at a time.
  for (let at = 0; at < ENTRIES; at += 2000) {
    await house.says("send", "long", Array.from({ length: 2000 }, (_, n) => `say entry ${at + n + 1}`).join(" ;; "));
    await house.until("long", "idle");
  }
  await page.evaluate(() => { location.hash = "#/"; });
  const slow = await crowd();
  const took = await page.evaluate(async (id) => {
    const begun = performance.now();
    location.hash = `#/s/${id}`;
    while (!document.querySelector(".entry")) await new Promise((done) => requestAnimationFrame(done));
    return performance.now() - begun;
  }, long.id);
  console.log(`a conversation of ${ENTRIES} entries opens in ${Math.round(took)} ms (crowd ${slow.toFixed(1)})`);
  check(took <= OPEN_MS * slow, `it opens in ${took} ms`);
  await shows(page, ".entry", `entry ${ENTRIES}`);
  const drawn = await page.locator(".entry").count();
  check(drawn < ENTRIES / 4, `entries at first: ${drawn}`);
  await page.click("#earlier");
  await page.waitForFunction((former) => document.querySelectorAll(".entry").length > former, drawn);
  check(await page.evaluate(() => /** @type {HTMLElement} */ (document.querySelector("#pane")).scrollTop > 0), "what was in sight stays there");

  // At work: what is new alone is fetched.
  const meter = await page.context().newCDPSession(page);
  await meter.send("Network.enable");
  let bytes = 0;
  meter.on("Network.loadingFinished", ({ encodedDataLength }) => { bytes += encodedDataLength; });
  await house.says("send", "long", `${Array.from({ length: 30 }, (_, at) => `say At it, step ${at}. ;; run true ;; work 1`).join(" ;; ")} ;; work 600`);
  await has(page, "busy");
  await page.waitForTimeout(WORK_MS);
  console.log(`${WORK_MS / 1000} s of work cost ${bytes} bytes`);
  check(bytes <= WORK_BYTES, `fifteen seconds of work cost ${bytes} bytes`);
});
