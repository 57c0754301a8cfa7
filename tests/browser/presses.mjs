/** Keys that are held along with others arrive as a terminal sends them, from a desk and from a phone. */

import { check, same, shows, story } from "./driver.mjs";

/** What is pressed, and what a program gets of it as `od` writes it out. */
const PRESSES = [
  ["Shift+Tab", "033 [ Z"], ["Shift+Enter", "\\n"], ["Alt+Enter", "033 \\r"], ["F1", "033 O P"], ["F2", "033 O Q"],
  ["F5", "033 [ 1 5 ~"], ["F12", "033 [ 2 4 ~"], ["Shift+F2", "033 [ 1 ; 2 Q"], ["Alt+b", "033 b"], ["Alt+Backspace", "033 177"],
  ["Control+ArrowLeft", "033 [ 1 ; 5 D"], ["Shift+ArrowUp", "033 [ 1 ; 2 A"], ["Control+Space", "\\0"], ["Control+/", "037"],
  ["Control+w", "027"], ["Control+Alt+c", "033 003"], ["Control+Delete", "033 [ 3 ; 5 ~"], ["Shift+PageUp", "033 [ 5 ; 2 ~"],
];

await story(async ({ house, desk }) => {
  // Each byte comes at once, and none means anything to the terminal itself.
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "stty raw -echo; printf ready; cat > heard");
  const heard = async (/** @type {string} */ wanted) => {
    for (let look = 0; ; look += 1) {
      const bytes = [...await house.ask("file", ["shell", "heard"])].map((one) => written(one.charCodeAt(0))).join(" ");
      if (bytes === wanted) return;
      check(look < 100, `what was typed: ${bytes} is not ${wanted}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  await page.click("#type-here");
  for (const [keys] of PRESSES) await page.keyboard.press(keys);
  const all = PRESSES.map(([, bytes]) => bytes).join(" ");
  await heard(all);

  // A tab whose terminal is typed into asks before it closes, and one that is not typed into does not.
  /** @type {string[]} */
  const asked = [];
  page.removeAllListeners("dialog");
  page.on("dialog", (dialog) => { asked.push(dialog.type()); dialog.dismiss(); });
  await page.close({ runBeforeUnload: true });
  while (!asked.length) await page.waitForEvent("dialog");
  same(asked, ["beforeunload"], "what a tab asks that is typed into");
  await page.keyboard.press("Control+]");
  await page.close({ runBeforeUnload: true });
  if (!page.isClosed()) await page.waitForEvent("close");
  same(asked.length, 1, "what a tab asks that is not typed into");

  // A phone holds a key of the bar for the next one.
  const phone = await desk.paired("phone", { size: "phone" });
  await phone.click("#list .row:has-text('shell')");
  await shows(phone, ".screen .line", "ready");
  await phone.tap("#type-here");
  await phone.tap(".keys button:text-is('Ctrl')");
  await phone.keyboard.insertText("d");
  await phone.keyboard.insertText("d");
  await phone.tap(".keys button:text-is('Alt')");
  await phone.tap(".keys button[aria-label='Left']");
  await phone.tap(".keys button[aria-label='Shift Tab']");
  await heard(`${all} 004 d 033 [ 1 ; 3 D 033 [ Z`);
  same(await phone.locator(".keys [data-key][aria-pressed=true]").count(), 0, "keys that are still held");
});

/** A byte, as `od -c` writes it. @param {number} byte */
function written(byte) {
  const named = { 0: "\\0", 10: "\\n", 13: "\\r" };
  return named[byte] ?? (byte < 32 || byte > 126 ? byte.toString(8).padStart(3, "0") : String.fromCharCode(byte));
}
