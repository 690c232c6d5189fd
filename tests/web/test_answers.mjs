// Texts and charts of a view must agree: memory verdict, interval width, scaling limit, number of GPUs of a
// service, position of a verdict's mark, chosen plan. Usage: test_answers.mjs BASE [SHOTS]
import { base, check, done, open, settle, shots } from "./chromium.mjs";

// the last response whose body was read; unfinished ones do not count
const answerOf = (page, command, has = () => true) => page.answers.findLast((a) => a.url.endsWith(command) && Object.keys(a.body).length > 0 && has(a.body))?.body;
const text = async (page, what) => (await page.locator(what).allInnerTexts()).join(" ").replace(/\s+/g, " ");
const bare = (s) => s?.replaceAll(" ", "");
const shot = async (page, name) => { if (shots) await page.screenshot({ path: `${shots}/${name}.png`, fullPage: true }); };
async function asked(page, command, body) {
  return page.evaluate(async ([c, b]) => { const r = await fetch(`/api/v1/${c}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(b) }); return r.headers.get("content-type").includes("json") ? r.json() : r.text(); }, [command, body]);
}

// --- memory: text, colour and whisker follow the interval, as in the command
const fits = { en: [/probably fits: [\d.,]+ .iB \(([^)]*)\)/, /probably does not fit: [\d.,]+ .iB \(([^)]*)\)/, /probably fits \(([^)]*)\)/, /It fits:/], ko: [/아마 들어갑니다: GPU당 [\d.,]+ .iB\(([^)]*)\)/, /아마 들어가지 않습니다: [\d.,]+ .iB\(([^)]*)\)/, /아마 들어(?:감|갑니다)\(([^)]*)\)/, /메모리에 들어갑니다/] };
for (const lang of ["en", "ko"])
  for (const [what, query] of [["doubt", "?on=8x+h100-sxm5"], ["sure", "?model=gpt2-124m&on=rtx-4090&batch=4&seq=512"], ["none", "?model=llama-3-70b&on=rtx-4090"]])
    for (const view of ["ask", "whatif"]) {
      const page = await open(`/${query}&view=${view}&lang=${lang}`), name = `${view} ${what} ${lang}`, a = answerOf(page, "/predict", (b) => what !== "none" || b.n_gpus === 1);
      const said = await text(page, ".answer .fit"), peak = a.memory_peak_B, cap = a.memory_B.capacity, doubt = peak.lo <= cap && peak.hi > cap;
      const told = (await asked(page, "predict", { model: a.model, on: a.system, batch: a.micro_batch, seq: a.seq, as: "html", lang })).replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
      check(doubt === fits[lang].slice(0, 2).some((w) => w.test(said)), `${name}: '${said}' for ${peak.lo}–${peak.hi} of ${cap}`);
      if (doubt && a.fits) check(bare(fits[lang][2].exec(told)?.[1])?.includes(bare(fits[lang][0].exec(said)?.[1])), `${name}: the page says '${said}', the command '${told.slice(told.indexOf("GiB") - 60, told.indexOf("GiB") + 120)}'`);
      if (what === "sure") check(fits[lang][3].test(said), `${name}: '${said}'`);
      const colour = await page.locator(".answer .fit").evaluateAll((l) => l.map((e) => getComputedStyle(e).color).join()), warn = await page.evaluate(() => { const s = document.createElement("i"); s.style.color = "var(--warn)"; document.body.append(s); const c = getComputedStyle(s).color; s.remove(); return c; });
      check((doubt && a.fits) === (colour === warn), `${name}: colour ${colour}`);
      // the bar of What if and the waterfall of Ask, from the start of the scale
      const drawn = await page.evaluate(() => {
        const slider = document.querySelectorAll(".bars figure")[1], f = slider ?? [...document.querySelectorAll(".pictures svg.full")].find((s) => s.querySelector(".whisker")), at = (e) => e?.getBBox(), w = at(f?.querySelector("path.whisker:not(.halo)")), l = at(f?.querySelector(slider ? "path.limit" : "path.mark")), zero = slider ? 0 : at(f?.querySelector("rect[stroke]"))?.x;
        return w && l ? { lo: w.x - zero, hi: w.x + w.width - zero, limit: l.x - zero + (slider ? 1 : 0) } : null;
      });
      check(drawn && Math.abs((drawn.hi / drawn.limit) / (peak.hi / cap) - 1) < 0.02 && Math.abs((drawn.lo / drawn.limit) / (peak.lo / cap) - 1) < 0.02, `${name}: the whisker ${JSON.stringify(drawn)} is not ${peak.lo}–${peak.hi} of ${cap}`);
      if (view === "ask") check(!/±/.test(await text(page, "p.second")), `${name}: '${await text(page, "p.second")}' beside ${await text(page, ".answer .spread")}`);
      await shot(page, `fit-${view}-${what}-${lang}`);
      await page.context().close();
    }

// --- scaling: the sentence agrees with the rows below
for (const [lang, query] of [["en", "model=llama-3-8b&on=8x+rtx-4090&upto=1024"], ["ko", "model=gpt-305m&on=8x+rtx-3090&upto=1024"], ["en", "model=llama-3-8b&on=8x+h100-sxm5&upto=64"], ["en", "model=gpt2-124m&on=8x+rtx-4090&batch=1&upto=8"]]) {
  const page = await open(`/?view=scaling&${query}&lang=${lang}`), rows = answerOf(page, "/predict").sweep.filter((r) => r.fits), said = await text(page, ".answer");
  const gain = (i) => (rows[i + 1].samples_per_s.value / rows[i].samples_per_s.value) ** (1 / Math.log2(rows[i + 1].n_gpus / rows[i].n_gpus));
  const beyond = Number((/Beyond (\d+)/.exec(said) ?? /(\d+)장을 넘으면/.exec(said))?.[1]), dip = /From (\d+) to (\d+) GPUs/.exec(said) ?? /(\d+)장에서 (\d+)장으로/.exec(said);
  const gains = rows.slice(1).map((r, i) => [r.n_gpus, Number(gain(i).toFixed(2))]);
  if (beyond) check(gains.filter(([n]) => n > beyond).every(([, g]) => g < 1.5), `${query}: '${said}' over ${JSON.stringify(gains)}`);
  else check(gains.at(-1)[1] >= 1.5, `${query}: no limit in '${said}' over ${JSON.stringify(gains)}`);
  check(Boolean(dip) === gains.some(([n, g], i) => g < 1.5 && !(beyond && n > beyond)), `${query}: '${said}' over ${JSON.stringify(gains)}`);
  if (dip) check(gains.find(([n]) => n === Number(dip[2]))[1] < 1.5, `${query}: '${said}'`);
  await page.context().close();
}

// --- serving: sentence and charts use the same number of GPUs; an overloaded rate has no latency, its queue grows by the unanswered requests
for (const [lang, query] of [["en", "rate=4"], ["ko", "rate=4"], ["en", "rate=256"], ["ko", "rate=256"], ["en", "rate=16&on=8x+h100-sxm5&model=llama-3-70b"]]) {
  const page = await open(`/?view=serve&${query}&lang=${lang}`), one = answerOf(page, "/serve", (b) => !b.rows?.length && b.load === "open"), sweep = page.answers.findLast((a) => a.url.endsWith("/serve") && a.body.rows?.length)?.body, name = `serve ${query} ${lang}`, said = await text(page, ".answer");
  check(sweep.rows.filter((r) => r.fits).every((r) => r.n_gpus === one.n_gpus) && sweep.n_gpus_used === one.n_gpus_used, `${name}: the sentence is of ${one.n_gpus_used} GPUs, the charts of ${sweep.n_gpus_used}`);
  const same = sweep.rows.find((r) => r.rate_per_s === one.rate_per_s);
  if (same && one.keeps_up) check(Math.abs(same.ttft_p90_s.value / one.ttft_s.p90.value - 1) < 0.02, `${name}: ${same.ttft_p90_s.value} in the chart, ${one.ttft_s.p90.value} in the sentence`);
  const captions = await page.locator("figcaption").allInnerTexts(), gpus = lang === "ko" ? `GPU ${one.n_gpus_used}장` : `${one.n_gpus_used} GPU${one.n_gpus_used > 1 ? "s" : ""}`;
  check(captions.length >= 3 && captions.slice(0, 2).every((c) => c.includes(gpus)), `${name}: captions ${captions}`);
  check(!/without end|끝없이/.test(said), `${name}: '${said}'`);
  if (!one.keeps_up) { const grows = Number((await page.locator(".answer .num").evaluateAll((l) => l.map((e) => e.dataset.value)))[1]); check(Math.abs(grows - (one.rate_per_s - one.rate_held_per_s)) < 1e-9, `${name}: grows by ${grows}`); }
  const points = await page.locator("figure").first().locator("circle.dot.main").count(), kept = sweep.rows.filter((r) => r.fits && r.keeps_up).length;
  check(points === kept, `${name}: ${points} latencies drawn of ${kept} rates that are held`);
  if (sweep.rows.some((r) => !r.keeps_up)) check(await page.locator(".shade").count() === 2, `${name}: overload is not shaded`);
  await shot(page, `serve-${query.replace(/\W/g, "")}-${lang}`);
  await page.context().close();
}

// --- the plan: "auto" shows its meaning, a line shows the plan and its changes
const cutOf = (a) => { const p = a.parallel; return [p.zero, p.tp, p.sp, p.pp, p.cp, p.ep, a.recompute, p.dp > 1 && p.shard < p.dp, p.dp === 1].join(); };
for (const [lang, auto, changed] of [["en", "auto", "plan changed"], ["ko", "자동", "실행 방식 바뀜"]]) {
  const page = await open(`/?lang=${lang}`), a = answerOf(page, "/predict"), first = (key) => page.locator(`#f-${key} option`).first().innerText();
  check(await first("precision") === `${auto}: ${a.precision}`, `plan ${lang}: precision '${await first("precision")}'`);
  for (const key of ["framework", "recompute", "zero"]) check((await first(key)).startsWith(`${auto}: `), `plan ${lang}: ${key} '${await first(key)}'`);
  check(await page.locator("#f-seq").getAttribute("placeholder") === `${auto}: ${a.seq}` && await page.locator("#f-batch").getAttribute("placeholder") === `${auto}: ${a.micro_batch * a.accumulate}`, `plan ${lang}: placeholders`);
  const line = async () => text(page, ".result .plan");
  check((await line()).includes("FSDP") && (await line()).includes(a.precision) && !(await line()).includes(changed), `plan ${lang}: '${await line()}'`);
  let changes = 0;
  for (const batch of ["64", "8", "1", ""]) {
    const was = cutOf(answerOf(page, "/predict"));
    await page.fill("#f-batch", batch);
    await page.press("#f-batch", "Tab");
    await settle(page);
    check((cutOf(answerOf(page, "/predict")) !== was) === (await line()).includes(changed), `plan ${lang}, batch ${batch}: '${await line()}'`);
    changes += cutOf(answerOf(page, "/predict")) !== was;
    if (batch === "64") await shot(page, `plan-${lang}`);
  }
  check(changes > 0, `plan ${lang}: no batch changes the plan, so the mark is never seen`);
  await page.context().close();
  const rows = await open(`/?view=scaling&lang=${lang}&upto=64`), sweep = answerOf(rows, "/predict").sweep, runs = sweep.filter((r) => r.fits), plans = await rows.locator("td.planned").allInnerTexts();
  check(plans.length === runs.length && plans.every((p) => p.length > 3), `plan ${lang}: ${plans.length} plans in a table of ${runs.length}`);
  runs.forEach((r, i) => { const differs = i > 0 && cutOf(r) !== cutOf(runs[i - 1]); check(differs === (plans[i] ?? "").includes(changed), `plan ${lang}: ${r.n_gpus} GPUs: '${plans[i]}'`); });
  await shot(rows, `plan-scaling-${lang}`);
  await rows.context().close();
  const whatif = await open(`/?view=whatif&lang=${lang}`), chips = await whatif.locator(".controls .chip[data-auto]").allInnerTexts();
  check(chips.length === 4 && chips.every((c) => c.startsWith(`${auto}: `)), `plan ${lang}: chips ${chips}`);
  check((await text(whatif, ".result .plan")).includes("FSDP"), `plan ${lang}: none on What if`);
  await whatif.context().close();
  const serve = await open(`/?view=serve&lang=${lang}`), weights = answerOf(serve, "/serve", (b) => b.weights).weights;
  check(await serve.locator("#f-weights option").first().innerText() === `${auto}: ${weights}` && (await text(serve, ".result .plan")).includes(weights), `plan ${lang}: serve '${await text(serve, ".result .plan")}'`);
  await serve.context().close();
  const price = await open(`/?view=price&lang=${lang}`);
  check((await price.locator(".result .plan").count()) === 1 && (await text(price, ".card")).includes(lang === "ko" ? "마이크로배치" : "micro-batch"), `plan ${lang}: none on Price`);
  await price.context().close();
}

// --- a verdict: "54 % above its middle" is right of the middle, by its scale
{
  const page = await open("/"), line = (time_us, bw) => `  4294967296    1073741824     float     sum      -1   ${time_us}  ${bw}  ${(1.75 * bw).toFixed(2)}      0  ${time_us}  ${bw}  ${(1.75 * bw).toFixed(2)}      0\n`;
  const log = (bw) => `# nThread 1 nGpus 8 minBytes 4294967296 maxBytes 4294967296 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0\n#\n# Using devices\n${Array.from({ length: 8 }, (_, i) => `#  Rank  ${i} Group  0 Pid   1000 on      host device  ${i} [0x1${i}] NVIDIA H100 80GB HBM3\n`).join("")}#\n#                                                              out-of-place                       in-place          \n#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n${line((4294967.296 / bw * 1).toFixed(1), bw)}# Out of bounds values : 0 OK\n`;
  let seen = 0;
  for (const bw of [60, 130, 200, 240]) {
    const body = { kind: "-", on: "8x h100-sxm5", files: { "-": log(bw) } }, html = await asked(page, "check", { ...body, as: "html", lang: "en" }), verdict = await asked(page, "check", body);
    const at = (cls) => Number(new RegExp(`class="${cls}" d="M([\\d.]+) `).exec(html)?.[1]), [, x, w] = /<rect x="([\d.]+)" y="0" width="([\d.]+)"/.exec(html) ?? [], r = verdict.results?.[0] ?? verdict;
    const [, off, side] = /([\d.]+) % (above|below) its middle/.exec(html.replace(/<[^>]*>/g, "")) ?? [], off_ln = off ? Math.log(1 + ((side === "above" ? 1 : -1) * Number(off)) / 100) : 0;
    if (!x) { console.log(`check ${bw} GB/s: ${JSON.stringify(r).slice(0, 200)}`); continue; }
    const lo = Number(x), hi = lo + Number(w), e = r.expected ?? r.expect ?? r, perLn = (hi - lo) / Math.log((e.hi ?? r.expected_hi) / (e.lo ?? r.expected_lo));
    seen += off ? 1 : 0;
    check(Number.isFinite(at("mid")) && at("mid") > lo && at("mid") < hi, `check ${bw} GB/s: the middle at ${at("mid")} of ${lo}–${hi}`);
    if (off) check(Math.abs(at("v") - at("mid") - off_ln * perLn) < 1.5, `check ${bw} GB/s: ${off} % ${side} the middle, marked at ${at("v")}, the middle at ${at("mid")}`);
  }
  check(seen >= 2, `verdicts with words: ${seen}`);
  await page.context().close();
}
await done(`answers of ${base}`);
