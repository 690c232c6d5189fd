// Up to eight systems side by side for one job, trained or served: time, money, energy, fit and how certain each is; serving also as tokens a user against tokens a GPU.
import { state, set } from "/state.js";
import { t, parts, fill, partOf } from "/words.js";
import { fmt, money, inMoney, moneyText, digits, range } from "/format.js";
import { el, num, field, copyButton, manyTable, sentence, answering, pocket } from "/dom.js";
import { fault, chip } from "/repair.js";
import { ask, caseOf, commandLine, tidy } from "/api.js";
import { lists } from "/case.js";
import { about, runSeconds, fitWords } from "/answer.js";
import { planText } from "/plan.js";
import { dots, plot, widthOf, keepDrawn, positive } from "/draw.js";
import { pictureActions } from "/picture.js";

const MOST = 8, LOADS = [1, 4, 16, 64, 256];
const marks = ["round", "up", "square", "diamond"];
export function show(main) {
  const answer = el("section", { className: "result" }), figures = el("figure"), pareto = el("figure"), table = el("div", { className: "tablebox doc", tabIndex: 0, role: "region", "aria-label": t("compare") }), names = el("div", { className: "chips", role: "group", "aria-label": t("systems") });
  let rows = [];
  const systems = () => [...new Set([state.on, ...state.vs.split("|")])].filter(Boolean).slice(0, MOST), serving = () => state.job === "serve";
  const added = el("input", { id: "f-vs", list: "l-systems", placeholder: t("e_system"), spellcheck: false, autocomplete: "off", onchange: (e) => { const on = e.target.value.trim(); if (!on) return; e.target.value = ""; set({ vs: [...new Set([...systems().slice(1 - MOST), on])].join("|") }, true); tellNames(); } });
  function tellNames() {
    names.replaceChildren(el("span", {}, t("systems")), ...systems().map((s) => s === state.on ? el("div", { className: "chip still" }, s) : el("button", { type: "button", className: "chip", "aria-label": `${s}: ${t("take_away")}`, onclick: () => { set({ vs: systems().filter((q) => q !== s).join("|") }, true); tellNames(); added.focus(); } }, `${s} ×`)), el("label", { className: "field" }, el("span", { className: "sr" }, t("add_system")), added));
  }
  const job = el("div", { className: "chips", role: "group", "aria-label": t("job") }, ["train", "serve"].map((j) => el("button", { type: "button", className: "chip", "aria-pressed": String(state.job === j), onclick: () => { set({ job: j }, true); dispatchEvent(new Event("popstate")); } }, t("job_" + j))));
  main.append(el("section", { className: "question" }, ...lists(), job, el("div", { className: "fields" }, field("model", { label: t("model"), list: "l-models", width: 14 }), ...(serving() ? [field("prompt", { type: "number" }), field("answer", { type: "number" }), field("rate", { type: "number" }), field("tpot", { type: "number", label: t("tpot_s") })] : [field("tokens", { width: 8 }), field("batch", { type: "number", width: 6 }), field("seq", { type: "number", width: 7 })])), names), answer, figures, table, pareto,
    el("div", { className: "actions" }, copyButton(() => (serving() ? systems().map((on) => commandLine("serve", tidy({ model: state.model, on, prompt: state.prompt, answer: state.answer, rate: `${state.rate}/s` }))).join("; ") : commandLine("compare", tidy({ model: state.model, tokens: state.tokens, batch: state.batch, seq: state.seq, baseline: systems()[0], on: systems().slice(1) })))), el("button", { type: "button", className: "quiet", onclick: async (e) => { const b = e.target; try { await navigator.clipboard.writeText(location.href); b.textContent = t("copied"); } catch { prompt(t("share"), location.href); } } }, t("share")), el("button", { type: "button", className: "quiet", onclick: () => print() }, t("print"))));
  tellNames();
  // One row: what each column needs, whatever the job is.
  async function weigh(on) {
    try {
      if (serving()) {
        const a = await ask("serve", tidy({ model: state.model, on, prompt: state.prompt, answer: state.answer, rate: `${state.rate}/s` }));
        return { on, a, fits: a.fits && a.keeps_up, why: a.fits ? fill("holds_only", digits(a.rate_held_per_s ?? 0, 2)) : fill("needs", fmt(a.weights_B, "B"), fmt(a.capacity_B, "B", 3)), time: a.fits && a.keeps_up ? a.tpot_s.p90 : null, money: a.fits && a.keeps_up ? a.usd_per_Mtoken_out : null, energy: null, plan: fill("v_plan", a.n_copies > 1 ? fill("n_copies", a.n_copies) : t("one_of"), `${a.n_gpus} GPU`, a.n_gpus_system, a.weights) };
      }
      const a = await ask("predict", { ...caseOf(), on });
      const run = runSeconds(a);
      return { on, a, fits: a.fits, why: fill("needs", fmt(a.memory_B.total, "B"), fmt(a.memory_B.capacity, "B", 3)), time: a.fits ? run ?? a.step_s : null, money: a.fits ? a.cost_usd : null, energy: a.fits ? a.energy_J : null, plan: planText(a), sure: fitWords(a).key === "a_fits" };
    } catch (e) { return { on, error: e }; }
  }
  const certainty = (e) => (e?.lo > 0 ? Math.sqrt(e.hi / e.lo) : null);
  function draw() {
    const good = rows.filter((r) => r.time), w = widthOf(figures);
    if (!good.length) { figures.replaceChildren(); return; }
    const line = (name, k, show) => { const list = good.filter((r) => r[k]?.value != null).map((r) => ({ name: r.on, ...Object.fromEntries(["value", "lo", "hi"].map((x) => [x, k === "money" ? inMoney(r[k][x] ?? r[k].value) : r[k][x] ?? r[k].value])) })); const best = Math.min(...list.map((r) => r.value)); return list.length ? [el("figcaption", {}, name), dots({ width: w, name, rows: list.map((r) => ({ ...r, best: r.value === best })), show })] : []; };
    figures.replaceChildren(...line(t(serving() ? "tpot_p90" : "run_time"), "time", (v) => fmt(v, "s")), ...line(t(serving() ? "per_m" : "cost"), "money", (v) => moneyText(v, 2)), ...line(t("energy"), "energy", (v) => fmt(v, "J")), pictureActions(t("compare"), () => figures.querySelector("svg.chart"), () => [[t("system"), `${t("run_time")} s`, "lo", "hi", `${t("cost")} USD`, "lo", "hi", `${t("energy")} J`, "lo", "hi"], ...rows.map((r) => [r.on, ...["time", "money", "energy"].flatMap((k) => ["value", "lo", "hi"].map((x) => r[k]?.[x] ?? ""))])]));
  }
  // What a user sees against what a GPU does, from one request at a time to 256: the two that every choice of a batch trades.
  async function drawPareto() {
    if (!serving()) return;
    const list = (await Promise.all(systems().map(async (on) => ({ on, points: (await Promise.all(LOADS.map((concurrency) => ask("serve", tidy({ model: state.model, on, prompt: state.prompt, answer: state.answer, concurrency })).catch(() => null)))).filter((a) => a?.fits && a.user_tokens_per_s?.value > 0) })))).filter((s) => s.points.length > 1);
    if (!list.length || !pareto.isConnected) { pareto.replaceChildren(); return; }
    const point = (a, i) => { const n = Math.max(1, a.n_gpus_used), g = a.output_tokens_per_s, u = a.user_tokens_per_s; return { x: u.value, y: g.value / n, lo: g.lo / n, hi: g.hi / n, xlo: u.lo, xhi: u.hi, shape: marks[i % 4], cls: `look${i + 1} front`, label: `${fill("at_once", a.concurrency)}: ${digits(u.value, 3)} ${t("tokens_user")}, ${digits(g.value / n, 3)} ${t("tokens_gpu")}` }; };
    const series = list.map((s, i) => ({ name: s.on, cls: `look${i + 1}`, points: s.points.map((a) => point(a, i)) })), all = series.flatMap((s) => s.points), slo = 1 / Number(state.tpot);
    const xs = all.map((p) => p.x), ys = all.flatMap((p) => [p.lo, p.hi]);
    pareto.replaceChildren(el("h2", {}, t("pareto")), el("figcaption", {}, fill("pareto_said", String(LOADS.at(-1)))), plot({ width: widthOf(pareto), height: 380, name: t("pareto"), words: all.map((p) => p.label).join("; "), x: { label: t("tokens_user"), log: true, lo: Math.min(...xs, ...positive(slo)) * 0.8, hi: Math.max(...xs, ...positive(slo)) * 1.2, show: (v) => digits(v, 2) }, y: { label: t("tokens_gpu"), log: true, lo: Math.min(...ys) * 0.8, hi: Math.max(...ys) * 1.2, show: (v) => digits(v, 2) }, series, marks: positive(slo).map((x) => ({ x, name: `${t("sla")} ${fmt(Number(state.tpot), "s")}` })) }),
      pictureActions(t("pareto"), () => pareto.querySelector("svg.chart"), () => [[t("system"), t("concurrent"), t("tokens_user"), "lo", "hi", t("tokens_gpu"), "lo", "hi"], ...list.flatMap((s, i) => s.points.map((a) => { const p = point(a, i); return [s.on, a.concurrency, p.x, p.xlo, p.xhi, p.y, p.lo, p.hi]; }))]));
  }
  const update = answering(answer, async () => {
    if (systems().length < 2) { rows = []; answer.replaceChildren(el("p", { className: "answer" }, t("two_at_least")), el("p", { className: "repair" }, ["8x h100-sxm5", "8x h200-sxm", "8x b200"].filter((s) => !systems().includes(s)).slice(0, 1).map((s) => chip(s, () => { set({ vs: [...systems(), s].join("|") }, true); tellNames(); })))); draw(); table.replaceChildren(); return; }
    rows = await Promise.all(systems().map(weigh));
    const good = rows.filter((r) => r.time), by = (k) => good.filter((r) => r[k]?.value != null).sort((a, b) => a[k].value - b[k].value)[0], fast = by("time"), cheap = by("money");
    if (!good.length) { const wrong = rows.find((r) => r.error); answer.replaceChildren(wrong ? fault(wrong.error) : el("p", { className: "answer bad" }, t("none_does"))); } else answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts(serving() ? "c_fast_serve" : "c_fast"), el("strong", {}, fast.on), num(fast.time, "s", { label: t(serving() ? "tpot_p90" : "run_time"), ...(serving() ? { formula: `${fast.a.n_requests} requests simulated, p90` } : about(fast.a, runSeconds(fast.a) ? "run" : "step")) })), ...(cheap ? [" ", ...sentence(parts("c_cheap"), el("strong", {}, cheap.on), num(cheap.money, "usd", serving() ? { label: t("per_m") } : about(cheap.a, "cost")))] : [])));
    if (good.length) pocket(answer, [t("role_fastest"), fast.on], ...(cheap ? [[t("role_cheapest"), cheap.on]] : []));
    table.replaceChildren(manyTable([t("system"), t(serving() ? "tpot_p90" : "run_time"), t(serving() ? "per_m" : "cost"), ...(serving() ? [] : [t("energy")]), t("fit"), t("certainty"), t("plan")], (h, i) => i > 0 && i < (serving() ? 3 : 4), rows.map((r) => {
      if (r.error) return el("tr", {}, el("th", { scope: "row" }, r.on), el("td", { colSpan: serving() ? 5 : 6 }, fault(r.error)));
      const cell = (k, unit, more) => el("td", { className: "r" }, r[k]?.value != null ? num(r[k], unit, more) : "–"), c = certainty(r.time);
      return el("tr", {}, el("th", { scope: "row" }, r.on), cell("time", "s", { label: `${r.on}: ${t("run_time")}` }), cell("money", "usd", { label: `${r.on}: ${t("cost")}` }), ...(serving() ? [] : [cell("energy", "J", { label: `${r.on}: ${t("energy")}` })]), el("td", { className: r.fits ? (r.sure === false ? "warn" : "") : "bad" }, r.fits ? (serving() ? t("fits_yes") : `${t(r.sure === false ? "fits_probably" : "fits_yes")}, ${partOf(fmt(r.a.memory_B.total, "B"), fmt(r.a.memory_B.capacity, "B", 3))}`) : r.why), el("td", {}, c ? `×÷ ${digits(c, 3)}` : "–"), el("td", { className: "planned" }, r.plan));
    })));
    draw();
    drawPareto();
  });
  keepDrawn(figures, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
