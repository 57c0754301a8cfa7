/** Letters that fill two columns, and the keyboard of a phone: the cursor is where it belongs, and what is written
 * arrives, also what an input method has composed. */

import { check, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const program = "stty -echo; printf 'ready\\r\\n\\346\\227\\245\\346\\234\\254\\350\\252\\236ab\\033[2D'; cat > heard";
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", program);
  const { columns, rows } = await house.glis("screen", "shell");
  const phone = await desk.paired("phone", { size: "phone" });
  await phone.click("#list .row:has-text('shell')");
  await shows(phone, ".screen .line", "\u65e5\u672c\u8a9e");
  // The cursor was put back onto the first letter behind the wide ones.
  same(await phone.locator(".screen .cursor").textContent(), "a", "what the cursor is on");
  const line = phone.locator(".screen .line", { hasText: "\u65e5" });
  same(await line.textContent(), "\u65e5\u672c\u8a9eab", "the row, whole");

  await phone.tap("#type-here");
  const field = await phone.evaluate(() => {
    const focused = document.activeElement;
    return [focused?.tagName, ...["autocapitalize", "autocomplete", "spellcheck", "inputmode"].map((name) => focused?.getAttribute(name))];
  });
  same(field, ["TEXTAREA", "off", "off", "false", "text"], "what has the keyboard");
  check(!(await phone.locator("#pane").innerText()).includes("Ctrl+]"), "a phone is told what it can do");
  await shows(phone, "#pane", "What you type goes to the terminal");
  const heard = async (/** @type {string} */ wanted) => {
    for (let look = 0; (await house.ask("file", ["shell", "heard"])) !== wanted; look += 1) {
      check(look < 100, `what was typed: ${JSON.stringify(await house.ask("file", ["shell", "heard"]))}`);
      await new Promise((done) => setTimeout(done, 100));
    }
  };
  // As keyboards on glass do it: text without keys.
  await phone.keyboard.insertText("hi there");
  await phone.tap(".keys button[aria-label='Enter']");
  await heard("hi there\n");
  // One letter too many is deleted, and the line is ended by the keyboard's own key.
  await phone.keyboard.insertText("onee");
  await phone.evaluate(() => document.execCommand("delete"));
  await phone.evaluate(() => document.execCommand("insertLineBreak"));
  await heard("hi there\none\n");
  // What an input method has at work is not sent before it is done.
  const wire = await phone.context().newCDPSession(phone);
  for (const text of ["n", "\u306b", "\u306b\u307b"]) await wire.send("Input.imeSetComposition", { text, selectionStart: text.length, selectionEnd: text.length });
  await wire.send("Input.insertText", { text: "\u65e5\u672c" });
  await phone.tap(".keys button[aria-label='Enter']");
  await heard("hi there\none\n\u65e5\u672c\n");
  const after = await house.glis("screen", "shell");
  same([after.columns, after.rows], [columns, rows], "the size of the terminal");
  await phone.tap("#type-here");
  same(await phone.evaluate(() => document.activeElement?.tagName), "BODY", "the keyboard is away again");

  // At a desk the same field takes letters that are composed, and the keys go on by themselves.
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  await page.click("#type-here");
  await page.click(".screen");
  await page.keyboard.type("desk ");
  const keys = await page.context().newCDPSession(page);
  await keys.send("Input.imeSetComposition", { text: "e", selectionStart: 1, selectionEnd: 1 });
  await keys.send("Input.insertText", { text: "\u00e9" });
  await page.keyboard.press("Enter");
  await heard("hi there\none\n\u65e5\u672c\ndesk \u00e9\n");
});
