/** A program asks its terminal who it is, where its cursor is, and for the clipboard: the page says nothing. */

import { check, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const questions = [
    "\\033[6n", "\\033[5n", "\\033[c", "\\033[>c", "\\033[=c", "\\033[21t", "\\033[18t", "\\033[?6n",
    "\\033]52;c;ZXZpbA==\\007", "\\033]52;c;?\\007", "\\033]10;?\\007", "\\033]4;1;?\\007", "\\033P$qm\\033\\\\", "\\033]0;rm -rf\\007", "\\005",
  ];
  const program = `stty raw -echo; printf '${questions.join("")}the end\\r\\n'; cat > heard`;
  await house.glis("new", "asker", "--agent", "command", "--", "sh", "-c", program);
  const page = await desk.page();
  let said = 0;
  page.on("websocket", (socket) => socket.on("framesent", () => { said += 1; }));
  /** @type {string[]} */
  const changes = [];
  page.on("request", (request) => { if (request.method() !== "GET" && request.url().includes("/api/")) changes.push(request.url()); });
  await page.goto(await house.link("desk"));
  await live(page);
  await page.click("#list .row:has-text('asker')");
  await shows(page, ".screen .line", "the end");
  const before = await house.ask("file", ["asker", "heard"]);
  // Each look plays the screen again, from the first byte on.
  for (let look = 0; look < 3; look += 1) {
    await page.reload();
    await live(page);
    await shows(page, ".screen .line", "the end");
  }
  same(await page.title(), "glis", "the page's own title");
  same([said, changes], [0, []], "what the page has said");
  // Whoever answers such questions, it is not one more for each page.
  await house.says("screen", "asker");
  same(await house.ask("file", ["asker", "heard"]), before, "what the program has heard");
  check(before === "" || !before.includes("evil"), "the clipboard is nobody's");
});
