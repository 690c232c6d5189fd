// Every drawer of every view, in both languages: exact value, interval, text and sum must agree with the figure.
// Usage: test_drawers.mjs BASE
import { base, check, done, open, views } from "./chromium.mjs";

const sizes = { PiB: 2 ** 50, TiB: 2 ** 40, GiB: 2 ** 30, MiB: 2 ** 20, KiB: 2 ** 10, B: 1, "TB/s": 1e12, "GB/s": 1e9, "MB/s": 1e6, "kB/s": 1e3, "B/s": 1, "PFLOP/s": 1e15, "TFLOP/s": 1e12, "GFLOP/s": 1e9,
  y: 31536000, months: 2628000, 개월: 2628000, d: 86400, h: 3600, min: 60, s: 1, ms: 1e-3, "µs": 1e-6, 년: 31536000, 일: 86400, 시간: 3600, 분: 60, 초: 1, MW: 1e6, kW: 1e3, W: 1, GWh: 3.6e12, MWh: 3.6e9, kWh: 3.6e6, kJ: 1e3, J: 1,
  "%": 0.01, "×": 1, trillion: 1e12, billion: 1e9, million: 1e6, 조: 1e12, 억: 1e8, 만: 1e4, "억 원": 1e8, "만 원": 1e4, 원: 1, M: 1e6, "": 1 };
// "37 h" -> 133200; won in dollars, like the values. NaN: not a quantity.
function quantity(text, won) {
  const [, sign, figure, unit] = /^([$₩]?)(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)\s*(.*)$/.exec(text.trim()) ?? [];
  if (figure === undefined || !(unit in sizes)) return NaN;
  return (Number(figure.replaceAll(",", "")) * sizes[unit]) / (sign === "₩" || unit.endsWith("원") ? won : 1);
}
const near = (a, b, within) => Math.abs(a - b) <= within * Math.max(Math.abs(a), Math.abs(b));
// All numbers of the response, also per hour and day.
function numbersOf(answers) {
  const all = new Set(), walk = (v) => { if (typeof v === "number") for (const by of [1, 3600, 86400]) all.add((v * by).toPrecision(9)); else if (v && typeof v === "object") Object.values(v).forEach(walk); };
  answers.forEach((a) => walk(a.body));
  return all;
}
const derived = /^구매$|^임대$|^bought$|^rented$|keys and values|room for more|engine and reserve|KV 캐시|엔진과 여유분|speed-up|배속|overload|과부하|p50|p90|inside|구간 안|tokens to train on|학습할 토큰|^a million tokens$|^토큰 100만 개$|×$/; // ratios, counts and differences computed by the page

async function drawers(view, lang, more = "") {
  const page = await open(`/?view=${view}&lang=${lang}&cur=${lang === "ko" ? "KRW" : "USD"}${more}`), name = `${view}${more}-${lang}`;
  const won = page.answers.find((a) => a.url.endsWith("/hello"))?.body.krw_per_usd ?? 1, known = numbersOf(page.answers);
  // opened and closed within the page: a drawer loads neighbours only if it stays open
  const seen = await page.evaluate(() => {
    const dialog = document.getElementById("drawer"), list = [];
    for (const b of document.querySelectorAll("main .num, main .dot[role=button]")) {
      b.dispatchEvent(new MouseEvent("click", { bubbles: true }));
      if (!dialog.open) continue;
      const row = (key) => [...dialog.querySelectorAll("dt")].find((d) => d.textContent === key)?.nextSibling;
      const ko = document.documentElement.lang === "ko", value = row(ko ? "값" : "Value"), range = row(ko ? "80 % 구간" : "80 % interval");
      list.push({ value: b.dataset.value, label: dialog.querySelector("h2").textContent, shown: value.firstChild.textContent, exact: value.querySelector("small").textContent, ends: range?.querySelector("small").textContent ?? "", formula: dialog.querySelector(".formula")?.textContent ?? "" });
      dialog.close();
      if (list.length > 400) break;
    }
    return list;
  });
  for (const d of seen) {
    const of = `${name}: '${d.label}' of ${d.value}`, value = Number(d.value), exact = quantity(d.exact.replace(/^ = /, "").replace(/ USD$/, ""), won);
    check(Number.isFinite(value) && near(exact, value, 1e-5), `${of} says '${d.shown}${d.exact}'`);
    const shown = quantity(d.shown, won);
    check(near(shown, value, 0.052), `${of} is shown as '${d.shown}'`);
    if (d.ends) { const [lo, hi] = d.ends.replace(/^ = /, "").split(" … ").map((e) => quantity(e.replace(/ USD$/, ""), won)); check(lo <= exact * 1.00001 && exact <= hi * 1.00001, `${of} lies outside of '${d.ends}'`); }
    const terms = d.formula.split(" + ").map((p) => quantity(/[\d.,]+[^\d]*$/.exec(p)?.[0] ?? "", won));
    if (terms.length > 1 && terms.every(Number.isFinite)) check(near(terms.reduce((a, b) => a + b), value, 0.05), `${of}: '${d.formula}' is another sum`);
    check(known.has(value.toPrecision(9)) || derived.test(d.label) || derived.test(d.shown), `${of} (${d.shown}) was not answered`);
  }
  console.log(`${name}: ${seen.length} drawers`);
  await page.context().close();
  return seen.length;
}
for (const lang of ["en", "ko"]) {
  const counts = {};
  for (const view of views) counts[view] = await drawers(view, lang);
  for (const view of ["ask", "whatif", "scaling", "price", "buy", "serve", "trust"]) check(counts[view] > 0, `${view}-${lang}: no drawer`);
  await drawers("ask", lang, "&model=llama-3-70b&on=8x(8x+h100-sxm5)");
  await drawers("ask", lang, "&model=gpt2-124m&on=rtx-4090&tokens=1000000");
  await drawers("serve", lang, "&rate=256");
}
await done(`drawers of ${base}`);
