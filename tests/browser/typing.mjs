/** Keys into a terminal, from a desk and a phone: what is typed arrives, at once, and nothing else does. */

import { check, crowd, live, same, shows, story } from "./driver.mjs";

/** From a key to its painted row, in 95 of 100 cases. */
const PAINTED_MS_MAX = 50;
const KEYS = 40;
/** One of these has to be in time: that something else runs meanwhile is not the page's fault. */
const ROUNDS = 5;

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "echo ready; cat > heard");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  // Without the switch the keyboard is the page's.
  await page.focus(".screen");
  await page.keyboard.press("x");
  await page.click("#type-here");
  await shows(page, "#pane", "Ctrl+]");
  await page.keyboard.type("hello");
  await page.keyboard.press("Backspace");
  await page.keyboard.press("Enter");
  await shows(page, ".screen .line", "hell");
  await page.evaluate(() => {
    const data = new DataTransfer();
    data.setData("text/plain", "pasted\ntwice");
    document.querySelector(".screen")?.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  });
  await shows(page, ".screen .line", "twice");
  await page.keyboard.press("Enter");

  // Each key is painted before the next one is pressed.
  const press = () => page.evaluate(async (keys) => {
    const screen = /** @type {HTMLElement} */ (document.querySelector(".screen"));
    const times = [];
    for (let at = 0; at < keys; at += 1) {
      const painted = new Promise((done) => {
        const watch = new MutationObserver(() => { watch.disconnect(); requestAnimationFrame(() => done(performance.now())); });
        watch.observe(screen, { childList: true, subtree: true, characterData: true });
      });
      const began = performance.now();
      screen.dispatchEvent(new KeyboardEvent("keydown", { key: "k", bubbles: true, cancelable: true }));
      times.push(/** @type {number} */ (await painted) - began);
      await new Promise((done) => setTimeout(done, 40));
    }
    return times.sort((one, two) => one - two);
  }, KEYS);
  const told = [];
  let rounds = 0;
  for (let late = Infinity, limit = 0; late > limit; rounds += 1) {
    check(rounds < ROUNDS, `key to painted row: ${told.join("; ")}`);
    limit = PAINTED_MS_MAX * (await crowd());
    late = (await press())[Math.floor(KEYS * 0.95)];
    told.push(`${Math.round(late)} ms of ${Math.round(limit)}`);
  }
  await page.keyboard.press("Enter");
  await page.keyboard.press("Control+]");
  same(await page.evaluate(() => document.activeElement?.id), "type-here", "who has the keyboard again");

  const phone = await desk.paired("phone", { size: "phone" });
  await phone.click("#list .row:has-text('shell')");
  await shows(phone, ".screen .line", "twice");
  await phone.tap(".keys button:text-is('Tab')");
  await phone.tap(".keys button[aria-label='Enter']");
  const wanted = `hell\npasted\ntwice\n${"k".repeat(KEYS * rounds)}\n\t\n`;
  for (let look = 0; (await house.ask("file", ["shell", "heard"])) !== wanted; look += 1) {
    check(look < 300, `what was typed: ${JSON.stringify(await house.ask("file", ["shell", "heard"]))}`);
    await new Promise((done) => setTimeout(done, 100));
  }

  // Who typed is written down, once for each connection.
  const typed = async () => (await house.events()).filter((event) => event.event === "typing_began").map((event) => event.from);
  same(await typed(), [{ face: "web", who: "desk" }, { face: "web", who: "phone" }], "who typed");

  // Who may answer may not press: raw keys could do both.
  const link = await house.link("watcher", "answer");
  const other = await desk.page();
  await other.goto(link);
  await live(other);
  await other.click("#list .row:has-text('shell')");
  await shows(other, ".screen .line", "twice");
  same(await other.locator(".keys").count(), 0, "bars for who may not type");
  const ticket = await other.evaluate(async () => (await import(/** @type {any} */ ("/api.js"))).enter());
  const refused = await other.evaluate(([id, shown]) => new Promise((done) => {
    const socket = new WebSocket(`ws://${location.host}/api/v1/sessions/${id}/terminal`, ["glis", shown]);
    socket.onopen = () => socket.send(JSON.stringify({ text: "evil" }));
    socket.onmessage = (told) => { const { refused: why } = JSON.parse(told.data); if (why) done(why); };
  }), [(await house.glis("show", "shell")).id, ticket]);
  check(String(refused).includes("typing needs `manage`"), `it is refused: ${refused}`);
  same(await house.ask("file", ["shell", "heard"]), wanted, "what has arrived after all");
  same((await typed()).length, 2, "typists");
});
