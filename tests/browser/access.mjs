/** Every view in both sizes and both themes: nothing of it keeps anybody out. */

import { SIZES, axe, check, gone, has, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("asks", "--prompt", "write a.txt one\\n ;; say **Ready**, almost. ;; approve Bash: touch it");
  await house.until("asks", "waiting");
  await house.headless("paused", "--prompt", "todo one|two ;; write b.txt two\\n ;; say Done.");
  await house.until("paused", "idle");
  await house.glis("pause", "paused");
  await house.headless("gone");
  await house.glis("rm", "gone", "--stop");
  const colours = "printf '\\033[31mred \\033[32mgreen \\033[33myellow \\033[34mblue \\033[35mpink \\033[36mcyan \\033[90mgrey\\033[0m\\n'; sleep 1000";
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", colours);
  await house.glis("loop", "round", "--agent", "rehearsal", "--headless", "--max", "3", "--prompt", "say again ;; work 600");
  await house.says("plan", "add", "dust", "--title", "Dust", "--prompt", "say x");
  const ids = Object.fromEntries((await house.glis("ls")).map((/** @type {any} */ one) => [one.name, one.id]));
  // Our own rules would keep the script of the examination out.
  const page = await desk.paired("desk", { bypassCSP: true });
  await page.evaluate(axe());
  /** @type {string[]} */
  const found = [];
  const look = async (/** @type {string} */ view) => {
    // Whoever waits for this story knows that it goes on: on a crowded machine it takes minutes.
    console.log(view);
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: /** @type {any} */ (theme) });
      // Structure has no theme.
      const rules = theme === "dark" ? { runOnly: ["color-contrast"] } : {};
      const faults = await page.evaluate((options) => /** @type {any} */ (window).axe.run(document, { resultTypes: ["violations"], ...options }), rules);
      for (const fault of faults.violations) {
        const where = fault.nodes.slice(0, 3).map((/** @type {any} */ node) => `${node.target}: ${node.failureSummary}`);
        found.push(`${view}, ${theme}: ${fault.id}: ${where.join(" | ")}`);
      }
    }
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (wide > 0) found.push(`${view} is wider than the window by ${wide}`);
  };
  const go = (/** @type {string} */ hash) => page.evaluate((to) => { location.hash = to; }, hash);
  const read = () => page.waitForFunction(() => !document.querySelector("#pane")?.textContent?.includes("Reading..."));

  for (const size of ["desk", "phone"]) {
    await page.setViewportSize(SIZES[size]);
    await go("#/");
    await shows(page, "#list .row", "paused");
    await look(`${size}: list`);
    for (const key of ["Control+KeyK", "?"]) {
      await page.keyboard.press(key);
      await page.locator("dialog").waitFor();
      await look(`${size}: ${key}`);
      await page.keyboard.press("Escape");
      await gone(page, "dialog");
    }
    await go("#/asks");
    await shows(page, ".card.asks", "touch it");
    await look(`${size}: questions`);
    await go(`#/s/${ids.shell}`);
    await shows(page, ".screen .line", "green");
    await look(`${size}: terminal`);
    await page.click("#type-here");
    await look(`${size}: terminal, typed into`);
    await page.click("#type-here");
    await go(`#/s/${ids.asks}`);
    await shows(page, ".entry", "Ready");
    await look(`${size}: conversation`);
    await page.click("#tab-changes");
    await shows(page, ".diff", "one");
    await look(`${size}: changes`);
    await go(`#/s/${ids.paused}`);
    await has(page, "paused");
    await page.click("#tab-snapshots");
    await read();
    await look(`${size}: paused, snapshots`);
    await page.click("#do-more");
    await look(`${size}: menu`);
    await page.click("#do-more");
    await go(`#/s/${ids.round}`);
    await shows(page, ".card", "Loop");
    await look(`${size}: loop`);
    await go("#/plans");
    await shows(page, "#task-dust", "Dust");
    await page.click("#task-dust-edit");
    await look(`${size}: plan, a task is changed`);
    await page.click("#task-dust-edit");
    if (size === "desk") {
      await page.click("#plan-drafts summary");
      await page.fill("#plan-new textarea", "say Here:\\n```toml\\n[[task]]\\nid = \"Air\"\\nprompt = \"x\"\\n```");
      await page.fill("#plan-new input[name=agent]", "rehearsal");
      await page.click("#plan-new button");
    }
    await shows(page, "#plan-draft .bad", "must begin with");
    await look(`${size}: plan, drafted`);
    for (const [hash, text] of [["#/new", "New session"], ["#/search", "Search all"], ["#/trash", "gone"], ["#/settings", "This device"]]) {
      await go(hash);
      await shows(page, "#main", text);
      await look(`${size}: ${hash}`);
    }
  }
  const out = await desk.page({ bypassCSP: true });
  await out.goto(page.url().replace(/#.*/, ""));
  await shows(out, "#main", "This device is not known here");
  await out.evaluate(axe());
  const faults = await out.evaluate(() => /** @type {any} */ (window).axe.run());
  found.push(...faults.violations.map((/** @type {any} */ fault) => `stranger: ${fault.id}`));
  check(found.length === 0, `\n${found.join("\n")}`);
});
