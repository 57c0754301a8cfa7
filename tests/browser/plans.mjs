/** A plan on the page: written, changed, executed, looked at; and another one that an agent drafts. */

import { check, gone, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const page = await desk.paired("desk");
  await page.click("#row-plans");
  await page.fill("#plan-repo", await house.ask("repo"));
  await page.click("button:text-is('Show')");
  await shows(page, "#main", "there is no plan yet");
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

  // A change is of what was changed: what the command line says of the rest meanwhile stays.
  await page.click("#task-wax-edit");
  await page.fill("#edit-wax input[name=title]", "Shine");
  await house.says("plan", "edit", "wax", "--prompt", "write wax.txt c ;; approve Bash: polish");
  await page.click("#edit-wax button:text-is('Save')");
  await shows(page, "#task-wax", "Shine");
  await gone(page, "#edit-wax");
  await page.click("#task-dust-edit");
  await page.fill("#edit-dust input[name=needs]", "nothing");
  await page.click("#edit-dust button:text-is('Save')");
  await shows(page, ".toast", "Failed to change");
  same(await page.inputValue("#edit-dust input[name=needs]"), "nothing", "what was typed");
  await page.click("#edit-dust button:text-is('Close')");
  await add("rinse", "say x", "wax");
  await page.click("#task-rinse-edit");
  await desk.confirm(page.locator("#edit-rinse button.danger"));
  await gone(page, "#task-rinse");
  const [dust, wax, ...others] = (await house.glis("plan", "show")).tasks;
  same([dust.needs, wax.title, wax.needs, wax.prompt.includes("wax.txt c"), others], [[], "Shine", ["dust"], true, []], "the file");

  await shows(page, ".board section[aria-label='Ready']", "dust");
  await page.check("#plan-pace input[name=review]");
  await page.uncheck("#plan-pace input[name=review]");
  await page.fill("#plan-pace input[name=jobs]", "2");
  await page.click("#plan-execute");
  await shows(page, "#task-dust.is-succeeded", "dust");
  await shows(page, ".board section[aria-label='Done']", "dust");
  await shows(page, ".board section[aria-label='Needs you']", "polish");
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
  await page.click("#row-plans");

  // An agent drafts another one. It is looked at, changed, and only then written.
  const draft = (/** @type {string} */ id) => "say Here:\\n```toml\\n[[task]]\\nid = \"" + id + "\"\\nprompt = \"say y\"\\n```";
  await page.click("#plan-drafts summary");
  await page.fill("#plan-new textarea", draft("air"));
  await page.fill("#plan-new input[name=agent]", "rehearsal");
  await page.click("#plan-new button");
  await shows(page, "#plan-draft pre", 'id = "air"');
  await shows(page, "#draft-tree", "\u2514\u2500 \u25cb air");
  await page.reload();
  await shows(page, "#plan-draft pre", 'id = "air"');
  await page.fill("#draft-change textarea", draft("Air"));
  await page.click("#draft-change button");
  await shows(page, "#plan-draft .bad", "must begin with");
  check(await page.locator("#draft-write").isDisabled(), "what is no plan cannot be written");
  await page.fill("#draft-change textarea", draft("fresh"));
  await page.click("#draft-change button");
  await shows(page, "#plan-draft pre", 'id = "fresh"');
  same((await house.glis("plan", "show")).tasks.length, 2, "tasks before it was approved");
  // What a person changes by hand is what is written, once it is a plan.
  await page.click("#draft-edit");
  await page.fill("#draft-text", '[[task]]\nid = "Fresh"\nprompt = "say y"\n');
  await desk.confirm(page.locator("#draft-write"));
  await shows(page, ".toast", "must begin with");
  await page.fill("#draft-text", '[[task]]\nid = "fresh"\nprompt = "say by hand"\nagent = "rehearsal"\naccept = "test -e done.txt"\n');
  await desk.confirm(page.locator("#draft-write"));
  await shows(page, "#task-fresh", "fresh");
  await gone(page, "#plan-draft");
  same((await house.glis("plan", "show")).tasks.map((/** @type {any} */ task) => task.prompt), ["say by hand"], "the tasks that were written");

  // What an agent proposes is approved here, and so is work that was not accepted.
  await house.says("plan", "add", "more", "--propose", "--prompt", "say z", "--agent", "rehearsal");
  await shows(page, "#task-more.is-proposed .pre", "say z");
  await page.click("#task-more-approve");
  await shows(page, "#task-more.is-ready", "more");
  await page.click("#plan-execute");
  await shows(page, "#task-fresh.is-failed", "fresh");
  await desk.confirm(page.locator("#task-fresh-skip"));
  await shows(page, ".plan", "1 of 2 done");
});
