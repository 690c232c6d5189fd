// The live page and the reports in Firefox, driven over WebDriver BiDi: every view in both languages, narrow and wide; no console errors, no
// horizontal overflow, a slider changes the answer, a number opens its drawer. Run by tests/web/run_firefox. Usage: test_firefox.mjs BASE REPORTS [SHOTS]
import { createRequire } from "node:module";
import { mkdirSync, readdirSync } from "node:fs";
import { resolve } from "node:path";
import { judge, measure, told, untold } from "./measure.mjs";
const require = createRequire(process.env.PUPPETEER_AT + "/");
const puppeteer = require("puppeteer-core");
const [base, folder, shots] = process.argv.slice(2);
if (shots) mkdirSync(shots, { recursive: true });
const views = ["ask", "whatif", "scaling", "compare", "price", "buy", "serve", "goodput", "trust", "catalogue", "machine", "reports", "audit"];
let failed = 0, looked = 0;
const check = (ok, what) => { if (!ok) { failed++; console.log("FAILED:", what); } };
// default fonts and colours, independent of this machine's profile
const browser = await puppeteer.launch({ browser: "firefox", executablePath: process.env.FIREFOX, headless: true, extraPrefsFirefox: { "intl.accept_languages": "en-US" } });
console.log(await browser.version());

// One tab: `at` names the current test for console messages.
let at = "";
const page = await browser.newPage();
page.on("console", (m) => { if (["error", "warn"].includes(m.type()) && !/status of 4(00|22)/.test(m.text())) check(false, `${at}: console: ${m.text()}`); });
page.on("pageerror", (e) => check(false, `${at}: ${e.message}`));
page.on("request", (r) => check(/^(file|data|blob|about):/.test(r.url()) || r.url().startsWith(base), `${at}: asks ${r.url()}`));
// evaluated by the driver: waiting inside the page compiles text, which its CSP forbids
async function until(holds, ...given) {
  for (const end = Date.now() + 30000; Date.now() < end; await new Promise((done) => setTimeout(done, 50)))
    if (await page.evaluate(holds, ...given)) return;
  throw new Error(`${at}: waited 30 s for ${holds}`);
}
const settle = () => until(() => Boolean(document.querySelector("main")?.dataset.ready) && !document.querySelector(".waiting"));
async function open(query, width) {
  at = `${query} at ${width}`;
  await page.setViewport({ width, height: width < 500 ? 844 : 900 });
  await page.goto(base + query);
  await settle();
  looked++;
}
const shot = async (name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png` }); };

for (const view of views)
  for (const lang of ["en", "ko"])
    for (const width of [1440, 390]) {
      await open(`/?view=${view}&lang=${lang}&cur=${lang === "ko" ? "KRW" : "USD"}`, width);
      const seen = await page.evaluate(() => ({
        title: document.title, lang: document.documentElement.lang, wide: document.documentElement.scrollWidth - innerWidth, inner: innerWidth,
        text: document.querySelector("main").innerText, faults: [...document.querySelectorAll(".fault")].map((e) => e.innerText),
      }));
      check(seen.inner === width, `${at}: the window is ${seen.inner} wide`);
      check(seen.title.includes("jeoul") && seen.lang === lang, `${at}: ${seen.title}, ${seen.lang}`);
      check(seen.wide <= 1, `${at}: ${seen.wide} px wider than the screen`);
      check(seen.text.length > 60 && !seen.faults.length, `${at}: ${seen.text.length} letters, ${seen.faults}`);
      if (lang === "ko") check(/[가-힣]/.test(seen.text), `${at}: no Korean`);
      for (const what of untold(await page.evaluate(told))) check(false, `${at}: ${what}`);
      await shot(`${view}-${lang}-${width}`);
    }

{ // figures equal the command's; a number opens its drawer by mouse and keyboard, Escape closes it
  await open("/?model=gpt2-124m&on=2x+rtx-4090&batch=8", 1440);
  const [api, values] = await page.evaluate(async () => [
    await (await fetch("/api/v1/predict", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "gpt2-124m", on: "2x rtx-4090", batch: 8, tokens: 1e10 }) })).json(),
    [...document.querySelectorAll(".answer .num")].map((e) => Number(e.dataset.value))]);
  for (const v of [api.step_s.value, api.memory_B.total, api.memory_B.capacity, api.cost_usd.value]) check(values.includes(v), `the answer lacks ${v}: ${values}`);
  await page.click(".answer .num");
  await until(() => Boolean(document.querySelector("dialog[open] .near li")));
  const drawer = await page.$eval("dialog", (d) => d.innerText);
  check(/80 % interval/.test(drawer) && /estimated/.test(drawer) && /compute/.test(drawer), `drawer: ${drawer.slice(0, 200)}`);
  await shot("drawer");
  await page.keyboard.press("Escape");
  check(!(await page.$("dialog[open]")), "Escape closes the drawer");
  await page.focus(".answer .num");
  await page.keyboard.press("Enter");
  check(await page.$("dialog[open]"), "a number opens by Enter");
}
{ // a slider changes the answer, and the state is in the URL
  await open("/?view=whatif&model=gpt-305m&on=8x+rtx-3090&batch=4", 1440);
  const answer = () => page.$eval("main", (m) => [...m.querySelectorAll(".num")].map((e) => e.dataset.value).join(" "));
  const before = await answer();
  await page.focus("#s-batch");
  await page.keyboard.press("ArrowRight");
  await until((was) => [...document.querySelectorAll("main .num")].map((e) => e.dataset.value).join(" ") !== was, before);
  await settle();
  await until(() => !/[?&]batch=4(&|$)/.test(location.search));
  check((await answer()) !== before, "the slider moves the answer");
}
for (const file of readdirSync(folder).filter((f) => f.endsWith(".html")).sort()) { // narrow: detects letters wider than in other browsers
  at = file;
  await page.setViewport({ width: 390, height: 900 });
  await page.goto("file://" + resolve(folder, file));
  await shot(`${file}-390`);
  try { judge(await page.evaluate(measure), file, 390); } catch (e) { check(false, e.message); }
  looked++;
}
await browser.close();
check(looked >= 48, `only ${looked} looked at`);
console.log(failed ? `${failed} failed` : `${looked} pages are fine in Firefox`);
process.exit(failed ? 1 : 0);
