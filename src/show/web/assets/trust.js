import { state } from "/state.js";
import { t, parts, fill } from "/words.js";
import { fmt, digits, grouped, percent } from "/format.js";
import { el, num, field, choice, sentence, manyTable, answering } from "/dom.js";
import { fault, repair, chip, again } from "/repair.js";
import { ask } from "/api.js";
import { openDrawer } from "/drawer.js";
import { plot, heat, widthOf, keepDrawn } from "/draw.js";
import { pictureActions } from "/picture.js";

const kept = {}; // a set is scored once for a page
let card = null; // how wrong the release was on what it had not seen
const unseen = async (name) => {
  card ??= (await (await fetch("/scorecard-history.csv")).text()).trim().split("\n").map((line) => line.split(","));
  const row = card.filter((r) => r[1] === "source-out" && r[2] === name).at(-1), at = (key) => Number(row[card[0].indexOf(key)]);
  return row ? { p50: at("median_abs_ln"), p90: at("p90_abs_ln"), inside: at("coverage80") } : null;
};
const NAMED = 12; // of what the map leaves out
const ln = (r) => Math.log(r.predicted / r.measured);
const quantile = (list, q) => { const s = [...list].sort((a, b) => a - b); return s[Math.min(s.length - 1, Math.floor(q * s.length))]; };
const unitOf = { s: "s", Bps: "Bps", flopps: "flopps" };

export function show(main) {
  const answer = el("section", { className: "result" }), chart = el("figure"), map = el("figure"), table = el("div", { className: "tablebox doc", tabIndex: 0, role: "region", "aria-label": t("trust") });
  let sets = null, blind = null;
  main.append(el("div", { className: "fields" }, choice("set", ["train_llm", "train_vtrain", "train_other", "infer_llm", "collectives"].map((s) => [s, t(s)])), field("filter", { label: t("gpu_filter"), placeholder: "H100, Llama …", width: 14 })), answer, el("div", { className: "pair even" }, chart, table), map);
  const rowsOf = () => { const words = state.filter.toLowerCase().split(/[\s,]+/).filter(Boolean); return sets.flatMap((s) => s.worst.map((r) => ({ ...r, unit: unitOf[s.unit] ?? "1", set: s.set }))).filter((r) => r.predicted > 0 && r.measured > 0 && words.every((w) => `${r.gpu} ${r.what}`.toLowerCase().includes(w))); };
  const inside = (r) => Math.abs(ln(r)) <= r.half_width_ln;
  const open = (r) => openDrawer({ label: `${r.gpu} · ${r.what}`, value: r.predicted, lo: r.predicted * Math.exp(-r.half_width_ln), hi: r.predicted * Math.exp(r.half_width_ln), unit: r.unit, text: fmt(r.predicted, r.unit, 3), formula: `${t("measured")} ${fmt(r.measured, r.unit, 3)} · ${t("ratio")} ${digits(r.predicted / r.measured, 3)}${r.why ? ` · ${r.why}` : ""}`, source: `${r.source ?? ""} (${r.file}, ${t("row")} ${r.line})`, url: /^https?:/.test(r.url ?? "") ? r.url : undefined, origin: "estimated" });
  // Where it errs: the median of each GPU and model. The question's own come first, then by turns those with the largest errors and those with the most
  // runs, so that no large error is left out; what is left out is named.
  function drawMap(rows) {
    const model = (r) => r.what.split(",")[0].trim(), plain = (s) => s.toLowerCase().replace(/[^a-z0-9]/g, ""), by = new Map();
    for (const r of rows) { const k = `${r.gpu}|${model(r)}`; by.set(k, [...(by.get(k) ?? []), Math.abs(ln(r))]); }
    if (by.size < 2) { map.replaceChildren(); return; }
    const all = [...by].map(([k, l]) => { const [row, column] = k.split("|"), value = Math.expm1(quantile(l, 0.5)); return { row, column, value, n: l.length, label: `${row}, ${column}: ${percent(value)} (${l.length})` }; });
    const bold = { row: (name) => plain(state.on).includes(plain(name).replace(/\d+gb$/, "")), column: (name) => plain(state.model) === plain(name) };
    const first = (side, cells, n) => {
      const runs = new Map(), names = (list) => [...new Set(list.map((c) => c[side]))];
      for (const c of cells) runs.set(c[side], (runs.get(c[side]) ?? 0) + c.n);
      const often = [...runs].sort((a, b) => b[1] - a[1]).map(([name]) => name), wrong = names([...cells].sort((a, b) => b.value - a.value));
      return [...new Set([...often.filter(bold[side]), ...wrong.flatMap((name, i) => [name, often[i]])])].slice(0, n).sort((a, b) => bold[side](b) - bold[side](a) || often.indexOf(a) - often.indexOf(b));
    };
    const models = first("column", all, widthOf(map) < 520 ? 5 : 10), gpus = first("row", all.filter((c) => models.includes(c.column)), 12);
    const is = (c) => gpus.includes(c.row) && models.includes(c.column), cells = all.filter(is), left = all.filter((c) => !is(c)), names = [...new Set(left.flatMap((c) => (models.includes(c.column) ? [`${c.row}, ${c.column}`] : [c.column])))];
    const draw_ = heat({ width: widthOf(map), name: t("error_map"), most: 0.5, cells, rows: gpus.map((name) => ({ name, pinned: bold.row(name) })), columns: models.map((name) => ({ name, pinned: bold.column(name) })), show: (v) => digits(100 * v, 2) });
    map.replaceChildren(el("figcaption", {}, t("error_map"), el("span", { className: "dim" }, ` · ${t("error_map_said")}`)), draw_, left.length ? el("p", { className: "dim left" }, fill("map_left", percent(Math.max(...left.map((c) => c.value))), [...names.slice(0, NAMED), ...(names.length > NAMED ? [fill("map_more", names.length - NAMED)] : [])].join(" · "))) : "",
      pictureActions(t("error_map"), () => draw_, () => [["GPU", t("model"), t("error"), "n"], ...all.map((c) => [c.row, c.column, c.value, c.n])]));
  }
  function draw() {
    if (!sets) return;
    const rows = rowsOf(), w = widthOf(chart);
    if (!rows.length) { answer.replaceChildren(el("p", { className: "answer" }, fill("t_none", state.filter)), repair(chip(fill("r_without", t("gpu_filter")), () => again({ filter: "" })))); chart.replaceChildren(); map.replaceChildren(); table.replaceChildren(); return; }
    const errors = rows.map((r) => Math.abs(ln(r))), p50 = quantile(errors, 0.5), p90 = quantile(errors, 0.9);
    const figure = (v, label, formula) => num(v, "frac", { label, ...formula });
    const shown = [grouped(rows.length), figure(Math.expm1(p50), "p50", { formula: "exp(median |ln(predicted/measured)|) − 1" }), figure(Math.expm1(p90), "p90", { formula: "exp(p90 |ln(predicted/measured)|) − 1" })];
    const card = { source: "docs/SCORECARD.md" }, large = blind && !state.filter; // the card is of whole sets
    answer.replaceChildren(el("p", { className: "answer" }, ...(large ? sentence(parts("t_unseen"), figure(Math.expm1(blind.p50), "p50", card), figure(Math.expm1(blind.p90), "p90", card), figure(blind.inside, t("inside"), card)) : sentence(parts("t_answer"), ...shown))), large ? el("p", { className: "second" }, ...sentence(parts("t_fitted"), ...shown)) : "");
    const few = rows.length > 1500 ? rows.filter((_, i) => i % Math.ceil(rows.length / 1500) === 0) : rows;
    const all = few.flatMap((r) => [r.measured, r.predicted]), lo = Math.min(...all) * 0.8, hi = Math.max(...all) * 1.25, show_ = (v) => fmt(v, rows[0].unit, 1);
    chart.replaceChildren(el("figcaption", {}, el("span", { className: "within" }, "●"), ` ${t("inside")} · `, el("span", { className: "bad" }, `● ${t("outside")}`)), plot({ width: w, square: true, name: t("trust"), words: `${rows.length}, p50 ${percent(Math.expm1(p50))}, p90 ${percent(Math.expm1(p90))}`, legend: false, x: { label: t("x_measured"), log: true, lo, hi, show: show_ }, y: { label: t("y_predicted"), log: true, lo, hi, show: show_ }, series: [{ cls: "ideal", dots: false, points: [{ x: lo, y: lo }, { x: hi, y: hi }] }, { kind: "points", r: 3.5, points: few.map((r) => ({ x: r.measured, y: r.predicted, cls: inside(r) ? "soft" : "out", label: `${r.gpu} · ${r.what}: ${fmt(r.predicted, r.unit, 3)} / ${fmt(r.measured, r.unit, 3)}`, value: r.predicted, onclick: () => open(r) })) }] }));
    drawMap(rows);
    const alike = new Map(); // one of each GPU and model, the farthest; the others are counted
    for (const r of [...rows].sort((a, b) => Math.abs(ln(b)) - Math.abs(ln(a)))) { const k = `${r.gpu}|${r.what.split(",")[0]}`; if (alike.has(k)) alike.get(k).n += !inside(r); else alike.set(k, { r, n: 0 }); }
    const worst = [...alike.values()].slice(0, w < 420 ? 6 : 8);
    table.replaceChildren(el("h2", {}, t("t_worst")), manyTable([t("run_of"), t("x_measured"), t("y_predicted"), t("error")], (h, i) => i > 0, worst.map(({ r, n }) => el("tr", {}, el("th", { scope: "row" }, `${r.gpu} `, el("button", { type: "button", className: "num", "data-value": r.predicted, onclick: () => open(r) }, r.what), n ? el("small", { className: "dim" }, ` ${fill("t_alike", n)}`) : ""), el("td", { className: "r" }, fmt(r.measured, r.unit, 3)), el("td", { className: "r" }, fmt(r.predicted, r.unit, 3)), el("td", { className: "r" }, (ln(r) > 0 ? "+" : "−") + percent(Math.abs(r.predicted / r.measured - 1)))))),
      pictureActions(t("trust"), () => chart.querySelector("svg.chart"), () => [["GPU", t("run_of"), t("x_measured"), t("y_predicted"), t("error"), t("inside"), t("d_source")], ...rows.map((r) => [r.gpu, r.what, r.measured, r.predicted, r.predicted / r.measured - 1, inside(r) ? 1 : 0, r.source ?? ""])]));
  }
  const update = answering(answer, async () => {
    try { blind = await unseen(state.set); sets = (kept[state.set] ??= (await ask("validate", { set: state.set, worst: 100000 })).sets.filter((s) => s.worst?.length && s.set === state.set)); draw(); } catch (e) { sets = null; answer.replaceChildren(fault(e)); chart.replaceChildren(); }
  });
  keepDrawn(chart, draw);
  update();
  return (change) => { if ("filter" in change) draw(); else if (!("view" in change)) update(); };
}
