/** Takes pictures of the page, for people: of every view in five sizes and both themes into a folder, or the two that
 * docs/web.md shows. `cargo xtask pictures` sets the scene and starts this. */

import path from "node:path";
import { SIZES, given, has, launch, live, shows } from "./driver.mjs";

const folder = given("GLIS_PICTURES");
const link = given("GLIS_PAGE");
const browser = await launch();
try {
  const first = await browser.newContext();
  const page = await first.newPage();
  await page.goto(link);
  await live(page);
  const state = await first.storageState();
  const url = page.url().replace(/#.*/, "");
  const open = async (/** @type {keyof typeof SIZES} */ size, /** @type {"light" | "dark"} */ colorScheme) => {
    const touch = size === "phone" ? { hasTouch: true, isMobile: true, deviceScaleFactor: 2 } : { deviceScaleFactor: 1.5 };
    const context = await browser.newContext({ viewport: SIZES[size], colorScheme, storageState: state, ...touch });
    const fresh = await context.newPage();
    await fresh.goto(url);
    await live(fresh);
    return fresh;
  };
  if (process.env.GLIS_PICTURES_ALL) await everything(open);
  else await forDocs(open);
} finally {
  await browser.close();
}

/** Tells the home of the scene as that of its user. @param {any} page */
function settle(page) {
  return page.evaluate((/** @type {string} */ home) => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) texts.currentNode.nodeValue = (texts.currentNode.nodeValue ?? "").replaceAll(home, "/home/ada");
  }, given("GLIS_PICTURES_HOME"));
}

/** @param {(size: any, theme: any) => Promise<any>} open */
async function forDocs(open) {
  const desk = await open("desk", "light");
  await desk.setViewportSize({ width: 1120, height: 860 });
  await desk.click("#list .row:has-text('fix-login')");
  await shows(desk, ".card.asks", "cargo test");
  await shows(desk, ".screen .line", "Now its tests");
  await desk.waitForSelector(".card.asks button:not([aria-disabled=true]):has-text('Allow')");
  await settle(desk);
  await desk.screenshot({ path: path.join(folder, "page.png") });
  const phone = await open("phone", "dark");
  await phone.click("#list .row:has-text('docs')");
  await has(phone, "paused");
  await phone.click("#tab-changes");
  await shows(phone, ".diff", "Begin here.");
  await settle(phone);
  await phone.screenshot({ path: path.join(folder, "page-phone.png") });
}

/** @param {(size: any, theme: any) => Promise<any>} open */
async function everything(open) {
  for (const size of ["wide", "laptop", "tablet", "phone", "side"]) {
    for (const theme of ["light", "dark"]) {
      const page = await open(size, theme);
      const go = (/** @type {string} */ hash) => page.evaluate((/** @type {string} */ to) => { location.hash = to; }, hash);
      const take = async (/** @type {string} */ name) => {
        await page.waitForTimeout(400);
        await page.screenshot({ path: path.join(folder, `${size}-${theme}-${name}.png`) });
      };
      await shows(page, "#list .row", "fix-login");
      await take("list");
      const into = async (/** @type {string} */ name) => {
        await go("#/");
        await page.click(`#list .row:has-text('${name}')`);
        await shows(page, "#main h2", name);
      };
      await into("fix-login");
      await take("asks");
      await page.click("#tab-conversation");
      await take("conversation");
      await into("docs");
      await take("paused");
      await page.click("#tab-changes");
      await take("changes");
      await page.click("#do-more");
      await take("menu");
      for (const hash of ["asks", "new", "search", "trash", "plans", "settings"]) {
        await go(`#/${hash}`);
        await take(`at-${hash}`);
      }
    }
  }
}
