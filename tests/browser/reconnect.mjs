/** Connections that break: the page says so, catches up, repeats nothing, and keeps what was typed. */

import { check, has, live, same, shows, story } from "./driver.mjs";

await story(async ({ house, desk }) => {
  const blue = await house.glis("new", "blue", "--agent", "rehearsal");
  await house.until("blue", "idle");
  const page = await desk.page();
  // Every number that any stream of this page tells, in the order in which it comes.
  await page.addInitScript(() => {
    const numbers = (/** @type {any} */ (window).numbers = JSON.parse(sessionStorage.getItem("numbers") ?? "[]"));
    const plain = window.fetch;
    window.fetch = async (path, options) => {
      const response = await plain(path, options);
      if (!String(path).startsWith("/api/v1/events") || !response.body) return response;
      let text = "";
      const told = new TransformStream({ transform(bytes, sink) {
        sink.enqueue(bytes);
        const lines = (text + new TextDecoder().decode(bytes)).split("\n");
        text = lines.pop() ?? "";
        for (const line of lines) if (line.startsWith("id: ")) numbers.push(Number(line.slice(4)));
        sessionStorage.setItem("numbers", JSON.stringify(numbers));
      } });
      return new Response(response.body.pipeThrough(told), response);
    };
  });
  await page.goto(await house.link("desk"));
  await live(page);
  await page.click("#list .row:has-text('blue')");
  await has(page, "idle");
  const say = async (/** @type {string} */ text) => {
    await page.fill("#message", text);
    await page.press("#message", "Control+Enter");
  };
  const told = () => shows(page, "#link", "Not connected");

  // The server dies, and what is sent meanwhile waits in the page.
  await house.ask("kill web");
  await told();
  await say("say while it was away");
  await shows(page, ".letter", "sending");
  await page.fill("#message", "half a thou");
  await house.ask("start web");
  await live(page);
  await shows(page, ".screen .line", "while it was away");
  same(await page.inputValue("#message"), "half a thou", "what was typed");

  // So does the daemon.
  await house.ask("kill daemon");
  await say("say after the daemon");
  await shows(page, ".screen .line", "after the daemon");
  await live(page);

  // The network goes, also over a reload that finds it gone no more.
  await page.context().setOffline(true);
  await told();
  await say("say from the train");
  await page.fill("#message", "and another");
  await shows(page, ".letter", "sending");
  await page.context().setOffline(false);
  await page.reload();
  await live(page);
  await shows(page, ".screen .line", "from the train");
  same(await page.inputValue("#message"), "and another", "what was typed before the reload");
  await has(page, "idle");

  const taken = (await house.events()).filter((event) => event.event === "message_taken" && event.session === blue.id);
  same(taken.length, 3, "messages that were delivered");
  const numbers = await page.evaluate(() => /** @type {any} */ (window).numbers);
  check(numbers.length > 3, "events were told");
  check(numbers.every((/** @type {number} */ seq, /** @type {number} */ at) => at === 0 || seq === numbers[at - 1] + 1 || seq > numbers[at - 1]),
    `each number once and in order: ${numbers}`);
});
