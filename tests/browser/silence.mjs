/** Connections that die without a word, as after sleep: the page and its terminal notice, say so, and come again. */

import net from "node:net";
import { check, given, live, same, shows, story } from "./driver.mjs";

/** Longer than the page waits for a beat. */
const SILENCE_MS = 40_000;

/** Between the browser and the server; what is open can be made to go silent, and what is opened then works. */
const served = new URL(given("GLIS_PAGE"));
/** @type {Set<{silent: boolean, first: string}>} */
const links = new Set();
const proxy = net.createServer((near) => {
  const far = net.connect(Number(served.port), "127.0.0.1");
  const link = { silent: false, first: "" };
  links.add(link);
  near.on("data", (bytes) => { link.first ||= bytes.toString("latin1"); if (!link.silent) far.write(bytes); });
  far.on("data", (bytes) => { if (!link.silent) near.write(bytes); });
  near.on("close", () => { far.destroy(); links.delete(link); });
  far.on("close", () => { if (!link.silent) near.destroy(); });
  for (const end of [near, far]) end.on("error", () => {});
});
await new Promise((done) => proxy.listen(0, "127.0.0.1", () => done(null)));
const port = /** @type {net.AddressInfo} */ (proxy.address()).port;
const silence = (/** @type {(first: string) => boolean} */ which = () => true) => {
  const all = [...links].filter((link) => !link.silent && which(link.first));
  for (const link of all) link.silent = true;
  return all.length;
};

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "stty -echo; echo ready; cat");
  const page = await desk.page();
  await page.clock.install();
  await page.goto(await house.link("desk"));
  await live(page);
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");

  // All of them: found out by the silence.
  check(silence() > 1, "a stream and a terminal");
  await house.glis("send", "shell", "printed in the dark");
  await page.clock.fastForward(SILENCE_MS);
  await live(page);
  await shows(page, ".screen .line", "printed in the dark");

  // The page is looked at again after a sleep: nothing is waited for.
  silence();
  await house.glis("send", "shell", "printed asleep");
  await page.clock.pauseAt(Date.now() + SILENCE_MS * 2);
  await page.clock.resume();
  await page.evaluate(() => window.dispatchEvent(new Event("focus")));
  await live(page);
  await shows(page, ".screen .line", "printed asleep");

  // The terminal's alone. A key that is not answered tells it, also where nothing is printed.
  await page.click("#type-here");
  await page.keyboard.type("quiet");
  await shows(page, "#pane", "Every key goes to the terminal");
  check(silence((first) => first.includes("/terminal")) > 0, "a terminal's connection");
  await page.keyboard.type("x");
  await shows(page, "#pane", "what was typed last may not have arrived");
  await page.keyboard.type(" again");
  await page.keyboard.press("Enter");
  await shows(page, ".screen .line", "quiet again");

  // Nothing can be reached: what is typed is not swallowed without a word.
  await house.ask("kill web");
  await shows(page, "#link", "Not connected");
  await page.focus(".screen textarea");
  await page.keyboard.type("y");
  await shows(page, "#pane", "what is typed is not sent");
  await house.ask("start web");
  await live(page);
  await shows(page, "#pane", "Every key goes to the terminal");
  await page.keyboard.type("back");
  await page.keyboard.press("Enter");
  await shows(page, ".screen .line", "back");
  same(await page.locator("#link").textContent(), "", "what is said of the connection");
  proxy.close();
}, [`--host-resolver-rules=MAP ${served.host} 127.0.0.1:${port}`]);
