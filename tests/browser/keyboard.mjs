/** The keyboard alone: whatever can be pressed can be reached, and keeps the focus while things change. */

import { check, gone, has, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.headless("green", "--prompt", "approve Bash: touch it");
  await house.until("green", "waiting");
  await house.glis("new", "blue", "--agent", "rehearsal");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await shows(page, "#list .row", "blue");
  const focus = () => page.evaluate(() => {
    const at = document.activeElement;
    return at?.id || at?.textContent?.trim() || at?.tagName || "";
  });
  /** Presses Tab until this has the focus. @param {string} wanted */
  const reach = async (wanted, key = "Tab") => {
    for (let pressed = 0; pressed < 60; pressed += 1) {
      if ((await focus()) === wanted) return;
      await page.keyboard.press(key);
    }
    throw new Error(`${wanted} is not reached by ${key}; the focus is on ${await focus()}`);
  };
  const id = (await house.glis("show", "blue")).id;

  await reach("Skip to the session");
  await page.keyboard.press("Enter");
  same(await focus(), "main", "where the skip link leads");
  check(!page.url().includes("#main"), "the skip link is no place");

  // Through the list, into a session, and through its views.
  await page.keyboard.press("Shift+Tab");
  await reach(`row-${id}`, "Shift+Tab");
  await page.keyboard.press("Enter");
  await has(page, "idle");
  same(await focus(), "main", "who has opened a session is in it");
  await reach("tab-terminal");
  await page.keyboard.press("ArrowRight");
  same(await focus(), "tab-conversation", "the arrows go from view to view");
  await shows(page, "#pane", "Nothing was said yet.");
  await page.keyboard.press("ArrowLeft");
  await shows(page, ".screen", "");

  // What has the focus keeps it while events come.
  await reach("do-pause", "Shift+Tab");
  await house.glis("timeout", "blue", "30");
  await house.glis("snapshot", "blue");
  same(await focus(), "do-pause", "what has the focus after events");
  await page.keyboard.press("Control+Shift+KeyP");
  await has(page, "paused");
  await page.keyboard.press("Control+Shift+KeyR");
  await has(page, "idle");
  await page.keyboard.press("Alt+KeyM");
  same(await focus(), "message", "where a message is written");
  await page.keyboard.type("say by hand");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await shows(page, ".screen .line", "by hand");

  // A shortcut that the browser keeps is given other keys.
  await page.evaluate(() => { location.hash = "#/settings"; });
  await reach("key-pause-workspace");
  await page.keyboard.press("Alt+KeyP");
  await page.waitForFunction(() => /** @type {HTMLInputElement} */ (document.querySelector("#key-pause-workspace")).value === "alt+p");
  // A field for keys takes every key but Tab.
  await reach("Forget this device", "Shift+Tab");
  await page.keyboard.press("Alt+ArrowDown");
  await shows(page, "#main h2", "green");
  await page.locator(".card.asks button:text-is('Allow'):not([aria-disabled])").waitFor();
  const ask = await page.evaluate(() => document.querySelector(".card.asks button")?.id ?? "");
  await reach(ask);
  await page.keyboard.press("Enter");
  await gone(page, ".card.asks");
  await has(page, "idle");
  await page.keyboard.press("Alt+KeyP");
  await has(page, "paused");
});
