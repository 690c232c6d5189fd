// Random actions over all views, in Chromium or Firefox: links, chips, fields, sliders, points, keys, Back, both languages, widths and themes.
// No console errors, no unhandled rejections; at rest, an answer or a reason with a remedy.
// Usage: test_walk.mjs BASE [chromium|firefox]; JEOUL_WALK=ACTIONS (300), JEOUL_SEED=N (1), JEOUL_WALK_S=SECONDS after which it ends
import { createRequire } from "node:module";
const [base, name = "chromium"] = process.argv.slice(2);
const n = Number(process.env.JEOUL_WALK ?? 300), seed = Number(process.env.JEOUL_SEED ?? 1), end_ms = Date.now() + 1000 * Number(process.env.JEOUL_WALK_S ?? 550);
const views = ["ask", "whatif", "scaling", "compare", "price", "buy", "serve", "goodput", "trust", "catalogue", "machine", "reports", "audit"];
let state = seed >>> 0;
const random = () => { state = (state + 0x6d2b79f5) >>> 0; let t = state; t = Math.imul(t ^ (t >>> 15), t | 1); t ^= t + Math.imul(t ^ (t >>> 7), t | 61); return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
const of = (list) => list[Math.floor(random() * list.length)];
const trail = [], faults = new Map(), seen = new Set();
const wrong = (what) => { const key = what.slice(0, 160); if (!faults.has(key)) console.log(`FAILED: ${what}\n  after: ${trail.slice(-6).join(" → ")}`); faults.set(key, (faults.get(key) ?? 0) + 1); };

// common interface of both drivers
const drivers = {
  chromium: async () => {
    const at = process.env.PLAYWRIGHT_AT, { chromium } = createRequire(at.endsWith("playwright-core") ? `${at}/package.json` : `${at}/node_modules/x.js`)(at.endsWith("playwright-core") ? at : "playwright-core");
    const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] }), page = await (await browser.newContext({ locale: "en-US", acceptDownloads: true })).newPage();
    return { browser, page, first: (f) => page.addInitScript(f), size: (width, height) => page.setViewportSize({ width, height }), scheme: (dark) => page.emulateMedia({ colorScheme: dark ? "dark" : "light" }), is_error: (m) => m.type() === "error" };
  },
  firefox: async () => {
    const browser = await createRequire(process.env.PUPPETEER_AT + "/")("puppeteer-core").launch({ browser: "firefox", executablePath: process.env.FIREFOX, headless: true, extraPrefsFirefox: { "intl.accept_languages": "en-US", "print.always_print_silent": true } }), page = await browser.newPage();
    return { browser, page, first: (f) => page.evaluateOnNewDocument(f), size: (width, height) => page.setViewport({ width, height }), scheme: async () => {}, is_error: (m) => m.type() === "error" };
  },
};
const { browser, page, first, size, scheme, is_error } = await drivers[name]();
page.on("console", (m) => { if (is_error(m) && !/status of 4\d\d/.test(m.text())) wrong(`console: ${m.text()}`); });
page.on("pageerror", (e) => wrong(`page error: ${e.message}`));
page.on("dialog", (d) => d.dismiss().catch(() => {}));
await first(() => {
  window.print = () => {};
  window.rejected = [];
  addEventListener("unhandledrejection", (e) => window.rejected.push(String(e.reason?.stack ?? e.reason)));
});
const pending = new Set(); // running requests: a slow server is no hanging page
page.on("request", (r) => { if (/\/api\/v1\/(?!live)/.test(r.url())) pending.add(r); });
for (const end of ["requestfinished", "requestfailed"]) page.on(end, (r) => pending.delete(r));
// evaluated by the driver: waiting inside the page compiles text, which its CSP forbids
async function rest() {
  for (let last = Date.now() + 30000, most = Date.now() + 300000; Date.now() < Math.min(last, most); await new Promise((go) => setTimeout(go, 30))) {
    if (await page.evaluate(() => Boolean(document.querySelector("main")?.dataset.ready) && !document.querySelector(".waiting")).catch(() => false)) return;
    if (pending.size) last = Date.now() + 30000;
  }
  wrong(`it waits for ever: ${await page.evaluate(() => `${location.search} ${[...document.querySelectorAll(".waiting")].map((e) => e.className)}`).catch((e) => e.message)}`);
}
// Position of a random visible element, scrolled into view.
const place = (query) => page.evaluate(([q, x]) => {
  const all = [...document.querySelectorAll(q)].filter((e) => e.checkVisibility() && !e.disabled);
  if (!all.length) return null;
  const e = all[Math.floor(x * all.length)];
  e.scrollIntoView({ block: "center" });
  const r = e.getBoundingClientRect();
  return { x: r.x + r.width / 2, y: r.y + r.height / 2, name: (e.getAttribute("aria-label") ?? (e.textContent.trim() || e.id)).trim().slice(0, 30) };
}, [query, random()]);
const clicked = async (query) => { const at = await place(query); if (!at) return "nothing"; await page.mouse.click(at.x, at.y); return at.name; };
const typed = ["", "8", "128", "1e9", "llama-3-70b", "h100-sxm5", "2x(8x h100-sxm5)", "rtx-4090", "abc", "3 d", "500 USD", "seoul", "0", "-1", "gpt2-124m", "<b>", "8x b200", "resnet-50", "16384x h100", "1조", "9".repeat(40)];
const inside = { // actions by the page itself, without driver support
  type: ([x, text]) => { const l = [...document.querySelectorAll("main input:not([type=range]):not([type=file]), main textarea")].filter((e) => e.checkVisibility() && !e.readOnly); if (!l.length) return "no field"; const e = l[Math.floor(x * l.length)]; if (e.type === "number" && !/^-?[\d.e]*$/.test(text)) return "no number"; e.focus(); e.value = text; for (const what of ["input", "change"]) e.dispatchEvent(new Event(what, { bubbles: true })); return `${e.id} ${text}`; },
  slide: ([x]) => { const l = [...document.querySelectorAll("main input[type=range]")]; if (!l.length) return "no slider"; const s = l[Math.floor(x * l.length)]; s.value = Math.floor(x * 997) % (Number(s.max) + 1); s.dispatchEvent(new Event("input", { bubbles: true })); return `${s.id} ${s.value}`; },
  choose: ([x]) => { const l = [...document.querySelectorAll("main select")].filter((e) => e.checkVisibility()); if (!l.length) return "no choice"; const s = l[Math.floor(x * l.length)]; s.selectedIndex = Math.floor(x * 997) % s.options.length; s.dispatchEvent(new Event("change", { bubbles: true })); return `${s.id} ${s.value}`; },
  point: ([x]) => { const l = [...document.querySelectorAll("main .dot[tabindex]")]; if (!l.length) return "no point"; l[Math.floor(x * l.length)].dispatchEvent(new MouseEvent("click", { bubbles: true })); return "a point"; },
  back: ([x]) => { if (x < 0.7) history.back(); else history.forward(); return location.search.slice(0, 40); },
};
const actions = {
  view: async () => { const at = Math.floor(random() * views.length); return page.evaluate((k) => { const a = document.querySelectorAll("nav a")[k]; a?.click(); return a?.textContent; }, at); },
  click: () => clicked("main button, main summary, main a[href^='?'], header button, dialog[open] button, main .num"),
  type: async () => { const said = await page.evaluate(inside.type, [random(), of(typed)]); await page.keyboard.press("Enter"); return said; },
  slide: () => page.evaluate(inside.slide, [random()]),
  choose: () => page.evaluate(inside.choose, [random()]),
  point: () => page.evaluate(inside.point, [random()]),
  back: () => page.evaluate(inside.back, [random()]),
  key: async () => { const key = of(["Tab", "Escape", "Enter", "ArrowRight", "ArrowLeft", "Alt+1", "Alt+4", "Alt+9", "Shift+Tab"]).split("+"); for (const k of key.slice(0, -1)) await page.keyboard.down(k); await page.keyboard.press(key.at(-1).replace(/^\d$/, "Digit$&")); for (const k of key.slice(0, -1)) await page.keyboard.up(k); return key.join("+"); },
  size: async () => { const width = of([390, 1440]); await size(width, 844); return String(width); },
  scheme: async () => { const dark = random() < 0.5; await scheme(dark); return dark ? "dark" : "light"; },
};
const weighted = ["view", "view", "click", "click", "click", "click", "click", "type", "type", "slide", "slide", "choose", "point", "key", "key", "back", "size", "scheme"];
await size(1440, 900);
await page.goto(base);
await rest();
let done = 0;
for (; done < n && Date.now() < end_ms; done++) {
  const what = of(weighted);
  // removed elements cannot be clicked
  try { trail.push(`${what} ${await actions[what]()}`); } catch (e) { trail.push(`${what} (${e.message.split("\n")[0].slice(0, 60)})`); }
  if (!page.url().startsWith(base) || new URL(page.url()).pathname !== "/") await page.goto(base); // a link led out of the page
  if (done % 10 < 9) continue;
  await rest();
  const at = await page.evaluate(() => ({
    view: document.querySelector("main")?.dataset.ready, heads: document.querySelectorAll("main h1").length, rejected: window.rejected?.splice(0) ?? [], wide: document.documentElement.scrollWidth - innerWidth,
    bare: [...document.querySelectorAll(".fault")].filter((f) => !f.querySelector("button, .chip") || /undefined|NaN|\[object|Cannot read|is not a function|is undefined|is null/.test(f.textContent)).map((f) => f.textContent),
    odd: [...document.querySelectorAll("main .answer, main td, main figcaption")].map((e) => e.textContent).filter((t) => /\bundefined\b|\bNaN\b|\[object /.test(t)).slice(0, 2),
  })).catch(() => null);
  if (!at) continue; // it was navigating
  seen.add(at.view);
  const where = page.url().slice(base.length, base.length + 200);
  for (const r of at.rejected) wrong(`${at.view}: a rejection that nobody took: ${r}`);
  for (const b of at.bare) wrong(`${at.view}: an error without a repair: ${b} ${where}`);
  for (const o of at.odd) wrong(`${at.view}: ${o} ${where}`);
  if (at.heads !== 1) wrong(`${at.view}: ${at.heads} headings ${where}`);
  if (at.wide > 1) wrong(`${at.view}: ${at.wide} px wider than the screen ${where}`);
}
const version = await browser.version();
await browser.close();
const missing = views.filter((v) => !seen.has(v));
console.log(`${version}: ${done} actions, seed ${seed}, ${seen.size} of ${views.length} views${missing.length ? ` (not ${missing})` : ""}, ${faults.size} faults`);
for (const [what, times] of faults) console.log(`${times} ×`, what);
process.exit(faults.size ? 1 : 0);
