/** What is asked, in one place: on two devices, answered once, and gone everywhere. */

import { gone, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("blue", "--prompt", "approve Bash: touch one");
  await house.headless("green", "--prompt", "approve Bash: touch two");
  await house.headless("red", "--prompt", "question Which colour?");
  for (const name of ["blue", "green", "red"]) await house.until(name, "waiting");
  const one = await desk.paired("desk");
  const two = await desk.paired("phone", { size: "phone", scope: "answer" });
  for (const page of [one, two]) {
    await page.evaluate(() => { location.hash = "#/asks"; });
    for (const text of ["touch one", "touch two", "Which colour?"]) await shows(page, ".card.asks", text);
  }

  // What is being typed stays, whatever else is answered meanwhile.
  const field = one.locator(".card.asks textarea");
  await field.fill("blue of");
  const asked = (await house.glis("show", "blue")).asks[0].request;
  await house.glis("answer", "blue", "allow", "--request", asked);
  for (const page of [one, two]) await gone(page, ".card.asks", "touch one");
  same(await field.inputValue(), "blue of", "what was typed");
  same(await one.evaluate(() => document.activeElement?.tagName), "TEXTAREA", "what has the focus");
  await field.pressSequentially(" the sky");

  // Pressed on both at once, it is given once.
  const press = (/** @type {any} */ page) => page.locator(".card.asks", { hasText: "touch two" }).locator("button:text-is('Deny')").click();
  await Promise.all([press(one), press(two).catch(() => {})]);
  for (const page of [one, two]) await gone(page, ".card.asks", "touch two");
  await one.locator(".card.asks button:text-is('Answer')").click();
  for (const page of [one, two]) await gone(page, "section.card.asks");
  await house.until("red", "idle");
  const answers = (await house.events()).filter((event) => event.event === "answer_began");
  const red = (await house.glis("show", "red")).id;
  same(answers.filter((event) => event.session === red).map((event) => event.answer), ["blue of the sky"], "the answer that was typed");
  const green = (await house.glis("show", "green")).id;
  same(answers.filter((event) => event.session === green).length, 1, "answers to one question");

  // A device that was revoked is told so, and shows nothing any more.
  await house.says("web", "revoke", "phone");
  await shows(two, "#main", "This device is not known here");
  same(await two.locator("#list .row").count(), 0, "rows of a device that was revoked");
  await live(one);
});
