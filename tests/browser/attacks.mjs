/** Other pages in the same browser: they are sent nothing of ours, and read and change nothing, even with a ticket. */

import http from "node:http";
import { check, same, shows, story } from "./driver.mjs";

/** Everything that a page can try, from inside it. What it could read is returned. */
async function attack(/** @type {string} */ target, /** @type {string} */ session, /** @type {string} */ ticket) {
  /** @type {string[]} */
  const read = [];
  const body = JSON.stringify({ minutes: "7" });
  const change = `${target}/api/v1/sessions/${session}/timeout`;
  const patience = (/** @type {number} */ ms) => new Promise((done) => setTimeout(done, ms, "silence"));
  const attempt = async (/** @type {string} */ what, /** @type {() => Promise<any>} */ act) => {
    try {
      const told = await Promise.race([act(), patience(5000)]);
      if (told && told !== "silence") read.push(`${what}: ${String(told).slice(0, 200)}`);
    } catch {
      // Refused by the browser or by the server: as it should be.
    }
  };
  /** The text of an answer that is not a refusal. @param {RequestInit} options @param {string} url */
  const fetched = async (url, options) => {
    const answer = await fetch(url, options);
    return answer.ok ? answer.text() : "";
  };
  const all = { credentials: /** @type {const} */ ("include") };
  const shown = { "X-Glis-Ticket": ticket };
  await attempt("read", () => fetched(`${target}/api/v1/sessions`, all));
  await attempt("read with a ticket", () => fetched(`${target}/api/v1/sessions`, { ...all, headers: shown }));
  await attempt("proof", () => fetched(`${target}/proof?device=1&nonce=1`, all));
  await attempt("read without asking", () => fetched(`${target}/api/v1/sessions`, { ...all, mode: "no-cors" }));
  for (const kind of ["text/plain", "application/json", "application/x-www-form-urlencoded"]) {
    const headers = { "Content-Type": kind };
    await attempt(`change as ${kind}`, () => fetched(change, { ...all, method: "POST", body, headers }));
    await attempt(`change as ${kind}, meant`, () => fetched(change, { ...all, method: "POST", body, headers: { ...headers, ...shown, "X-Glis": "1" } }));
    await attempt(`change as ${kind}, unasked`, () => fetched(change, { ...all, method: "POST", mode: "no-cors", body, headers }));
  }
  await attempt("beacon", async () => { navigator.sendBeacon(change, body); });
  await attempt("form", async () => {
    const frame = document.createElement("iframe");
    frame.name = "target";
    const form = document.createElement("form");
    Object.assign(form, { method: "POST", action: change, target: "target", enctype: "text/plain" });
    const field = document.createElement("input");
    Object.assign(field, { name: '{"minutes":"7","x":"', value: '"}' });
    form.append(field);
    document.body.append(frame, form);
    form.submit();
    await new Promise((done) => frame.addEventListener("load", done));
    return frame.contentDocument?.body?.innerText;
  });
  await attempt("socket", () => new Promise((done, fail) => {
    const socket = new WebSocket(`${target.replace("http", "ws")}/api/v1/sessions/${session}/terminal`, ["glis", ticket]);
    socket.onmessage = (told) => done(told.data);
    socket.onerror = () => fail(new Error("refused"));
  }));
  await attempt("stream", () => new Promise((done, fail) => {
    const source = new EventSource(`${target}/api/v1/events`, { withCredentials: true });
    source.onmessage = (told) => done(told.data);
    source.onerror = () => { source.close(); fail(new Error("refused")); };
  }));
  await attempt("script", () => new Promise((done, fail) => {
    const script = document.createElement("script");
    script.src = `${target}/api/v1/sessions`;
    Object.assign(script, { onload: () => done("a script was loaded"), onerror: fail });
    document.head.append(script);
  }));
  await attempt("frame", () => new Promise((done) => {
    const frame = document.createElement("iframe");
    frame.src = `${target}/`;
    frame.onload = () => done(frame.contentDocument?.querySelector("#list")?.textContent ?? "");
    document.body.append(frame);
  }));
  return read;
}

const EVIL = "evil.test";

await story(async ({ house, desk }) => {
  await house.glis("new", "blue", "--agent", "rehearsal");
  await house.until("blue", "idle");
  const page = await desk.paired("desk");
  await shows(page, "#list .row", "blue");
  const target = new URL(page.url()).origin;
  const { hostname, port } = new URL(target);
  const html = { "Content-Type": "text/html" };
  // Its own server sends no rules along: those of ours would stop the attack before it begins.
  /** What it is sent of ours, under whatever name. @type {string[]} */
  const sent = [];
  const server = http.createServer(({ headers, url }, answer) => {
    if (headers.cookie || headers["x-glis-ticket"]) sent.push(`${headers.host}${url}: ${headers.cookie} ${headers["x-glis-ticket"]}`);
    answer.writeHead(200, html).end("<!doctype html><title>evil</title><body>");
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", () => done(null)));
  const other = /** @type {import("node:net").AddressInfo} */ (server.address()).port;
  const before = (await house.events()).length;
  const ticket = await page.evaluate(async () => (await import(/** @type {any} */ ("/api.js"))).enter());

  const places = [
    [`http://127.0.0.1:${other}/`, target],
    [`http://127.0.0.1:${other}/`, `http://127.0.0.1:${port}`],
    [`http://localhost:${other}/`, target],
    [`http://localhost:${other}/`, `http://localhost:${port}`],
    // Another port of the same name is the same site for a browser: cookies would go along.
    [`http://${hostname}:${other}/`, target],
    // A name that was made to point here after its page was loaded.
    [`http://${EVIL}:${port}/`, `http://${EVIL}:${port}`],
    [`http://${EVIL}:${port}/`, target],
  ];
  for (const [from, to] of places) {
    const evil = await page.context().newPage();
    await evil.route(`http://${EVIL}:${port}/`, (route) => route.fulfill({ status: 200, headers: html, body: "<!doctype html><body>" }), { times: 1 });
    await evil.goto(from);
    const read = await evil.evaluate(`(${attack})(${JSON.stringify(to)}, "blue", ${JSON.stringify(ticket)})`);
    same(read, [], `what a page of ${from} read from ${to}`);
    await evil.close();
  }
  same((await house.events()).length, before, "events after all attacks");
  same(sent, [], "what another server of this machine is sent of ours");
  same((await house.glis("show", "blue")).idle_timeout_secs, 600, "what was to be changed");
  // The same from our own page is let through: the attacks were real ones.
  const own = await page.evaluate(`(${attack})(${JSON.stringify(target)}, "blue", ${JSON.stringify(ticket)})`);
  check(own.some((/** @type {string} */ one) => one.includes("blue")), `our own page reads: ${own}`);
  same((await house.glis("show", "blue")).idle_timeout_secs, 420, "what our own page changes");
  // A link to our page names a session and nothing else: no other place is read or changed by a key that is pressed there.
  /** @type {string[]} */
  const calls = [];
  page.on("request", (request) => calls.push(`${request.method()} ${new URL(request.url()).pathname}`));
  for (const name of ["..", ".", "..\\device\\forget?", "blue\\stop?", "%2e%2e", "blue"]) {
    await page.evaluate((hash) => { location.hash = hash; }, `#/s/${name}`);
    await shows(page, "#main", "This session is gone.");
    await page.keyboard.press("Control+Shift+P");
    await page.evaluate(() => { location.hash = "#/"; });
    await shows(page, "#main", "Inbox");
  }
  same(calls.filter((one) => one.startsWith("POST")), [], "calls after links to what is no session");
  // The form and the script that it tried are against our own rules, and are told.
  desk.faults = desk.faults.filter((fault) => !/policy:|Content Security Policy|Trusted/.test(fault));
  server.close();
  server.closeAllConnections();
  // The browser has a guard of its own by now, which is not to be in the way of what ours is tried with.
}, [`--host-resolver-rules=MAP ${EVIL} 127.0.0.1`, "--disable-features=LocalNetworkAccessChecks"]);
