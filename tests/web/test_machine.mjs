// "This machine" with 10,000 results: history chart, no main-thread task above 200 ms, in-place and out-of-place results
// as two histories. Usage: test_machine.mjs BASE, on a server with a store by records.py.
import { base, browser, check, done, open, settle, shots } from "./chromium.mjs";
import { told, untold } from "./measure.mjs";

const limit_ms = 200;
// Longest main-thread task in processor time, which is independent of other programs; wall-clock time is reported.
async function longest(page, work) {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await work();
  const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents, mains = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  const tasks = events.filter((e) => e.ph === "X" && /RunTask/.test(e.name) && mains.has(`${e.pid} ${e.tid}`));
  check(tasks.length > 20 && tasks.some((e) => e.tdur > 0), `tasks of the trace: ${tasks.length}`);
  return { cpu_ms: Math.max(...tasks.map((e) => e.tdur ?? 0)) / 1e3, clock_ms: Math.max(...tasks.map((e) => e.dur)) / 1e3 };
}
for (const [lang, width, words] of [["en", 1440, ["in place", "out of place"]], ["ko", 390, ["in-place", "out-of-place"]]]) {
  const name = `machine-${lang}`, page = await open(`/?view=audit&lang=${lang}`, { width }), task = await longest(page, async () => {
    await page.goto(`${base}/?view=machine&lang=${lang}`);
    await settle(page);
    await page.waitForTimeout(250);
  });
  const seen = await page.evaluate(() => ({
    charts: [...document.querySelectorAll("figure.past")].map((f) => ({ name: f.querySelector("figcaption").textContent, points: f.querySelectorAll(".dot.measured").length, marks: f.querySelectorAll("svg .tick").length,
      outside: [...f.querySelectorAll(".dot")].filter((d) => { const b = d.getBBox(), w = f.querySelector("svg").viewBox.baseVal; return b.x < -1 || b.y < -1 || b.x + b.width > w.width + 1 || b.y + b.height > w.height + 1; }).length,
      spread: (() => { const ys = [...f.querySelectorAll(".dot.measured")].map((d) => Number(d.dataset.value)); return Math.max(...ys) / Math.min(...ys); })() })) }));
  console.log(`${name}: ${seen.charts.length} histories, longest task ${task.cpu_ms.toFixed(0)} ms of the processor, ${task.clock_ms.toFixed(0)} ms by the clock`);
  check(task.cpu_ms <= limit_ms, `${name}: a task of ${task.cpu_ms.toFixed(0)} ms`);
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
{ // results of one moment, a millisecond apart, of one value, empty
  const record = (kind, time_s, median) => ({ kind, backend: "cpu", time_s, machine: "m", params: {}, metrics: [{ name: "rate_Bps", median }] });
  const records = [["same", 0, 0], ["apart", 0, 0.0013], ["zero", 0, 60]].flatMap(([kind, ...at]) => at.map((s) => record(kind, 1795015306.259 + s, kind === "zero" ? 0 : 1e9)));
  const page = await open("/?view=machine", { before: (p) => p.route("**/api/v1/store/list", (route) => route.fulfill({ json: { records } })) });
  const ticks = await page.locator("figure.past").evaluateAll((l) => l.map((f) => f.querySelectorAll(".tick").length));
  check(ticks.length === 3 && ticks.every((n) => n >= 2 && n < 20), `results of one moment: ${ticks} ticks`);
  await page.context().close();
}
{ // verdicts are those of check; bands need five results and are not negative; ticks at their values
  const record = (id, kind, time_s, median) => ({ id, kind, backend: "cpu", time_s, machine: "m", params: {}, metrics: [{ name: "rate_flopps", median }] });
  const records = [["few", [11.6e9, 26e9, 17.8e9]], ["many", [11.6e9, 17.8e9, 15e9, 14e9, 16e9, 15.5e9]]].flatMap(([kind, values]) => values.map((v, i) => record(`${kind}${i}`, kind, 1795015306 - 86400 * i, v)));
  const results = [{ id: "few0", metric: "rate_flopps", verdict: "noisy", basis: "history", n_history: 2, expected_lo: 5e9, expected: 1e10, expected_hi: 2e10 }, { id: "many0", metric: "rate_flopps", verdict: "low", basis: "history", n_history: 5, expected_lo: 14e9, expected: 15e9, expected_hi: 17e9 }];
  const page = await open("/?view=machine&lang=en", { before: (p) => Promise.all([p.route("**/api/v1/store/list", (route) => route.fulfill({ json: { records } })), p.route("**/api/v1/check", (route) => (/"as"/.test(route.request().postData() ?? "") ? route.continue() : route.fulfill({ json: { results } })))]) });
  const seen = await page.locator("figure.past").evaluateAll((l) => l.map((f) => ({ said: f.querySelector("p").textContent, bad: f.querySelector("p").className === "bad", ticks: [...f.querySelectorAll('.tick[text-anchor="end"]')].filter((e) => e.textContent).map((e) => [parseFloat(e.textContent), Number(e.getAttribute("y"))]) })));
  check(seen.length === 2 && /no verdict/.test(seen[0].said) && !/usually/.test(seen[0].said) && !seen[0].bad && /low · usually 14 GFLOP\/s–17/.test(seen[1].said) && seen[1].bad, `histories: ${JSON.stringify(seen)}`);
  for (const { ticks } of seen) {
    const steps = ticks.slice(1).map(([v, y], i) => (ticks[i][1] - y) / Math.log(v / ticks[i][0]));
    check(ticks.length > 1 && ticks.every(([v]) => v > 0) && Math.max(...steps) < 1.05 * Math.min(...steps), `ticks that are not where their figures are: ${JSON.stringify(ticks)}`);
  }
  await page.context().close();
}
for (const lang of ["en", "ko"]) { // an unreadable store is reported, with a retry
  const page = await open(`/?view=machine&lang=${lang}`, { before: (p) => p.route("**/api/v1/store/list", (route) => route.fulfill({ status: 422, json: { error: { text: "the time is up", en: "the time is up" } } })) }), said = await page.locator("main").innerText();
  check(!/Nothing is measured yet|아직 측정한 것이/.test(said) && /the time is up/.test(said) && (await page.locator(".fault .chip").count()) === 1, `a store that was not read, ${lang}: ${said.slice(-200)}`);
  check(/GiB/.test(await page.locator(".answer").innerText()) && (await page.locator(".answer svg").evaluateAll((l) => l.every((e) => e.getBoundingClientRect().height < 30))), `this machine, ${lang}: no sentence first`);
  await page.context().close();
}
await done("this machine");
