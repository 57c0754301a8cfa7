/** An answer is given by who has read what it is about, is sent as it was chosen, and what came of it is told as it is. */

import { check, gone, same, shows, story } from "./driver.mjs";

const END = "yes drops the tables";
/** Names that every object has, and the words of another kind of question. */
const LABELS = ["constructor", "__proto__", "allow_for_session", "deny"];

await story(async ({ house, desk }) => {
  const program = "echo All of prod will be dropped.; printf 'Proceed? [y/N] '; read -r said; echo said \"$said\"; cat";
  await house.glis("new", "plain", "--agent", "command", "--", "sh", "-c", program);
  for (const name of ["asks", "both", "lost"]) await house.headless(name, "--prompt", `approve run touch ${name}`);
  for (const name of ["plain", "asks", "both", "lost"]) await house.until(name, "waiting");
  const page = await desk.paired("desk", { scope: "answer" });
  const card = (/** @type {string} */ name) => page.locator(".card.asks", { has: page.locator(`a:text-is('${name}')`) });
  const button = (/** @type {string} */ name, /** @type {string} */ text) => card(name).getByRole("button", { name: text, exact: true });
  const answers = async () => (await house.events()).filter((event) => event.event === "answer_began");
  const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));

  // A plain program says nothing about itself: what its question is about stands on its terminal, and is read before.
  let shown = () => {};
  const isShown = new Promise((done) => { shown = () => done(null); });
  await page.route(/\/screen$/, async (route) => { await isShown; await route.continue(); });
  await page.evaluate(() => { location.hash = "#/asks"; });
  await card("plain").waitFor();
  // Those beside it can be allowed by now.
  await button("both", "Allow").click({ trial: true });
  await button("plain", "Allow").dispatchEvent("click");
  same(await answers(), [], "answers while it is not known what a program asks about");
  shown();
  await shows(page, ".card.asks .wanted", "All of prod will be dropped.");
  same(await card("plain").locator("button").allInnerTexts(), ["Allow", "Deny"], "what a line on a screen is answered by");
  // It was asked last, and stands below the others.
  await button("plain", "Deny").evaluate((one) => one.scrollIntoView());
  await button("plain", "Allow").click();
  await shows(page, ".card.gone", "plain allowed here");

  // Who was first is told, also while an answer is on its way; no words of the command line are.
  let released = () => {};
  const isReleased = new Promise((done) => { released = () => done(null); });
  await page.route("**/answer", async (route) => { await isReleased; await route.continue(); });
  await button("both", "Allow").click();
  const { asks: [{ request }] } = await house.glis("show", "both");
  await house.glis("answer", "both", "deny", "--request", request);
  await shows(page, ".card.gone", "both denied");
  same(await page.locator(".card.gone b", { hasText: "denied" }).innerText(), "denied", "whose answer it was, before that is known");
  released();
  await shows(page, ".card.gone", "both denied elsewhere");
  await shows(page, ".toast", "Answered elsewhere");
  same((await page.locator(".toasts").innerText()).includes("--"), false, "options of the command line on the page");
  const over = await page.evaluate(() => {
    const { x, y } = /** @type {Element} */ (document.querySelector(".toast")).getBoundingClientRect();
    return document.elementFromPoint(x + 5, y + 5)?.closest(".toast") !== null;
  });
  check(over, "a press on a toast is not for what lies below it");
  await page.click(".toast button");

  // An answer of which nothing came back may have arrived.
  await page.unroute("**/answer");
  await page.route("**/answer", async (route) => { await route.fetch(); await route.abort(); });
  await button("lost", "Allow").click();
  await shows(page, ".toast", "not known whether your answer arrived");
  await shows(page, ".card.gone", "lost allowed; it is not known whether by your answer");
  await page.click(".toast button");

  // A question with choices: all of it is read before any answer, and each is shown and sent as the agent wrote it.
  await page.unroute("**/answer");
  /** @type {any[]} */
  const sent = [];
  await page.route("**/answer", async (route) => { sent.push(route.request().postDataJSON()); await route.fulfill({ json: {} }); });
  const long = `${"word ".repeat(2000)}the end of a label`;
  await page.route(/\/sessions\/[^/]+\?glance=true$/, async (route) => {
    const response = await route.fetch();
    const session = await response.json();
    const text = `${"word ".repeat(2000)}${END}`;
    const questions = [{ question: text, options: [...LABELS, long].map((label) => ({ label })) }];
    const ask = { request: "q1", kind: "question", text, choices: null, input: { questions }, rest: {}, edits: [] };
    await route.fulfill({ json: session.name === "asks" ? { ...session, asks: [ask] } : session });
  });
  await house.glis("timeout", "asks", "30");
  await shows(page, ".card.asks .wanted", END);
  await shows(page, ".card.asks .wanted", "the end of a label");
  same((await card("asks").locator("button").allInnerTexts()).slice(0, LABELS.length), LABELS, "choices as they are written");
  await card("asks").locator("textarea").fill("yes");
  // Nothing but what was not read is in the way: the cards stand where they do for long enough.
  await page.waitForFunction((since) => performance.now() - since > 1000, await page.evaluate(() => performance.now()));
  for (const text of [...LABELS, "Answer"]) {
    same(await button("asks", text).getAttribute("aria-disabled"), "true", `whether ${text} is shut before all was read`);
  }
  const leads = () => button("asks", "Answer").evaluate((one) => {
    const shut = one.getAttribute("aria-disabled") === "true";
    if (shut) /** @type {HTMLElement} */ (one).click();
    return shut;
  });
  for (let presses = 0; await leads(); presses += 1) {
    check(presses < 200, "every press leads on");
    await frames();
  }
  same(sent, [], "answers before all was read");
  for (const text of [...LABELS, "Answer"]) await button("asks", text).click();
  while (sent.length <= LABELS.length) await frames();
  same(sent.map(({ answer, for_session }) => [answer, for_session ?? null]), [...LABELS, "yes"].map((text) => [text, null]), "what is sent");

  // What lies below words about a press was not seen.
  const covered = await desk.paired("covered", { scope: "answer" });
  await covered.evaluate(async () => {
    const { toast } = await import(/** @type {any} */ ("/dom.js"));
    toast("word ".repeat(2000), { action: { label: "Go", run: () => {} } });
  });
  // The inbox was seen before those words.
  await house.headless("under", "--prompt", "approve run touch under");
  await shows(covered, ".card.asks", "touch under");
  await covered.waitForFunction((since) => performance.now() - since > 1000, await covered.evaluate(() => performance.now()));
  await shows(covered, ".card.asks", "Read all of it first.");
  await covered.click(".toast button[aria-label='Dismiss']");
  await gone(covered, ".card.asks p", "Read all of it first.");

  // Who may send may not type, and is told so where the message would be written.
  const phone = await desk.paired("phone", { scope: "send" });
  await phone.click("#list .row:has-text('plain')");
  await phone.waitForFunction(() => /** @type {HTMLTextAreaElement | null} */ (document.querySelector("#message"))?.placeholder.includes("is typing"));
  check(await phone.locator("#message").isDisabled(), "a device that may not type cannot write there");
});
