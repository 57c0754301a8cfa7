/** A stranger listens where our server did: a page that was left open finds out, says so, and sends no cookie. */

import http from "node:http";
import { check, given, live, same, shows, story } from "./driver.mjs";

/** Times that the page looks for its server. */
const LOOKS = 4;

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "stty -echo; echo ready; cat");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  const other = await page.context().newPage();
  desk.watch(other);
  await other.goto(page.url());
  await live(other);

  await house.ask("kill web");
  /** @type {string[]} */
  const cookies = [];
  let looks = 0;
  let enough = () => {};
  const looked = new Promise((done) => { enough = () => done(null); });
  const stranger = http.createServer(({ headers, url }, answer) => {
    if (headers.cookie) cookies.push(`${url}: ${headers.cookie}`);
    looks += 1;
    if (looks >= LOOKS) enough();
    answer.writeHead(200, { "Content-Type": "application/json" }).end('{"proof":"0"}');
  });
  stranger.on("upgrade", ({ headers, url }, socket) => {
    if (headers.cookie) cookies.push(`${url}: ${headers.cookie}`);
    socket.destroy();
  });
  await new Promise((done) => stranger.listen(Number(new URL(given("GLIS_PAGE")).port), "127.0.0.1", () => done(null)));
  await looked;
  await shows(page, "#link", "another server answers here");
  await other.close();
  const before = looks;
  while (looks < before + 2) await new Promise((done) => stranger.once("request", done));
  same(cookies, [], "cookies that the stranger was sent");
  stranger.close();
  stranger.closeAllConnections();

  await house.ask("start web");
  await live(page);
  await house.glis("send", "shell", "and again");
  await shows(page, ".screen .line", "and again");
  check(looks > LOOKS, "the page has looked for its server");
});
