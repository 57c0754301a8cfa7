/** A stranger listens where our server did: a page that was left open finds out, says so, and sends nothing that counts. */

import http from "node:http";
import { check, given, live, same, shows, story } from "./driver.mjs";

/** Times that the page looks for its server. */
const LOOKS = 12;

await story(async ({ house, desk }) => {
  await house.glis("new", "shell", "--agent", "command", "--", "sh", "-c", "stty -echo; echo ready; cat");
  const page = await desk.paired("desk");
  await page.click("#list .row:has-text('shell')");
  await shows(page, ".screen .line", "ready");
  const other = await page.context().newPage();
  desk.watch(other);
  await other.goto(page.url());
  await live(other);
  same(await page.context().cookies(), [], "cookies");
  const { secret } = await page.evaluate(() => JSON.parse(localStorage.getItem("glis.device") ?? ""));

  await house.ask("kill web");
  /** How the stranger answers a request for the proof. @type {(url: string, answer: http.ServerResponse) => void} */
  let proves = (_, answer) => answer.writeHead(200, { "Content-Type": "application/json" }).end('{"proof":"0"}');
  /** All that he was sent but the looks for the proof. @type {string[]} */
  const sent = [];
  let looks = 0;
  const stranger = http.createServer((request, answer) => {
    let body = "";
    request.on("data", (bytes) => { body += bytes; });
    request.on("end", () => {
      const { method, url = "", headers } = request;
      const all = `${method} ${url} ${JSON.stringify(headers)} ${body}`;
      if (!url.startsWith("/proof?") || headers.cookie || headers["x-glis-ticket"] || all.includes(secret)) sent.push(all);
      looks += 1;
      proves(url, answer);
    });
  });
  stranger.on("upgrade", ({ url }, socket) => {
    sent.push(`socket ${url}`);
    socket.destroy();
  });
  const more = async () => {
    const enough = looks + LOOKS;
    while (looks < enough) await new Promise((done) => stranger.once("request", done));
  };
  await new Promise((done) => stranger.listen(Number(new URL(given("GLIS_PAGE")).port), "127.0.0.1", () => done(null)));
  await more();
  await shows(page, "#link", "another server answers here");
  await other.close();

  // What is said meanwhile is kept; and that nobody knows the device is not believed to him.
  proves = (_, answer) => answer.writeHead(404, { "Content-Type": "application/json" }).end('{"error":{"kind":"not_found"}}');
  await page.fill("#message", "kept for ours");
  await page.press("#message", "Control+Enter");
  await shows(page, ".letter", "sending");
  await more();
  await shows(page, "#link", "another server answers here");
  check(!(await page.locator("#main").innerText()).includes("not known here"), "it is not told that it is not known");

  // Our server runs at another port by now, and he has it answer for him.
  const elsewhere = await house.ask("start web elsewhere");
  const { hostname } = new URL(given("GLIS_PAGE"));
  let relayed = 0;
  proves = (path, answer) => {
    const headers = { Host: `${hostname}:${elsewhere}` };
    http.get({ host: "127.0.0.1", port: elsewhere, path, headers }, (told) => {
      if (told.statusCode === 200) relayed += 1;
      answer.writeHead(told.statusCode ?? 500, { "Content-Type": "application/json" });
      told.pipe(answer);
    });
  };
  await more();
  check(relayed > 0, "our server has answered for him");
  await shows(page, "#link", "another server answers here");
  same(sent, [], "what the stranger was sent");
  stranger.close();
  stranger.closeAllConnections();

  await house.ask("start web");
  await live(page);
  await shows(page, ".screen .line", "kept for ours");
});
