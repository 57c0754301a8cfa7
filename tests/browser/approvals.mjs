/** What is to be allowed is shown whole, and only what was on the screen can be allowed. */

import { check, gone, same, shows, story } from "./driver.mjs";

/** The middle and the end of a command that no card shows at once. */
const [MIDDLE, END] = ["rm -rf the-middle", "rm -rf the-end"];

await story(async ({ house, desk }) => {
  const edit = await house.headless("edit", "--prompt", "approve edit src/cart.py | total = 1 | total = 2 \u202e# evil");
  await house.headless("run", "--prompt", `approve run echo ${"word ".repeat(1000)}; ${MIDDLE}; echo ${"word ".repeat(1000)}; ${END}`);
  for (const name of ["edit", "run"]) await house.until(name, "waiting");
  const page = await desk.paired("desk");
  await page.evaluate(() => { location.hash = "#/asks"; });
  const card = (/** @type {string} */ name) => page.locator(".card.asks", { has: page.locator(`a:text-is('${name}')`) });
  const button = (/** @type {string} */ name, /** @type {string} */ text) => card(name).locator(`button:text-is('${text}')`);

  // An edit is its lines, with what cannot be seen written out.
  await card("edit").waitFor();
  same(await card("edit").locator(".path").allInnerTexts(), ["src/cart.py"], "the file");
  same(await card("edit").locator(".diff > div").allInnerTexts(), ["-total = 1", "+total = 2 \\u{202e}# evil"], "the lines of the edit");
  await page.waitForFunction(() => !document.querySelector(".card.asks .diff")?.closest(".card")?.querySelector("[aria-disabled]"));

  const phone = await desk.paired("phone", { size: "phone", scope: "answer" });
  await phone.evaluate(() => { location.hash = "#/asks"; });
  await shows(phone, ".card.asks .path", "src/cart.py");

  // A command stands whole in a block of its own, with its folder. What was not on the screen of it cannot be allowed,
  // also where both of its ends were: a press leads to the first part that was not.
  const { worktree } = await house.glis("show", "run");
  check((await card("run").locator(".command").innerText()).endsWith(END), "the command is whole");
  await shows(page, ".card.asks .path", `in ${worktree}`);
  const answers = async () => (await house.events()).filter((event) => event.event === "answer_began");
  const isShut = () => button("run", "Allow").getAttribute("aria-disabled");
  same(await isShut(), "true", "whether what was not seen can be allowed");
  check(await button("run", "Deny").isEnabled(), "a no is always possible");
  const box = card("run").locator(".wanted");
  same(await box.evaluate((one) => one.scrollTop), 0, "how far it was scrolled");
  const height = await box.evaluate((one) => one.clientHeight);
  const end = await box.evaluate((one) => { one.scrollTop = one.scrollHeight; return one.scrollTop; });
  check(end > 2 * height, `what is between the ends: ${end} of ${height}`);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
  same(await isShut(), "true", "whether what was seen at both ends alone can be allowed");
  await button("run", "Allow").dispatchEvent("click");
  await page.waitForFunction((most) => [...document.querySelectorAll(".wanted")].some((one) => one.scrollTop > 0 && one.scrollTop < most), height);
  same(await answers(), [], "answers after a press on what was not seen");
  // Press by press to all of it.
  const leads = () => button("run", "Allow").evaluate(async (one) => {
    await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done))));
    const shut = one.isConnected && one.getAttribute("aria-disabled") === "true";
    if (shut) /** @type {HTMLElement} */ (one).click();
    return shut;
  });
  let presses = 0;
  while (await leads()) check((presses += 1) < 60, "every press leads on");
  await button("run", "Allow").click({ trial: true });
  same(await isShut(), null, "whether what was seen whole can be allowed");
  check(presses > 1, `presses that lead on: ${presses}`);
  same(await answers(), [], "answers after presses that lead on");
  // What lies below the field for a message is not seen either.
  const top = async (/** @type {import("playwright-core").Page} */ where, /** @type {string} */ what) => {
    await where.evaluate((id) => { location.hash = `#/s/${id}`; }, edit.id);
    await where.locator(".composer").waitFor();
    return where.locator(what).last().evaluate((one) => one.getBoundingClientRect().top);
  };
  const low = await desk.paired("low", { size: "phone", scope: "answer", viewport: { width: 390, height: Math.round(await top(phone, ".card.asks .is-added")) + 30 } });
  check(await top(low, ".card.asks .is-added") > await top(low, ".composer"), "the end of the question is covered");
  await low.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  await shows(low, ".card.asks", "Read all of it first.");
  await low.locator(".card.asks button:text-is('Allow')").dispatchEvent("click");
  await gone(low, ".card.asks p", "Read all of it first.");
  same(await answers(), [], "answers after a press on what was covered");
  await button("run", "Allow").click();
  await house.until("run", "idle");
  await shows(page, ".card.gone", "allowed here");

  // Who answers elsewhere is told of, and what slides under the hand is not pressed.
  await house.headless("other", "--prompt", "approve run touch other");
  await house.until("other", "waiting");
  await card("other").waitFor();
  await button("other", "Allow").click({ trial: true });
  await page.evaluate(() => {
    const place = /** @type {Element} */ (document.querySelector("#main"));
    const watch = new MutationObserver(() => {
      if (!place.textContent?.includes("denied elsewhere")) return;
      watch.disconnect();
      /** @type {any} */ (window).pressed = [...place.querySelectorAll(".card.asks button.filled")].map((one) => /** @type {HTMLElement} */ (one).click()).length;
    });
    watch.observe(place, { childList: true, subtree: true });
  });
  const asked = (await house.glis("show", "edit")).asks[0].request;
  await house.glis("answer", "edit", "deny", "--request", asked);
  await shows(page, ".card.gone", "denied elsewhere");
  await page.waitForFunction(() => /** @type {any} */ (window).pressed === 1);
  await button("other", "Allow").click({ trial: true });
  same((await answers()).map((event) => event.answer), ["allow", "deny"], "answers");
  same((await answers())[1].session, edit.id, "whose was denied");
  await button("other", "Deny").click();
  await gone(page, ".card.asks");
  await page.evaluate(() => { location.hash = "#/"; });
  await page.evaluate(() => { location.hash = "#/asks"; });
  await gone(page, "section.card.asks");
  same(await page.locator(".card.gone").count(), 0, "what is left of questions in a view that was opened anew");

  // Only what a question takes has a button; one that has changed under the same name is another one.
  let wants = "touch one";
  await page.route(/\/sessions\/[^/]+\?glance=true$/, async (route) => {
    const response = await route.fetch();
    const session = await response.json();
    const input = { command: wants, description: "To see whether it is there", timeout: 5 };
    const ask = { request: "r1", kind: "approval", text: `Bash ${wants}`, choices: ["allow", "deny"], wants: { command: { line: wants } }, input, rest: input, edits: [] };
    await route.fulfill({ json: session.name === "other" ? { ...session, asks: [ask], waiting_for: ask } : session });
  });
  await house.glis("timeout", "other", "30");
  await card("other").waitFor();
  same(await card("other").locator("button").allInnerTexts(), ["Allow", "Deny", "Deny, and say why"], "the buttons");
  same(await card("other").locator(".said").allInnerTexts(), ["description\nTo see whether it is there", "timeout\n5"], "what is said beside the command");
  await button("other", "Allow").click({ trial: true });
  wants = "rm -rf all";
  await house.glis("timeout", "other", "40");
  await shows(page, ".card.gone", "has changed");
  await shows(page, ".command", wants);
});
