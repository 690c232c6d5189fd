import { state, hello } from "/state.js";
import { t, parts, fill } from "/words.js";
import { fmt, digits, percent, money, inMoney, moneyText, times, grouped } from "/format.js";
import { el, num, fragment, copyButton, manyTable, slider, dropZone, sentence, answering, pocket } from "/dom.js";
import { fault } from "/repair.js";
import { ask, caseOf, commandLine, tidy } from "/api.js";
import { question } from "/case.js";
import { about, timeParts, memoryCell } from "/answer.js";
import { planKind, planStep, planLine } from "/plan.js";
import { plot, stack, widthOf, keepDrawn } from "/draw.js";
import { pictureActions } from "/picture.js";

const pattern = /^(\d+)x /;
const sizes = (n) => { const l = []; for (let v = 1; v < n; v *= 2) l.push(v); return [...l, n]; };

export function show(main) {
  const answer = el("section", { className: "result" }), chart = el("figure", { className: "wide" }), efficiency = el("figure"), costs = el("figure"), taken = el("div"), table = el("div", { className: "tablebox doc", tabIndex: 0, role: "region", "aria-label": t("scaling") }), checked = el("section", { className: "checked" });
  let rows = null, measured = [];
  let shape = { on: null };
  // How many GPUs a node of the asked system has, and whether it is more than one node: the program reads the expression, not the page.
  async function node() {
    if (shape.on === state.on) return;
    const { on } = state, [row] = (await ask("predict", { ...caseOf({ ...state, batch: "", global: "", tokens: "" }), sweep: "nodes=1" })).sweep, [, n, name] = /^(\d+)x (\S+)/.exec(row.system) ?? [];
    shape = { on, each: row.n_gpus, several: /^\d+x ?\(/.test(row.system) || (Number(n) > 1 && (hello.systems ?? []).some(([id]) => id === name)) };
  }
  const request = () => {
    const n = Number(state.upto), { each = 1, several } = shape, nodes = Math.max(1, Math.round(n / each));
    const body = caseOf();
    delete body.tokens;
    if (several) return { ...body, sweep: `nodes=${sizes(nodes).join(",")}` };
    return { ...body, ...(nodes > 1 ? { on: `${nodes}x(${state.on})` } : {}), sweep: `gpus=${[...sizes(Math.min(each, n)), ...sizes(nodes).slice(1).map((v) => v * each)].join(",")}` };
  };
  main.append(question({ drop: false }), el("div", { className: "fields" }, slider("upto", [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024], (v) => (state.lang === "ko" ? `${v}장` : `${v} GPUs`), { label: t("up_to") })), answer, chart, el("div", { className: "pair even" }, efficiency, costs), taken, table,
    el("div", { className: "actions" }, copyButton(() => commandLine("predict", tidy(request())))), dropZone(t("drop_log"), take), checked);
  const clear = () => { for (const part of [chart, efficiency, costs, taken, table]) part.replaceChildren(); };
  function draw() {
    if (!rows) return;
    const timed = rows.filter((r) => r.samples_per_s?.value != null), runs = timed.some((r) => r.fits) ? timed.filter((r) => r.fits) : timed;
    if (!runs.length) { answer.replaceChildren(fault(new Error(t("s_none")))); clear(); return; }
    const w = widthOf(chart), one = runs.find((r) => r.recipe === "same") ?? runs[0], base = one.samples_per_s.value / one.n_gpus, last = runs.at(-1);
    const f = (r, k) => r.samples_per_s[k];
    const points = runs.map((r) => ({ x: r.n_gpus, y: f(r, "value"), lo: f(r, "lo"), hi: f(r, "hi"), label: `${r.n_gpus} GPU: ${fmt(f(r, "value"), "1")} ${t("samples_s")}` }));
    const axis = { label: t("gpus"), log: true, lo: runs[0].n_gpus, hi: Math.max(last.n_gpus, one.n_gpus * 2), ticks: runs.map((r) => r.n_gpus), show: (v) => String(v) };
    chart.replaceChildren(el("figcaption", {}, t("throughput")), plot({ width: w, height: w < 520 ? 280 : 360, name: t("scaling"), words: points.map((p) => p.label).join("; "),
      x: axis, y: { label: t("samples_s"), log: true, lo: Math.min(...points.map((p) => p.lo ?? p.y)) * 0.9, hi: Math.max(base * last.n_gpus, ...points.map((p) => p.hi ?? p.y)) * 1.15, show: (v) => fmt(v, "1") },
      series: [{ name: t("ideal"), cls: "ideal", dots: false, points: runs.map((r) => ({ x: r.n_gpus, y: base * r.n_gpus })) }, { name: t("predicted"), cls: "main", points }, { name: t("measured"), kind: "points", cls: "measured", r: 6, points: measured }] }));
    // Speed a GPU against the same of the first row of this plan, and what a million tokens cost, both from zero. Rows of another plan are hollow and lie on no line.
    const perToken = (r, k = "value") => (r.tokens_per_s?.[k] && r.rent ? (1e6 * r.n_gpus * r.rent.gpu_usdps) / r.tokens_per_s[k] : null), other = (r) => r.efficiency_frac == null;
    const paidBy = (r) => `${r.n_gpus} × ${fmt(r.rent.gpu_usdps * 3600, "usd", 3)}/h ÷ ${fmt(r.tokens_per_s.value, "1", 3)} ${t("rate_tokens")}`;
    // a line joins what differs in the number of GPUs alone: another provider begins a line of its own, with its name
    const lines = (points) => [...points.filter((p) => !p.other).reduce((all, p) => { const last = all.at(-1); if (last && last.at(-1).from === p.from) last.push(p); else all.push([p]); return all; }, []).map((part) => ({ name: part[0].from, cls: "main", points: part })), { kind: "points", cls: "other", r: 4.5, points: points.filter((p) => p.other) }];
    const part = (box, name, label, points, y, more = []) => box.replaceChildren(...(points.length < 2 ? [] : [el("figcaption", {}, name), plot({ width: widthOf(box), height: 250, name, words: points.map((p) => p.label).join("; "), legend: points.some((p) => p.from), names: true, x: axis, y: { label, lo: 0, ...y }, series: [...more, ...lines(points)] })]));
    const eff = runs.map((r) => ({ x: r.n_gpus, y: (100 * f(r, "value")) / r.n_gpus / base, other: other(r), name: other(r) ? planKind(r) : "", label: `${r.n_gpus} GPU: ${percent(f(r, "value") / r.n_gpus / base)}${other(r) ? ` (${planKind(r)})` : ""}` }));
    part(efficiency, t("efficiency"), fill("eff_axis", one.n_gpus), eff, { hi: Math.max(110, ...eff.map((p) => p.y * 1.05)), show: (v) => String(v) }, [{ cls: "ideal", dots: false, points: [{ x: runs[0].n_gpus, y: 100 }, { x: last.n_gpus, y: 100 }] }]);
    const paid = runs.filter((r) => perToken(r) != null).map((r) => ({ x: r.n_gpus, y: inMoney(perToken(r)), lo: inMoney(perToken(r, "hi") ?? perToken(r)), hi: inMoney(perToken(r, "lo") ?? perToken(r)), other: other(r), from: r.rent.provider, label: `${r.n_gpus} GPU: ${money(perToken(r), 2)}, ${r.rent.provider}` }));
    part(costs, t("per_mtoken"), t("cost"), paid, { hi: Math.max(...paid.map((p) => p.hi)) * 1.1, show: (v) => moneyText(v, 2) });
    taken.replaceChildren(pictureActions(t("scaling"), () => chart.querySelector("svg.chart"), () => [[t("gpus"), t("samples_s"), "lo", "hi", t("efficiency"), t("step") + " s", t("per_mtoken") + " USD", t("plan")], ...runs.map((r) => [r.n_gpus, f(r, "value"), f(r, "lo"), f(r, "hi"), r.efficiency_frac ?? "", r.step_s.value, perToken(r) ?? "", planKind(r)])]));
    pocket(answer, [t("speedup"), times(last.speedup)], [t("gpus"), String(last.n_gpus)]);
    const heads = [t("gpus"), t("samples_s"), t("speedup"), t("efficiency"), t("step"), t("per_mtoken"), t("memory"), t("plan"), t("time_goes")];
    table.replaceChildren(manyTable(heads, (h, i) => i && i < 6,
      rows.map((r, i) => {
        if (!runs.includes(r)) return el("tr", {}, el("th", { scope: "row" }, String(r.n_gpus)), el("td", { colSpan: 8, className: "dim" }, ...sentence(parts("a_not"), num(r.memory_B.total, "B", about(r, "memory")), num(r.memory_B.capacity, "B", about(r, "capacity")))));
        const time = timeParts(r), top = time.find((p) => p.strong);
        return el("tr", {}, el("th", { scope: "row" }, String(r.n_gpus)), el("td", { className: "r" }, num(r.samples_per_s, "1", about(r, "samples"))), el("td", { className: "r" }, num(r.speedup, "1", { text: times(r.speedup), label: t("speedup"), formula: `${fmt(r.samples_per_s.value, "1", 3)} / ${fmt(one.samples_per_s.value, "1", 3)}` })), el("td", { className: "r" }, r.efficiency_frac == null ? "–" : num(r.efficiency_frac, "frac", { text: percent(r.efficiency_frac), label: t("efficiency"), formula: `${digits(r.speedup, 3)} / ${r.n_gpus / one.n_gpus}` })), el("td", { className: "r" }, num(r.step_s, "s", { ...about(r, "step"), plain: true })), el("td", { className: "r" }, perToken(r) == null ? "–" : num(perToken(r), "usd", { label: t("per_mtoken"), formula: paidBy(r), source: `${r.rent.provider}, ${r.rent.item}`, url: r.rent.url, date: r.rent.date }), perToken(r) == null ? "" : el("small", { className: "from dim" }, r.rent.provider)), memoryCell(r), el("td", { className: "planned" }, ...planStep(r, runs.includes(rows[i - 1]) ? rows[i - 1] : null)), el("td", {}, el("span", { className: "mini" }, stack(time, { width: 70, name: t("time_goes"), show: (v) => fmt(v, "s") })), top ? ` ${top.name} ${percent(top.value / r.step_s.value)}` : ""));
      })));
    // a knee is where every row after it gains less than 1.5 times for twice the GPUs; one that gains less while later ones gain more is a dip
    const weak = runs.slice(1).map((r, i) => (f(r, "value") / f(runs[i], "value")) ** (1 / Math.log2(r.n_gpus / runs[i].n_gpus)) < 1.5), strong = weak.lastIndexOf(false) + 1, knee = strong < weak.length ? runs[strong] : null;
    const dip = weak.indexOf(true) >= 0 && weak.indexOf(true) < strong ? weak.indexOf(true) : -1, gain = dip < 0 ? 0 : f(runs[dip + 1], "value") / f(runs[dip], "value");
    answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts("s_answer"), String(last.n_gpus), String(one.n_gpus), num({ value: last.speedup, ...last.speedup_range }, "1", { text: digits(last.speedup, 3), digits: 2, label: t("speedup"), formula: `${fmt(last.samples_per_s.value, "1", 3)} / ${fmt(one.samples_per_s.value, "1", 3)} ${t("samples_s")}` })), " ", knee ? `${fill("s_best", knee.n_gpus)} ` : "", ...(dip < 0 ? [] : sentence(parts(gain < 1 ? "s_dip_slower" : "s_dip"), String(runs[dip].n_gpus), String(runs[dip + 1].n_gpus), num(gain, "1", { text: gain < 1 ? percent(1 - gain) : digits(gain, 2), label: t("speedup"), formula: `${fmt(f(runs[dip + 1], "value"), "1", 3)} / ${fmt(f(runs[dip], "value"), "1", 3)} ${t("samples_s")}` })))), planLine({ ...last, model: state.model }), perToken(last) != null && perToken(one) != null && last !== one ? el("p", { className: "second" }, ...sentence(parts("s_paid"), num(perToken(last), "usd", { label: t("per_mtoken"), formula: paidBy(last), source: `${last.rent.provider}, ${last.rent.item}`, url: last.rent.url, date: last.rent.date }), String(last.n_gpus), last.rent.provider, num(perToken(one), "usd", { label: t("per_mtoken"), formula: paidBy(one), source: `${one.rent.provider}, ${one.rent.item}`, url: one.rent.url, date: one.rent.date }), String(one.n_gpus), one.rent.provider), last.rent.provider === one.rent.provider ? "" : ` ${t("s_paid_other")}`) : "", last !== one && last.global_batch !== one.global_batch ? el("p", { className: "second" }, fill("s_batch", grouped(last.global_batch), String(last.n_gpus), grouped(one.global_batch), String(one.n_gpus)), last.above_by ? ` ${fill("s_above", t(last.above_by))}` : "") : "");
  }
  const update = answering(answer, async () => {
    try { await node(); rows = (await ask("predict", tidy(request()))).sweep; draw(); } catch (e) { rows = null; clear(); answer.replaceChildren(fault(e)); }
  });
  // Collectives are judged as `check` judges them; a training log gives throughput points.
  async function take(file) {
    const text = await file.text();
    try {
      const body = { kind: "-", on: state.on, files: { "-": text } };
      const verdict = await ask("check", body), view = await ask("check", { ...body, as: "html" });
      measured = (verdict.results ?? []).filter((r) => r.kind === "train").map((r) => ({ x: r.n_gpus ?? r.n_workers ?? Number(pattern.exec(state.on)?.[1] ?? 1), y: r.metric?.includes("step") ? null : r.value, label: `${file.name}: ${r.what}`, cls: r.verdict }));
      checked.replaceChildren(el("h2", {}, `${file.name}: ${t(verdict.verdict) ?? verdict.verdict}`), fragment(view));
      draw();
    } catch (e) { checked.replaceChildren(el("h2", {}, file.name), fault(e)); }
  }
  keepDrawn(chart, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
