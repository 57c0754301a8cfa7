/** Drives a real browser before a house, for the stories beside this file.
 *
 * A story is a program of its own. What has to be done in the house (a command line, a kill) it asks for by
 * a line that begins with `do `, and the test that started it answers by a line of JSON. Whatever else it
 * prints is told if it fails. */

import dns from "node:dns";
import fs from "node:fs";
import { createRequire } from "node:module";
import os from "node:os";
import path from "node:path";
import readline from "node:readline";

// A browser looks for such names on this machine, and what a story fetches by itself is to do so too.
const { lookup } = dns.promises;
dns.promises.lookup = /** @type {any} */ ((/** @type {string} */ name, /** @type {any} */ options) =>
  lookup(name.endsWith(".localhost") ? "127.0.0.1" : name, options));

const modules = given("GLIS_BROWSER_MODULES");
const needed = createRequire(path.join(modules, "story.js"));
const { chromium } = needed("playwright-core");

/** Longer than anything takes on a machine that has much else to do. */
const PATIENCE_MS = 60_000;

/** A browser of tests has no sandbox of its own as root, and calls nobody by itself. */
const BARE = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
];

/** What the browser says by itself where a server is away or refuses: stories cut connections. */
const EXPECTED = /Failed to load resource|WebSocket connection to .* failed|ERR_/;

/** @param {string} name */
export function given(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: a test starts this`);
  return value;
}

/** Fails unless it is so. @param {any} is @param {string} what */
export function check(is, what) {
  if (!is) throw new Error(`not so: ${what}`);
}

/** @param {any} found @param {any} wanted @param {string} what */
export function same(found, wanted, what) {
  const [one, two] = [found, wanted].map((value) => JSON.stringify(value));
  if (one !== two) throw new Error(`${what}: ${one} is not ${two}`);
}

/** The house of the test that started this. */
class House {
  constructor() {
    const lines = readline.createInterface({ input: process.stdin });
    this.lines = lines[Symbol.asyncIterator]();
    this.input = lines;
    /** One at a time. @type {Promise<any>} */
    this.last = Promise.resolve();
  }

  /** @param {string} act @param {string[]} words @returns {Promise<any>} */
  ask(act, words = []) {
    this.last = this.last.catch(() => {}).then(async () => {
      process.stdout.write(`do ${JSON.stringify({ act, words })}\n`);
      const { value, done } = await this.lines.next();
      if (done) throw new Error("the test is gone");
      const told = JSON.parse(value);
      if ("error" in told) throw new Error(`${act} ${words.join(" ")}: ${told.error}`);
      return told.done;
    });
    return this.last;
  }

  /** A command line with `--json`. @param {...string} words */
  glis(...words) {
    return this.ask("glis", words);
  }

  /** One that prints no JSON. @param {...string} words @returns {Promise<string>} */
  says(...words) {
    return this.ask("says", words);
  }

  /** All that has happened. */
  async events() {
    const lines = (await this.says("events")).split("\n").filter(Boolean);
    return lines.map((line) => JSON.parse(line));
  }

  /** A session of the rehearsal agent without a terminal. @param {string} name @param {...string} more */
  headless(name, ...more) {
    return this.glis("new", name, "--agent", "rehearsal", "--headless", ...more);
  }

  /** @param {string} name @param {string} states */
  until(name, states) {
    return this.glis("wait", name, "--for", states, "--timeout", "60s");
  }

  /** A link that pairs a device. @param {string} name @param {string} scope @returns {Promise<string>} */
  async link(name, scope = "manage") {
    return (await this.glis("web", "pair", "--name", name, "--scope", scope)).url;
  }
}

export const SIZES = {
  desk: { width: 1280, height: 800 }, phone: { width: 390, height: 844 }, wide: { width: 1440, height: 900 }, laptop: { width: 1280, height: 720 },
  tablet: { width: 820, height: 1180 }, side: { width: 844, height: 390 },
};

/** A browser, its pages, and what went wrong in them. */
class Desk {
  /** @param {import("playwright-core").Browser} browser @param {House} house */
  constructor(browser, house) {
    [this.browser, this.house] = [browser, house];
    /** @type {string[]} */
    this.faults = [];
    /** How many questions of the page are said yes to; any other one is a fault. */
    this.yes = 0;
  }

  /** A page of a device of its own. @param {Record<string, any>} [how] */
  async page(how = {}) {
    const { size = "desk", scope: _, ...rest } = how;
    const touch = size === "phone" ? { hasTouch: true, isMobile: true } : {};
    const context = await this.browser.newContext({ viewport: SIZES[size], ...touch, ...rest });
    context.setDefaultTimeout(PATIENCE_MS);
    const page = await context.newPage();
    this.watch(page);
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        console.error(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
      });
    });
    return page;
  }

  /** A page of a device that is paired. @param {string} name @param {Record<string, any>} [how] */
  async paired(name, how = {}) {
    const page = await this.page(how);
    await page.goto(await this.house.link(name, how.scope));
    await live(page);
    return page;
  }

  /** @param {import("playwright-core").Page} page */
  watch(page) {
    page.on("pageerror", (fault) => this.faults.push(`error: ${fault.stack ?? fault}`));
    page.on("console", (said) => {
      if (said.type() === "error" && !EXPECTED.test(said.text())) this.faults.push(`console: ${said.text()}`);
    });
    page.on("dialog", async (dialog) => {
      if (dialog.type() === "confirm" && this.yes > 0) {
        this.yes -= 1;
        return dialog.accept();
      }
      this.faults.push(`${dialog.type()}: ${dialog.message()}`);
      await dialog.dismiss();
    });
  }

  /** Presses something that asks whether it is meant. @param {import("playwright-core").Locator} button */
  async confirm(button) {
    this.yes += 1;
    await button.click();
    same(this.yes, 0, "questions that were not asked");
  }
}

/** Waits until the page is connected. @param {import("playwright-core").Page} page */
export function live(page) {
  return page.waitForFunction(() => document.body.dataset.link === "live");
}

/** Waits until a selector finds an element with this text. @param {import("playwright-core").Page} page
 * @param {string} selector @param {string} text */
export function shows(page, selector, text) {
  return page.locator(selector).filter({ hasText: text }).first().waitFor();
}

/** Waits until nothing is found any more. @param {import("playwright-core").Page} page
 * @param {string} selector @param {string} [text] */
export function gone(page, selector, text) {
  const all = page.locator(selector);
  return (text ? all.filter({ hasText: text }) : all).first().waitFor({ state: "detached" });
}

/** Waits until the session that is shown has this status. @param {import("playwright-core").Page} page
 * @param {string} status */
export function has(page, status) {
  return page.waitForFunction((wanted) => document.querySelector("#main [data-status]")?.getAttribute("data-status") === wanted, status);
}

/** A fixed piece of work, and how long it takes on a machine whose cores nobody else uses. */
const WORK = 2e7;
const WORK_MS = 70;

/** How many times as long work takes here and now as it should: other guests of a host are in no load average. */
function slowness() {
  const took = [1, 2, 3].map(() => {
    const begun = performance.now();
    let sum = 0;
    for (let at = 0; at < WORK; at += 1) sum = (sum + at) % 1000003;
    return sum < 0 ? 0 : performance.now() - begun;
  });
  return Math.min(...took) / WORK_MS;
}

/** How many times as long everything takes as on a machine of its own: what wants to run, shared by its cores. What
 * ran lately counts as well as what runs now, since tests that begin together are not in any average yet. */
export async function crowd() {
  let running = 0;
  for (let look = 0; look < 10; look += 1) {
    running += Number(/(\d+)\//.exec(fs.readFileSync("/proc/loadavg", "utf8"))?.[1] ?? 1) / 10;
    await new Promise((done) => setTimeout(done, 20));
  }
  return Math.max(1, slowness(), os.loadavg()[0] / os.cpus().length, running / os.cpus().length);
}

/** The script that finds what keeps people out. */
export const axe = () => fs.readFileSync(path.join(modules, "axe-core/axe.min.js"), "utf8");

/** A browser. @param {string[]} [more] further arguments for it */
export function launch(more = []) {
  return chromium.launch({ executablePath: given("GLIS_BROWSER"), args: [...BARE, ...more] });
}

/** Plays a story and ends with its outcome.
 * @param {(stage: {house: House, desk: Desk}) => Promise<void>} play
 * @param {string[]} [more] arguments for the browser */
export async function story(play, more = []) {
  const house = new House();
  let browser;
  let code = 0;
  try {
    browser = await launch(more);
    const desk = new Desk(browser, house);
    try {
      await play({ house, desk });
    } catch (fault) {
      for (const context of browser.contexts()) for (const page of context.pages()) await tell(page);
      throw fault;
    } finally {
      for (const fault of desk.faults) console.log(`in the page: ${fault}`);
      if (desk.faults.length) code = 1;
    }
  } catch (fault) {
    console.log(fault?.stack ?? String(fault));
    code = 1;
  }
  await browser?.close();
  house.input.close();
  process.exit(code);
}

/** What a page shows at the end of a story that failed. @param {import("playwright-core").Page} page */
async function tell(page) {
  try {
    const seen = await page.evaluate(() => document.body.innerText);
    console.log(`--- ${page.url()}\n${seen.slice(0, 3000)}\n---`);
  } catch {
    console.log(`--- ${page.url()} shows nothing`);
  }
}
