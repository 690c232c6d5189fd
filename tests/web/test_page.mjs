// The live page in Chromium: every view, both languages, narrow and wide, light and dark; no console errors, no external requests, no
// axe-core findings; numbers equal the API's; state in the URL; sliders respond in time. Usage: test_page.mjs BASE [SHOTS]
import { createRequire } from "node:module";
import { existsSync, mkdirSync } from "node:fs";
import { told, untold } from "./measure.mjs";
const at = process.env.PLAYWRIGHT_AT;
const require = createRequire(at.endsWith("playwright-core") ? `${at}/package.json` : `${at}/node_modules/x.js`);
const { chromium } = require(at.endsWith("playwright-core") ? at : "playwright-core");
let axe = null;
try { axe = require.resolve("axe-core/axe.min.js"); } catch { console.log("without axe-core: npm install --prefix build/web axe-core"); }
const base = process.argv[2], shots = process.argv[3];
if (shots && !existsSync(shots)) mkdirSync(shots, { recursive: true });
const views = ["ask", "whatif", "scaling", "compare", "price", "buy", "serve", "goodput", "trust", "catalogue", "machine", "reports", "audit"];
let failed = 0;
const check = (ok, what) => { if (!ok) { failed++; console.log("FAILED:", what); } };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });

async function settle(page) {
  await page.waitForFunction(() => document.querySelector("main")?.dataset.ready && !document.querySelector(".waiting"), null, { timeout: 60000 });
  await page.waitForTimeout(250);
}
async function open(query, { width = 1440, dark = false } = {}) {
  const context = await browser.newContext({ viewport: { width, height: width < 500 ? 844 : 900 }, colorScheme: dark ? "dark" : "light", locale: "en-US" });
  const page = await context.newPage();
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) { if (!/status of 4(00|22)/.test(m.text())) check(false, `${query}: console: ${m.text()}`); } });
  page.on("pageerror", (e) => check(false, `${query}: ${e.message}`));
  page.on("request", (r) => check(r.url().startsWith(base) || r.url().startsWith("data:") || r.url().startsWith("blob:"), `${query}: asks ${r.url()}`));
  await page.goto(base + query);
  await settle(page);
  return page;
}
async function accessible(page, name) {
  if (!axe) return;
  await page.evaluate(require("node:fs").readFileSync(axe, "utf8")); // evaluated by the driver: the page's CSP blocks external scripts
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  for (const v of found.violations) check(false, `${name}: axe: ${v.id}: ${v.nodes.length} × ${v.nodes[0].html.slice(0, 140)} ${v.nodes[0].any[0]?.message ?? ""}`);
}

// JEOUL_ALL=1: also the other two, five more minutes
const looks = [["en", 1440, false], ["ko", 390, true], ...(process.env.JEOUL_ALL ? [["en", 390, true], ["ko", 1440, false]] : [])];
for (const view of views)
  for (const [lang, width, dark] of looks) {
    const name = `${view}-${lang}-${width}${dark ? "-dark" : ""}`;
    const page = await open(`/?view=${view}&lang=${lang}&cur=${lang === "ko" ? "KRW" : "USD"}`, { width, dark });
    check((await page.title()).includes("jeoul"), `${name}: title`);
    check(await page.locator("html").getAttribute("lang") === lang, `${name}: language`);
    check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), `${name}: wider than the screen`);
    check((await page.locator("main").innerText()).length > 60, `${name}: is empty`);
    check(await page.locator(".fault").count() === 0, `${name}: ${await page.locator(".fault").allInnerTexts()}`);
    if (lang === "ko" && view !== "reports" && view !== "machine") check(/[가-힣]/.test(await page.locator("main").innerText()), `${name}: no Korean`);
    check(await page.evaluate(() => { const n = document.getElementById("nav"); return n.scrollWidth <= n.clientWidth + 1 && [...n.children].every((a) => a.getBoundingClientRect().right <= innerWidth); }), `${name}: the navigation is cut`);
    if (width < 500) check((await page.evaluate(() => [...document.querySelectorAll(".wide.many")].filter((e) => e.scrollWidth > e.clientWidth + 1).length)) === 0, `${name}: a table hides its last columns`);
    // each part has a unique colour in all bars
    const parts = await page.evaluate(() => [...document.querySelectorAll(".key li")].map((li) => [li.firstChild.nextSibling.textContent.trim(), getComputedStyle(li.querySelector("i")).backgroundColor]));
    const colours = new Map(parts);
    check(new Set(colours.values()).size === colours.size && parts.every(([p, c]) => colours.get(p) === c), `${name}: parts share a colour: ${JSON.stringify(parts)}`);
    if (view === "price") {
      check(await page.locator(".ring").count() === 1, `${name}: the pick is not marked`);
      check(await page.locator(".ways li").count() >= 2 && new Set(await page.locator(".ways path").evaluateAll((l) => l.map((p) => p.getAttribute("d")))).size === await page.locator(".ways li").count(), `${name}: ways without marks of their own`);
      check((await page.locator("text.axis").allTextContents()).every((a) => /log scale|로그 눈금/.test(a)), `${name}: log axes unsaid`);
    }
    if (view === "buy") check(/±20 %/.test(await page.locator("p.second").first().innerText()) && /(한전|flat price)/.test(await page.locator("p.second").first().innerText()), `${name}: no range, or a tariff unsaid`);
    if (view === "reports") check(!(await page.locator(".chips .chip").allTextContents()).some((n) => /seed/.test(n)), `${name}: reports without their titles`);
    await accessible(page, name);
    for (const what of untold(await page.evaluate(told))) check(false, `${name}: ${what}`);
    if (shots) await page.screenshot({ path: `${shots}/${name}.png` });
    await page.context().close();
  }

{ // widest screen, and print
  const page = await open("/", { width: 2560 });
  check(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1), "2560: wider than the screen");
  await page.emulateMedia({ media: "print" });
  check(!(await page.locator("nav").isVisible()), "print: the navigation is hidden");
  await page.context().close();
}
{ // numbers equal the command's; the drawer shows the source; state in the URL
  const page = await open("/?model=gpt2-124m&on=2x+rtx-4090&batch=8");
  const api = await page.evaluate(async () => (await fetch("/api/v1/predict", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "gpt2-124m", on: "2x rtx-4090", batch: 8, tokens: 1e10 }) })).json());
  const values = await page.locator(".answer .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)));
  for (const v of [api.step_s.value, api.memory_B.total, api.memory_B.capacity, api.cost_usd.value]) check(values.includes(v), `the answer lacks ${v}: ${values}`);
  await page.locator(".answer .num").first().click();
  await page.waitForSelector("dialog[open] .near li", { timeout: 60000 });
  const drawer = await page.locator("dialog").innerText();
  check(/80 % interval/.test(drawer) && /estimated/.test(drawer) && /compute/.test(drawer), `drawer: ${drawer.slice(0, 200)}`);
  await accessible(page, "drawer");
  if (shots) await page.screenshot({ path: `${shots}/drawer.png` });
  await page.keyboard.press("Escape");
  check(!(await page.locator("dialog[open]").count()), "Escape closes the drawer");
  await page.fill("#q-model", "llama-2-7b");
  await page.press("#q-model", "Tab");
  await settle(page);
  check(new URL(page.url()).searchParams.get("model") === "llama-2-7b", "the address has the model");
  await page.locator("nav a").nth(1).click();
  await settle(page);
  check(new URL(page.url()).searchParams.get("view") === "whatif" && new URL(page.url()).searchParams.get("model") === "llama-2-7b", "views share the question");
  await page.goBack();
  await settle(page);
  check(!new URL(page.url()).searchParams.get("view"), "Back goes back");
  await page.fill("#q-model", "no-such-model");
  await page.press("#q-model", "Tab");
  await page.waitForSelector(".fault");
  check((await page.locator(".fault").innerText()).includes("no-such-model"), "a wrong name is said in one line");
  await page.context().close();
}
{ // a dropped file is sent with the request only
  const page = await open("/");
  await page.setInputFiles(".drop input", { name: "config.json", mimeType: "application/json", buffer: Buffer.from('{"model_type":"llama","hidden_size":1024,"num_hidden_layers":8,"num_attention_heads":8,"intermediate_size":4096,"vocab_size":32000}') });
  await page.waitForFunction(() => document.getElementById("q-model").value === "config.json");
  await settle(page);
  check(await page.locator(".fault").count() === 0, `config.json: ${await page.locator(".fault").allInnerTexts()}`);
  await page.context().close();
}
{ // advice is clickable, a baseline remains as a ghost, sliders respond in time
  const page = await open("/?view=whatif&model=gpt-305m&on=8x+rtx-3090&batch=4");
  const chip = page.locator(".advice button.chip").first();
  const before = page.url();
  await chip.click();
  await settle(page);
  check(page.url() !== before, "advice changes the question");
  check(await page.locator(".part.ghost").count() > 0, "the baseline stays as a ghost");
  const times = await page.evaluate(async () => {
    const slider = document.getElementById("s-batch"), list = [];
    for (let i = 0; i < 60; i++) {
      const drawn = new Promise((done) => document.addEventListener("redrawn", done, { once: true })), begin = performance.now();
      slider.value = i % 10;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await drawn;
      list.push(performance.now() - begin);
    }
    return list.sort((a, b) => a - b);
  });
  console.log(`slider to redrawn: median ${times[30].toFixed(1)} ms, p95 ${times[56].toFixed(1)} ms`);
  // times are checked only with a given limit, on a quiet machine
  if (process.env.JEOUL_REDRAW_MS) check(times[56] <= Number(process.env.JEOUL_REDRAW_MS), `slider to redrawn: p95 ${times[56].toFixed(1)} ms`);
  check(times.length === 60 && times.every((ms) => ms > 0), `every move of the slider is redrawn: ${times.length}`);
  await page.context().close();
}
{ // more GPUs than per host become several hosts; token counts parse as in the command; no undefined in formulas
  const page = await open("/?view=whatif");
  await page.evaluate(() => { const s = document.getElementById("s-gpus"); s.value = 5; s.dispatchEvent(new Event("input", { bubbles: true })); });
  await settle(page);
  check(await page.inputValue("#q-on") === "4x(8x h100-sxm5)" && await page.locator(".fault").count() === 0, `32 GPUs: ${await page.inputValue("#q-on")} ${await page.locator(".fault").allInnerTexts()}`);
  await page.context().close();
  for (const [query, wanted] of [["/?lang=ko&tokens=" + encodeURIComponent("1조"), /1조/], ["/?tokens=abc", /abc/], ["/?model=config.json&lang=ko", /다시 끌어다/]]) {
    const asked = await open(query);
    check(wanted.test(await asked.locator("section.result").innerText()), `${query}: ${await asked.locator("section.result").innerText()}`);
    await asked.context().close();
  }
  const buy = await open("/?view=buy&lang=ko&cur=KRW");
  const sent = buy.waitForRequest((r) => r.url().endsWith("/api/v1/cost"));
  await buy.locator("#f-tariff").selectOption("kepco-general");
  check(/kepco-general/.test((await sent).postData()), "the tariff that is named is the one that is asked for");
  await settle(buy);
  await buy.locator(".answer .num").first().click();
  check(!/undefined|NaN/.test(await buy.locator("dialog").innerText()), `drawer: ${await buy.locator("dialog").innerText()}`);
  await buy.context().close();
  const narrow = await open("/?view=scaling&lang=en", { width: 390 });
  check(await narrow.evaluate(() => [...document.querySelectorAll(".wide, .tablebox")].every((e) => e.scrollWidth <= e.clientWidth + 1)), "scaling at 390 px is cut");
  await narrow.context().close();
}
{ // size of the first page, and time to its answer: by the page's clock from the start of the navigation, and by the driver's
  const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  const own = [], driver = [], empty = [];
  let bytes = 0;
  for (let i = 0; i < 7; i++)
    for (const [path, wanted] of [["/healthz", "pre"], ["/", ".answer"]]) {
      const context = await browser.newContext(), page = await context.newPage(), session = await context.newCDPSession(page);
      await page.addInitScript((w) => { new MutationObserver((_, o) => { if (!document.querySelector(w)) return; window.stands = performance.now(); o.disconnect(); }).observe(document, { childList: true, subtree: true }); }, wanted);
      await session.send("Network.enable");
      if (path === "/") { bytes = 0; session.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; }); }
      const begin = Date.now();
      await page.goto(base + path);
      await page.waitForSelector(wanted);
      (path === "/" ? driver : empty).push(Date.now() - begin);
      await page.waitForTimeout(300);
      if (path === "/") own.push(await page.evaluate(() => window.stands));
      await context.close();
    }
  console.log(`first page: ${Math.round(bytes / 1000)} kB on the wire, answer after ${middle(own).toFixed(0)} ms, seen by the driver after ${middle(driver)} ms (an empty page: ${middle(empty)} ms); medians of 7`);
  check(bytes > 10000 && bytes <= 175000, `first page: ${bytes} bytes`);
  check(own.every((ms) => ms > 0), `when the answer stood there: ${own}`);
}
{ // overload: stated first, with the sustainable rate; chart labels do not overlap
  for (const [lang, width, wanted, on] of [["en", 1440, /^Overloaded: it holds at most \d+\/s\. At 256\/s/], ["ko", 390, /^과부하입니다\. 초당 최대 \d+건/], ["en", 390, /^Overloaded/, "rtx-4090"]]) {
    const page = await open(`/?view=serve&rate=256&lang=${lang}&on=${on ?? "2x+h100-sxm5"}`, { width });
    check(wanted.test((await page.locator(".answer").innerText()).replaceAll("\n", "")), `overload ${lang}: ${await page.locator(".answer").innerText()}`);
    const boxes = await page.evaluate(() => [...document.querySelectorAll("figure:first-child svg .strong, figure:first-child svg .name")].map((e) => { const b = e.getBBox(); return [e.textContent, b.x, b.y, b.x + b.width, b.y + b.height]; }));
    check(!/ 1 GPUs/.test(await page.locator("main").innerText()), `overload ${lang}: one GPU is one`);
    check(boxes.length === 6, `overload ${lang}: ${boxes.length} names in the chart`);
    for (const a of boxes) for (const b of boxes) check(a === b || a[3] < b[1] || b[3] < a[1] || a[4] < b[2] + 3 || b[4] < a[2] + 3, `overload ${lang}: '${a[0]}' lies on '${b[0]}'`);
    await page.context().close();
  }
  const missed = await open("/?view=serve&rate=1&ttft=0.001");
  check(/^The targets are missed/.test(await missed.locator(".answer").innerText()), `targets: ${await missed.locator(".answer").innerText()}`);
  await missed.context().close();
  const long = await open("/?view=serve&model=llama-2-7b&prompt=9000&lang=ko");
  check(/9,256토큰으로 이 모델의 컨텍스트 길이 4,096토큰보다/.test(await long.locator("section.result").innerText()), `context: ${await long.locator("section.result").innerText()}`);
  await long.context().close();
}
{ // Ask and Price agree: possible memory shortage is stated, and a click applies Price's setting; host costs are stated
  const page = await open("/?on=8x+h100-sxm5");
  check(/^To be sure of the memory/.test(await page.locator(".result .repair").first().innerText()), `memory: ${await page.locator(".result").innerText()}`);
  await page.locator(".result .repair .chip").first().click();
  await settle(page);
  check(await page.inputValue("#f-recompute") === "selective" && !/To be sure/.test(await page.locator(".result").innerText()), `sure: ${page.url()} ${await page.locator(".result").innerText()}`);
  const run = Number(await page.locator(".answer .num").nth(1).getAttribute("data-value"));
  const pick = await page.evaluate(async () => (await (await fetch("/api/v1/recommend", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "llama-3-8b", tokens: 1e10, only: "h100-sxm5", how: "rent", "max-gpus": 8, "per-machine": 8 }) })).json()).pick);
  check(Math.abs(run / pick.run_s.value - 1) < 1e-6 && pick.caveats.some((c) => c.key === "room"), `Ask ${run} s, Price ${pick.run_s.value} s: ${JSON.stringify(pick.caveats)}`);
  await page.goBack();
  await settle(page);
  check(await page.inputValue("#f-recompute") === "", "Back takes the click back");
  await page.context().close();
  for (const [lang, wanted] of [["en", /Rent is \$[\d.]+ an hour a GPU \(.+: hosts with a network between them\), a list price × 16 GPUs/], ["ko", /노드 사이 네트워크가 있는 상품\)이고, 정가 × GPU 16장/]]) {
    const two = await open(`/?on=2x(8x+h100-sxm5)&lang=${lang}`);
    check(wanted.test(await two.locator("p.second").innerText()), `two hosts ${lang}: ${await two.locator("p.second").innerText()}`);
    await two.context().close();
  }
}
{ // "8x h100" offers completions; Back and Forward move through questions, language and currency stay
  const page = await open("/?on=rtx-4090");
  await page.waitForTimeout(400);
  await page.fill("#q-on", "8x h100");
  const offered = await page.locator("#l-systems option").evaluateAll((l) => l.map((o) => o.value));
  check(offered.includes("8x h100-sxm5") && offered.includes("8x h100-pcie") && !offered.includes("8x a100-sxm4-80gb"), `offered for 8x h100: ${offered.filter((o) => o.startsWith("8x"))}`);
  await page.fill("#q-on", "8x h100-sxm5");
  await page.press("#q-on", "Tab");
  await settle(page);
  await page.locator("nav a").nth(4).click();
  await settle(page);
  await page.click("#lang");
  await settle(page);
  const at = async () => [await page.evaluate(() => document.querySelector("main").dataset.ready), new URL(page.url()).searchParams.get("on"), await page.locator("html").getAttribute("lang"), new URL(page.url()).searchParams.get("lang")].join(" ");
  for (const [go, wanted] of [["goBack", "ask 8x h100-sxm5 ko ko"], ["goBack", "ask rtx-4090 ko ko"], ["goForward", "ask 8x h100-sxm5 ko ko"], ["goForward", "price 8x h100-sxm5 ko ko"]]) {
    await page[go]();
    await settle(page);
    const now = (await at()).replace("  ", " 8x h100-sxm5 "); // default values are not in the URL
    check(now === wanted, `${go}: ${now}, not ${wanted}`);
  }
  await page.context().close();
}
{ // a network has no tokens: the page's default causes no error, and is not in the command to copy
  for (const view of ["ask", "whatif"]) {
    const page = await open(`/?view=${view}&model=vit-b/16&on=rtx-4090&lang=ko`);
    check(await page.locator(".answer .num").count() > 0 && await page.locator(".fault").count() === 0, `${view}: no answer for a network: ${await page.locator(".result").textContent()}`);
    if (view === "ask") check(/초당 샘플 [\d,.]+/.test(await page.locator(".second").textContent()) && !/–토큰/.test(await page.locator(".second").textContent()), `a network's rate: ${await page.locator(".second").textContent()}`);
    await page.context().close();
  }
  const page = await open("/?model=vit-b/16&on=rtx-4090&tokens=5e9");
  check(/tokens to train on is for language models/.test(await page.locator(".fault").textContent()), "given tokens are refused for a network: " + await page.locator(".fault").textContent());
  await page.context().close();
}
{ // progress is shown, also to screen readers; a long answer is computed once
  const asked = { whatif: "predict", scaling: "predict", price: "recommend", buy: "cost", serve: "serve", trust: "validate" };
  for (const [lang, words] of [["en", "weighing…"], ["ko", "계산 중…"]]) for (const [view, command] of Object.entries(asked)) {
    const context = await browser.newContext({ locale: "en-US" }), page = await context.newPage();
    let go;
    const held = new Promise((done) => { go = done; });
    await page.route(`**/api/v1/${command}`, async (route) => { await held; await route.continue(); });
    await page.goto(`${base}/?view=${view}&lang=${lang}`);
    await page.waitForFunction((w) => document.getElementById("say").textContent === w, words);
    check(await page.evaluate(() => getComputedStyle(document.querySelector(".result.waiting"), "::after").content.slice(1, -1)) === words, `${view} ${lang}: nothing is seen while it waits`);
    go();
    await settle(page);
    check(await page.locator(".answer .num").count() > 0, `${view} ${lang}: no answer`);
    await context.close();
  }
  const page = await open("/");
  const times = await page.evaluate(async () => { const list = []; for (let i = 0; i < 2; i++) { const begin = performance.now(); await (await fetch("/api/v1/validate", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ set: "infer_llm", worst: 100000 }) })).json(); list.push(performance.now() - begin); } return list; });
  console.log(`a long answer: ${times.map((ms) => ms.toFixed(0)).join(" ms, then ")} ms`);
  check(times[1] < times[0] / 3, `a long answer is made again: ${times}`);
  await page.context().close();
}
{ // errors of a dropped file are in the user's language; an interval hidden by rounding is not shown
  const page = await open("/?lang=ko");
  await page.setInputFiles(".drop input", { name: "config.json", mimeType: "application/json", buffer: Buffer.from("hello") });
  await page.waitForSelector(".fault");
  check(!/[a-z]{4,}/.test((await page.locator(".fault").innerText()).replaceAll("config.json", "").replaceAll("JSON", "")), `a bad file in Korean: ${await page.locator(".fault").innerText()}`);
  await page.context().close();
}
{
  const context = await browser.newContext({ locale: "en-US" }), page = await context.newPage();
  await page.route("**/api/v1/predict", async (route) => {
    const response = await route.fetch();
    if (!response.headers()["content-type"].includes("json")) return route.fulfill({ response }); // charts of the answer
    const answer = await response.json(), near = (e) => ({ value: e.value, lo: e.value * 0.9999, hi: e.value * 1.0001 });
    await route.fulfill({ json: { ...answer, step_s: near(answer.step_s), cost_usd: near(answer.cost_usd) } });
  });
  await page.goto(`${base}/?lang=ko&cur=KRW`);
  await settle(page);
  check(await page.locator(".answer .spread").count() === 1, `intervals whose ends are written alike: ${await page.locator(".answer").innerText()}`);
  await context.close();
}
{ // keyboard only
  const page = await open("/");
  for (let i = 0; i < 40 && !(await page.evaluate(() => document.activeElement.classList.contains("num"))); i++) await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  check(await page.locator("dialog[open]").count() === 1, "a number opens by Enter");
  await page.keyboard.press("Escape");
  await page.keyboard.press("Alt+3");
  await settle(page);
  check(page.url().includes("view=scaling"), "Alt+3 is the third view");
  await page.context().close();
}
await browser.close();
console.log(failed ? `${failed} failed` : "the page is fine");
process.exit(failed ? 1 : 0);
