// "This machine" with a store of 10,000 results: the history is drawn, no task blocks the page for more than 200 ms, in-place and out-of-place results
// are two histories. Usage: test_machine.mjs BASE, on a server whose store holds what records.py makes.
import { check, done, open, shots } from "./chromium.mjs";
import { told, untold } from "./measure.mjs";

const limit_ms = Number(process.env.JEOUL_TASK_MS ?? 200);
const watch = (page) => page.addInitScript(() => { window.tasks = []; new PerformanceObserver((l) => window.tasks.push(...l.getEntries().map((e) => e.duration))).observe({ type: "longtask", buffered: true }); });
for (const [lang, width, words] of [["en", 1440, ["in place", "out of place"]], ["ko", 390, ["in-place", "out-of-place"]]]) {
  const page = await open(`/?view=machine&lang=${lang}`, { width, before: watch, wait: false }), name = `machine-${lang}`;
  try { await page.waitForFunction(() => document.querySelector("main")?.dataset.ready && !document.querySelector(".waiting"), null, { timeout: 30000 }); } catch { check(false, `${name}: still looking after 30 s`); continue; }
  await page.waitForTimeout(500);
  const seen = await page.evaluate(() => ({
    tasks: window.tasks, charts: [...document.querySelectorAll("figure.past")].map((f) => ({ name: f.querySelector("figcaption").textContent, points: f.querySelectorAll(".dot.measured").length, marks: f.querySelectorAll("svg .tick").length,
      outside: [...f.querySelectorAll(".dot")].filter((d) => { const b = d.getBBox(), w = f.querySelector("svg").viewBox.baseVal; return b.x < -1 || b.y < -1 || b.x + b.width > w.width + 1 || b.y + b.height > w.height + 1; }).length,
      spread: (() => { const ys = [...f.querySelectorAll(".dot.measured")].map((d) => Number(d.dataset.value)); return Math.max(...ys) / Math.min(...ys); })() })) }));
  const longest = Math.max(0, ...seen.tasks);
  console.log(`${name}: ${seen.charts.length} histories, longest task ${longest.toFixed(0)} ms`);
  check(longest <= limit_ms, `${name}: a task of ${longest.toFixed(0)} ms`);
  check(seen.charts.length === 12, `${name}: ${seen.charts.length} histories`);
  check(new Set(seen.charts.map((c) => c.name)).size === seen.charts.length, `${name}: two histories of one name: ${seen.charts.map((c) => c.name)}`);
  for (const c of seen.charts) {
    check(words.some((w) => c.name.endsWith(w)) && !/[a-z]_[a-zA-Z]/.test(c.name), `${name}: '${c.name}'`);
    check(c.points > 20 && c.points <= 200 && c.outside === 0, `${name}: ${c.name}: ${c.points} points, ${c.outside} outside`);
    check(c.spread < 1.08, `${name}: ${c.name}: in-place and out-of-place results in one history (${c.spread.toFixed(2)})`);
    check(c.marks >= 4 && c.marks < 20, `${name}: ${c.name}: ${c.marks} ticks`);
  }
  check(words.every((w) => seen.charts.some((c) => c.name.endsWith(w))), `${name}: ${words} are not both there`);
  for (const what of untold(await page.evaluate(told))) check(false, `${name}: ${what}`);
  if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true });
  await page.context().close();
}
{ // results of one moment, a millisecond apart, of one value, of nothing
  const record = (kind, time_s, median) => ({ kind, backend: "cpu", time_s, machine: "m", params: {}, metrics: [{ name: "rate_Bps", median }] });
  const records = [["same", 0, 0], ["apart", 0, 0.0013], ["zero", 0, 60]].flatMap(([kind, ...at]) => at.map((s) => record(kind, 1795015306.259 + s, kind === "zero" ? 0 : 1e9)));
  const page = await open("/?view=machine", { before: (p) => p.route("**/api/v1/store/list", (route) => route.fulfill({ json: { records } })) });
  const ticks = await page.locator("figure.past").evaluateAll((l) => l.map((f) => f.querySelectorAll(".tick").length));
  check(ticks.length === 3 && ticks.every((n) => n >= 2 && n < 20), `results of one moment: ${ticks} ticks`);
  await page.context().close();
}
await done("this machine");
