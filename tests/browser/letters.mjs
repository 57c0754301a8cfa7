/** Letters: in the order in which they were typed, each once, whatever breaks and whichever tab is closed. */

import { check, gone, has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.glis("new", "blue", "--agent", "rehearsal");
  const green = await house.glis("new", "green", "--agent", "rehearsal");
  await house.until("blue", "idle");
  await house.until("green", "idle");
  const page = await desk.paired("desk");
  const open = async (/** @type {any} */ where, /** @type {string} */ id) => {
    await where.evaluate((/** @type {string} */ to) => { location.hash = `#/s/${to}`; }, id);
    await where.waitForSelector("#message");
    await has(where, "idle");
  };
  const say = async (/** @type {any} */ where, /** @type {string} */ text) => {
    await where.fill("#message", text);
    await where.press("#message", "Control+Enter");
  };
  const stored = async (/** @type {string} */ id) => (await house.events())
    .filter((event) => event.event === "message_queued" && event.session === id).map((event) => event.text);
  const arrived = (/** @type {any} */ where, /** @type {string} */ text) => shows(where, ".screen .line", text);

  // The first one is slow, and the next waits for it.
  await open(page, blue.id);
  /** @type {() => void} */
  let release = () => {};
  const slow = new Promise((done) => { release = () => done(null); });
  let second = false;
  await page.route("**/send", async (route) => {
    if (route.request().postData()?.includes("ONE")) await slow;
    else second = true;
    await route.continue();
  });
  await say(page, "say ONE");
  await say(page, "say TWO");
  // Another session does not wait.
  await open(page, green.id);
  await say(page, "say BESIDE");
  await arrived(page, "BESIDE");
  check(second, "the other session's letter was sent");
  await open(page, blue.id);
  release();
  await arrived(page, "TWO");
  same(await stored(blue.id), ["say ONE", "say TWO"], "letters beside a slow one");
  await page.unroute("**/send");

  // One that fails for the network holds the next, and is sent again by itself.
  await page.route("**/send", (route) => route.abort("connectionreset"), { times: 1 });
  await say(page, "say THREE");
  await say(page, "say FOUR");
  await arrived(page, "FOUR");
  same((await stored(blue.id)).slice(2), ["say THREE", "say FOUR"], "letters behind one that failed");
  await gone(page, ".letter");

  // Also where nothing else happens that would remind of it.
  await page.route("**/send", (route) => route.abort("connectionreset"), { times: 1 });
  await say(page, "say ALONE");
  await shows(page, ".letter", "still sending");
  await arrived(page, "ALONE");
  await gone(page, ".letter");

  // One that cannot be sent can be sent again or discarded.
  let tries = 0;
  await page.route("**/send", (route) => {
    tries += 1;
    return route.abort("connectionreset");
  });
  await say(page, "say NEVER");
  await page.locator(".letter", { hasText: "NEVER" }).locator("button:text-is('Send again')").waitFor();
  // Whatever else happens: the pauses between the tries grow.
  for (let times = 0; times < 10; times += 1) {
    await house.says("send", "green", "say beside");
    await house.until("green", "idle");
  }
  check(tries <= 6, `tries of one letter: ${tries}`);
  await page.locator(".letter", { hasText: "NEVER" }).locator("button:text-is('Discard')").click();
  await gone(page, ".letter");
  await page.unroute("**/send");

  // One that is refused is told, and the next goes.
  const refusal = { error: { kind: "refused", message: "too long", hint: null } };
  await page.route("**/send", (route) => route.fulfill({ status: 409, json: refusal }), { times: 1 });
  await say(page, `say BAD ${"z".repeat(3000)}`);
  await say(page, "say FIVE");
  await arrived(page, "FIVE");
  await shows(page, ".letter.is-refused", "too long");
  const height = await page.evaluate(() => document.querySelector(".letter.is-refused")?.getBoundingClientRect().height ?? 0);
  check(height < 200, `a long letter is shown by its beginning: it is ${height} high`);
  await page.click(".letter.is-refused button:text-is('Discard')");

  // Two tabs: neither forgets what the other keeps.
  const two = await page.context().newPage();
  desk.watch(two);
  await two.goto(page.url().replace(/#.*/, ""));
  await live(two);
  await open(two, green.id);
  await page.fill("#message", "half a thou");
  await two.fill("#message", "another half");
  await page.reload();
  await live(page);
  await page.waitForSelector("#message");
  same(await page.inputValue("#message"), "half a thou", "what was typed in the first tab");
  // Either tab would deliver it at once.
  for (const tab of [page, two]) await tab.route("**/send", (route) => route.abort("connectionreset"));
  await say(page, "say WAITING");
  await shows(page, ".letter", "WAITING");
  await two.unroute("**/send");
  await say(two, "say SIX");
  await arrived(two, "SIX");
  // The tab that could not send is closed: the other one delivers.
  await page.close();
  await open(two, blue.id);
  await arrived(two, "WAITING");
  await two.reload();
  await live(two);
  await arrived(two, "WAITING");
  same((await stored(blue.id)).filter((text) => text.includes("WAITING")).length, 1, "the letter of the closed tab");
  await gone(two, ".letter");

  // What an older page had kept is taken over once.
  await two.evaluate(([one, other]) => {
    localStorage.setItem("glis.outbox", JSON.stringify([{ key: "0123456789abcdef0123456789abcdef", session: one, text: "say OLD", state: "sending" }]));
    localStorage.setItem("glis.drafts", JSON.stringify({ [other]: "an old half" }));
  }, [blue.id, green.id]);
  await two.reload();
  await live(two);
  await arrived(two, "OLD");
  await open(two, green.id);
  same(await two.inputValue("#message"), "an old half", "a draft of an older page");
  same(await two.evaluate(() => [localStorage.getItem("glis.outbox"), localStorage.getItem("glis.drafts")]), [null, null], "old forms");
});
