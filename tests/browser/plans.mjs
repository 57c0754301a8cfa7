/** A plan on the page: written, executed, looked at, and begun anew. */

import { check, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const page = await desk.paired("desk");
  await page.click("#row-plans");
  await page.fill("#plan-repo", await house.ask("repo"));
  await page.click("button:text-is('Show')");
  const add = async (/** @type {string} */ id, /** @type {string} */ prompt, /** @type {string} */ needs) => {
    await page.fill("#plan-add input[name=id]", id);
    await page.fill("#plan-add textarea", prompt);
    await page.fill("#plan-add input[name=needs]", needs);
    await page.fill("#plan-add input[name=agent]", "rehearsal");
    await page.click("#plan-add button");
    await shows(page, `#task-${id}`, id);
  };
  await add("dust", "write dust.txt a", "");
  await add("wax", "write wax.txt b ;; approve Bash: polish", "dust");
  await shows(page, "#task-wax", "needs dust");
  same((await house.glis("plan", "check")).faults, [], "faults of the file");
  // What is wrong is told, and what was typed is still there.
  await page.fill("#plan-add input[name=id]", "dust");
  await page.fill("#plan-add textarea", "again");
  await page.click("#plan-add button");
  await shows(page, ".toast", "Failed to add");
  same(await page.inputValue("#plan-add textarea"), "again", "what was typed");

  await page.click("#plan-execute");
  await shows(page, "#task-dust.is-succeeded", "dust");
  await shows(page, "#task-wax.is-waiting", "polish");
  await page.click("#row-asks");
  await page.click(".card.asks button:text-is('Allow')");
  await page.click("#row-plans");
  await shows(page, "#task-wax.is-succeeded", "wax");
  await shows(page, ".plan", "2 of 2 done");
  check((await house.glis("plan", "show")).done, "the command line says so, too");
  await page.click("#task-wax a");
  await shows(page, "#main h2", "wax");
  await page.click("#tab-runs");
  await shows(page, ".entry", "succeeded");
});
