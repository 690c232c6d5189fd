// Speed of the page: first answer, slider to redrawn answer, redrawing every view's charts at another width, bytes transferred. Processor times are
// those of the main thread and tolerate other programs; wall-clock times need a quiet machine. Usage: bench/web/page; JEOUL=PROGRAM
import { base, browser, settle, views } from "../../tests/web/chromium.mjs";
const at = (list, share) => list.sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(share * list.length))];
async function traced(page, work) {
  await browser.startTracing(page, { categories: ["toplevel", "__metadata"] });
  await work();
  const events = JSON.parse((await browser.stopTracing()).toString()).traceEvents, mains = new Set(events.filter((e) => e.name === "thread_name" && e.args.name === "CrRendererMain").map((e) => `${e.pid} ${e.tid}`));
  return events.filter((e) => e.ph === "X" && /RunTask/.test(e.name) && mains.has(`${e.pid} ${e.tid}`)).map((e) => (e.tdur ?? 0) / 1e3);
}
const fresh = async () => { const context = await browser.newContext({ locale: "en-US", viewport: { width: 1440, height: 900 } }), page = await context.newPage(); page.reading = []; return page; };
const first = [];
for (let i = 0; i < 9; i++) {
  const page = await fresh();
  await page.addInitScript(() => { new MutationObserver((_, o) => { if (!document.querySelector(".answer")) return; window.stands = performance.now(); o.disconnect(); }).observe(document, { childList: true, subtree: true }); });
  const session = await page.context().newCDPSession(page);
  let bytes = 0;
  await session.send("Network.enable");
  session.on("Network.loadingFinished", (e) => { bytes += e.encodedDataLength; });
  await page.goto(base);
  await settle(page);
  first.push(await page.evaluate(() => window.stands));
  if (i === 8) console.log(`first answer: median ${at(first, 0.5).toFixed(0)} ms of ${first.length} by the clock, least ${Math.min(...first).toFixed(0)} ms; ${Math.round(bytes / 1000)} kB on the wire with every chart of Ask`);
  await page.context().close();
}
{
  const page = await fresh(), times = [];
  await page.goto(`${base}/?view=whatif&model=gpt-305m&on=8x+rtx-3090&batch=4`);
  await settle(page);
  const tasks = await traced(page, async () => times.push(...await page.evaluate(async () => {
    const slider = document.getElementById("s-batch"), list = [];
    for (let i = 0; i < 120; i++) {
      const drawn = new Promise((go) => document.addEventListener("redrawn", go, { once: true })), begin = performance.now();
      slider.value = i % 10;
      slider.dispatchEvent(new Event("input", { bubbles: true }));
      await drawn;
      list.push(performance.now() - begin);
    }
    return list;
  })));
  console.log(`slider to redrawn, ${times.length} moves: median ${at(times, 0.5).toFixed(1)} ms, p95 ${at(times, 0.95).toFixed(1)} ms by the clock; longest task ${Math.max(...tasks).toFixed(1)} ms of the processor`);
  await page.context().close();
}
let most = 0;
for (const view of views) {
  const page = await fresh();
  await page.goto(`${base}/?view=${view}`);
  await settle(page);
  const charts = await page.locator("svg.chart, .doc figure > svg").count(), tasks = await traced(page, async () => { await page.setViewportSize({ width: 1250, height: 900 }); await page.waitForTimeout(600); }), longest = Math.max(0, ...tasks);
  most = Math.max(most, longest);
  console.log(`${view}: ${charts} charts, all drawn anew, longest task ${longest.toFixed(1)} ms of the processor`);
  await page.context().close();
}
console.log(`longest task of any view: ${most.toFixed(1)} ms`);
await browser.close();
