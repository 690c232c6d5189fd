// What was measured more than once, drawn over time with the range in which results usually lie. It knows records, not where they are kept.
import { t, fill } from "/words.js";
import { fmt, digits } from "/format.js";
import { el } from "/dom.js";
import { plot } from "/draw.js";

const CHARTS = 12, POINTS = 200;
const counted = /^(n_warmup|n_unsteady|n_outliers|n_wrong)$/; // of the run, not of what was measured
const implied = /^(count|root|redop|m|n|k)$/; // said by another parameter, or usual
const said = { size_B: (v) => fmt(v, "B", 4), in_place: (v) => t(v ? "in_place" : "out_of_place"), n_ranks: (v) => fill("n_ranks", v), n_workers: (v) => fill("n_workers", v) };

function nameOf({ kind, backend, params = {} }) {
  const shape = params.m ? `${params.m}×${params.n}×${params.k}` : "";
  const rest = Object.entries(params).filter(([k]) => !counted.test(k) && !implied.test(k) && k !== "in_place").map(([k, v]) => said[k]?.(v) ?? (typeof v === "string" ? v : `${k.replace(/_(B|s|Bps|Hz)$/, "").replaceAll("_", " ")} ${v}`));
  return [kind, backend, shape, ...rest, "in_place" in params ? said.in_place(params.in_place) : ""].filter(Boolean).join(" · ");
}
// The same thing measured on the same machine: every parameter counts that the run did not count itself.
function groupsOf(records) {
  const groups = new Map();
  for (const r of records) {
    const m = r.metrics?.[0];
    if (!m) continue;
    const key = JSON.stringify([r.machine, r.kind, r.backend, m.name, Object.entries(r.params ?? {}).filter(([k]) => !counted.test(k)).sort()]);
    if (!groups.has(key)) groups.set(key, { name: nameOf(r), machine: r.machine_name ?? "", metric: m.name, points: [] });
    groups.get(key).points.push({ time: 1000 * r.time_s, value: m.median });
  }
  return [...groups.values()];
}
const unitOf = (metric) => (/Bps$/.test(metric) ? "Bps" : /flopps$/.test(metric) ? "flopps" : /_s$/.test(metric) ? "s" : "1");
const middle = (list) => [...list].sort((a, b) => a - b)[list.length >> 1];
const two = (n) => String(n).padStart(2, "0");
// Days as 11-18; within two days the time too, of the reader's clock.
const dated = (days) => (ms) => { const d = new Date(ms), day = `${two(d.getMonth() + 1)}-${two(d.getDate())}`; return days > 2 ? day : `${day} ${two(d.getHours())}:${two(d.getMinutes())}`; };

function chart({ name, machine, metric, points }, width, several) {
  const list = points.sort((a, b) => a.time - b.time).slice(-POINTS), values = list.map((p) => p.value), unit = unitOf(metric);
  const median = middle(values), usual = 4.45 * middle(values.map((v) => Math.abs(v - median))); // 3 σ of what is normally distributed
  const lo = list[0].time, hi = list.at(-1).time, title = several ? `${name} · ${machine}` : name;
  const ends = [{ x: lo, y: median, lo: median - usual, hi: median + usual }, { x: hi, y: median, lo: median - usual, hi: median + usual }];
  return el("figure", { className: "past" }, el("figcaption", {}, title), plot({ width, height: 180, name: title, words: `${values.length}: ${fmt(median, unit, 3)}`, legend: false,
    x: { label: "", lo, hi, ticks: [0, 1, 2, 3].map((i) => lo + ((hi - lo) * i) / 3), show: dated((hi - lo) / 864e5) }, y: { label: t(unit === "s" ? "time_axis" : "rate_axis"), lo: Math.min(...values, median - usual) * 0.95, hi: Math.max(...values, median + usual) * 1.05, show: (v) => fmt(v, unit) },
    series: [{ cls: "main", dots: false, points: ends }, { kind: "points", cls: "measured", points: list.map((p) => ({ x: p.time, y: p.value, value: p.value, label: fmt(p.value, unit, 3) })) }] }));
}
export function histories(records, width) {
  const groups = groupsOf(records), again = groups.filter((g) => g.points.length > 1), several = new Set(groups.map((g) => g.machine)).size > 1;
  if (!again.length) return [el("p", { className: "dim" }, t(groups.length ? "once" : "nothing_stored"))];
  return [...again.slice(0, CHARTS).map((g) => chart(g, width, several)), again.length > CHARTS ? el("p", { className: "dim" }, fill("further", digits(again.length - CHARTS, 3))) : ""];
}
