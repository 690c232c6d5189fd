// Chromium for the page tests: opens a view, waits for its answer, counts errors. Independent of the views' contents.
// JEOUL_ASSETS=FOLDER replaces the page's files: tests a change without a build.
import { createRequire } from "node:module";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
const at = process.env.PLAYWRIGHT_AT;
export const require = createRequire(at.endsWith("playwright-core") ? `${at}/package.json` : `${at}/node_modules/x.js`);
const { chromium } = require(at.endsWith("playwright-core") ? at : "playwright-core");
export const base = process.argv[2], shots = process.argv[3];
export const views = ["ask", "whatif", "scaling", "compare", "price", "buy", "serve", "goodput", "trust", "catalogue", "machine", "reports", "audit"];
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
let failed = 0, passed = 0;
export const check = (ok, what) => { if (ok) passed++; else { failed++; console.log("FAILED:", what); } };

export async function settle(page) {
  await page.waitForFunction(() => document.querySelector("main")?.dataset.ready && !document.querySelector(".waiting"), null, { timeout: 60000 });
  await page.waitForTimeout(250);
  for (let n = -1; n !== page.reading.length;) { n = page.reading.length; await Promise.all(page.reading); }
}
async function fromFolder(page, folder) {
  const nameOf = (url) => basename(new URL(url).pathname);
  await page.route((url) => /\.(js|css)$/.test(url.pathname) && existsSync(`${folder}/${nameOf(url)}`), async (route) => {
    const name = nameOf(route.request().url()), body = readFileSync(`${folder}/${name}`, "utf8");
    if (name.endsWith(".js")) return route.fulfill({ body, contentType: "text/javascript" });
    return route.fulfill({ body: (await (await route.fetch()).text()) + body, contentType: "text/css" }); // the build adds the documents' part
  });
}
// before: called before the page opens. page.answers: API responses, in order.
export async function open(query, { width = 1440, dark = false, before = null, wait = true } = {}) {
  const context = await browser.newContext({ viewport: { width, height: width < 500 ? 844 : 900 }, colorScheme: dark ? "dark" : "light", locale: "en-US" });
  const page = await context.newPage();
  page.answers = [];
  page.reading = []; // responses being read
  page.on("console", (m) => { if (["error", "warning"].includes(m.type()) && !/status of 4(00|22)/.test(m.text())) check(false, `${query}: console: ${m.text()}`); });
  page.on("pageerror", (e) => check(false, `${query}: ${e.message}`));
  const read = async (r, place) => { try { place.body = await r.json(); } catch { /* the page went on */ } };
  page.on("response", (r) => {
    if (!r.url().includes("/api/v1/") || !(r.headers()["content-type"] ?? "").includes("json")) return;
    page.answers.push({ url: new URL(r.url()).pathname, body: {} });
    page.reading.push(read(r, page.answers.at(-1)));
  });
  if (process.env.JEOUL_ASSETS) await fromFolder(page, process.env.JEOUL_ASSETS);
  await before?.(page);
  await page.goto(base + query);
  if (wait) await settle(page);
  return page;
}
export async function done(what) {
  await browser.close();
  console.log(failed ? `${failed} failed, ${passed} passed` : `${what}: ${passed} checks`);
  process.exit(failed ? 1 : 0);
}
