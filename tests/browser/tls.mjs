/** The page over TLS, with a certificate that nobody vouches for and the user has accepted. */

import { check, has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "echo ready; cat > heard");
  const page = await desk.page({ ignoreHTTPSErrors: true });
  /** @type {string[]} */
  const sockets = [];
  page.on("websocket", (socket) => sockets.push(new URL(socket.url()).protocol));
  const link = await house.link("desk");
  check(link.startsWith("https://"), `the link: ${link}`);
  await page.goto(link);
  await live(page);
  same(await page.context().cookies(), [], "cookies");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  same([...new Set(sockets)], ["wss:"], "how the terminal comes");
  await page.click("#type-here");
  await page.keyboard.type("hello");
  await page.keyboard.press("Enter");
  await shows(page, ".screen .line", "hello");
  for (let look = 0; (await house.ask("file", ["shell", "heard"])) !== "hello\n"; look += 1) {
    check(look < 300, "what was typed has arrived");
    await new Promise((done) => setTimeout(done, 100));
  }
  await page.keyboard.press("Control+]");
  await house.glis("stop", "shell");
  await has(page, "suspended");
});
