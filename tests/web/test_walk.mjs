// A walk without aim over all views: links, chips, fields, sliders, points, keys, Back, both languages, wide and narrow. No error in the console, no rejection that
// nobody took, an answer or a reason with a click at every rest. Usage: test_walk.mjs BASE; JEOUL_WALK=ACTIONS (300), JEOUL_SEED=N (1)
import { browser, base, check, done, views } from "./chromium.mjs";
const n = Number(process.env.JEOUL_WALK ?? 300), seed = Number(process.env.JEOUL_SEED ?? 1);
let state = seed >>> 0;
const random = () => { state = (state + 0x6d2b79f5) >>> 0; let t = state; t = Math.imul(t ^ (t >>> 15), t | 1); t ^= t + Math.imul(t ^ (t >>> 7), t | 61); return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
const of = (list) => list[Math.floor(random() * list.length)];
const typed = ["", "8", "128", "1e9", "llama-3-70b", "h100-sxm5", "2x(8x h100-sxm5)", "rtx-4090", "abc", "3 d", "500 USD", "seoul", "0", "-1", "gpt2-124m", "<b>", "8x b200", "resnet-50"];
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, locale: "en-US", acceptDownloads: true }), page = await context.newPage();
const trail = [];
const wrong = (what) => check(false, `${what}\n  after: ${trail.slice(-6).join(" → ")}`);
page.on("console", (m) => { if (m.type() === "error" && !/status of 4\d\d/.test(m.text())) wrong(`console: ${m.text()}`); });
page.on("pageerror", (e) => wrong(`page error: ${e.message}`));
page.on("dialog", (d) => d.dismiss().catch(() => {}));
const rest = () => page.waitForFunction(() => document.querySelector("main")?.dataset.ready && !document.querySelector(".waiting"), null, { timeout: 60000 });
await page.addInitScript(() => { window.print = () => {}; });
await page.goto(base);
await rest();
const actions = {
  view: async () => { const v = of(views); await page.locator("nav a").nth(views.indexOf(v)).click(); return v; },
  click: async () => {
    const list = page.locator("main button:visible, main summary:visible, main select:visible, header button:visible, dialog[open] button:visible"), all = await list.count();
    if (!all) return "nothing to click";
    const one = list.nth(Math.floor(random() * all)), name = await one.evaluate((e) => e.textContent.slice(0, 30), null, { timeout: 1000 });
    await one.click({ timeout: 1500, force: true });
    return name;
  },
  type: async () => {
    const list = page.locator("main input:visible:not([type=range]):not([type=file])"), all = await list.count();
    if (!all) return "no field";
    const one = list.nth(Math.floor(random() * all)), text = of(typed);
    if ((await one.getAttribute("type")) === "number" && !/^-?[\d.e]*$/.test(text)) return "no number";
    await one.fill(text, { timeout: 1500 });
    await one.press("Enter");
    return text;
  },
  slide: async () => { const k = random(); return page.evaluate((x) => { const l = [...document.querySelectorAll("main input[type=range]")]; if (!l.length) return "no slider"; const s = l[Math.floor(x * l.length)]; s.value = Math.floor(x * 997) % (Number(s.max) + 1); s.dispatchEvent(new Event("input", { bubbles: true })); return s.id; }, k); },
  choose: async () => { const k = random(); return page.evaluate((x) => { const l = [...document.querySelectorAll("main select")]; if (!l.length) return "no choice"; const s = l[Math.floor(x * l.length)]; s.selectedIndex = Math.floor(x * 997) % s.options.length; s.dispatchEvent(new Event("change", { bubbles: true })); return `${s.id} ${s.value}`; }, k); },
  point: async () => { const k = random(); return page.evaluate((x) => { const l = [...document.querySelectorAll("main .dot[tabindex]")]; if (!l.length) return "no point"; l[Math.floor(x * l.length)].dispatchEvent(new MouseEvent("click", { bubbles: true })); return "a point"; }, k); },
  key: async () => { const key = of(["Tab", "Escape", "Enter", "ArrowRight", "ArrowLeft", "Alt+1", "Alt+4", "Alt+9", "Shift+Tab"]); await page.keyboard.press(key); return key; },
  back: async () => { await page.evaluate(() => history.back()); await page.waitForTimeout(50); return page.url().slice(base.length, base.length + 40); },
  size: async () => { const width = of([390, 1440]); await page.setViewportSize({ width, height: 844 }); return String(width); },
};
const weighted = ["view", "view", "click", "click", "click", "click", "type", "type", "slide", "slide", "choose", "point", "key", "key", "back", "size"];
for (let i = 0; i < n; i++) {
  const name = of(weighted);
  if (await page.locator("dialog[open]").count().catch(() => 0)) await page.keyboard.press("Escape");
  try { trail.push(`${name} ${await actions[name]()}`); } catch (e) { trail.push(`${name} (${e.message.split("\n")[0].slice(0, 40)})`); } // what went away meanwhile cannot be clicked
  if (!page.url().startsWith(base)) await page.goto(base);
  if (i % 10 === 9) {
    try { await rest(); } catch { wrong("it waits for ever"); }
    const bare = await page.evaluate(() => [...document.querySelectorAll(".fault")].filter((f) => !f.querySelector("button, .chip") || /undefined|NaN|\[object|Cannot read|is not a function/.test(f.textContent)).map((f) => f.textContent));
    if (bare.length) wrong(`an error without a repair: ${bare}`);
    check((await page.locator("main h1").count()) === 1, `${page.url()}: ${await page.locator("main h1").count()} headings\n  after: ${trail.slice(-6).join(" → ")}`);
  }
}
await done(`a walk of ${n} actions, seed ${seed}`);
