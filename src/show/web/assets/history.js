// What was measured more than once, drawn over time. It knows records, not where they are kept.
import { t, fill } from "/words.js";
import { fmt, digits } from "/format.js";
import { el } from "/dom.js";
import { plot } from "/draw.js";

const CHARTS = 12, POINTS = 200;
const counted = /^(n_warmup|n_unsteady|n_outliers|n_wrong)$/; // of the run, not of what was measured
const implied = /^(count|root|redop|m|n|k)$/; // said by another parameter, or usual
const said = { size_B: (v) => fmt(v, "B", 4), in_place: (v) => t(v ? "in_place" : "out_of_place"), n_ranks: (v) => fill("n_ranks", v), n_workers: (v) => fill("n_workers", v), n_threads: (v) => fill("n_threads", v) };

function nameOf({ kind, backend, params = {} }) {
  const shape = params.m ? `${params.m}×${params.n}×${params.k}` : "";
  const rest = Object.entries(params).filter(([k]) => !counted.test(k) && !implied.test(k) && k !== "in_place").map(([k, v]) => said[k]?.(v) ?? (typeof v === "string" ? v : `${k.replace(/_(B|s|Bps|Hz)$/, "").replaceAll("_", " ")} ${v}`));
  return [t(`k_${kind}`).replace(/^k_/, ""), backend, shape, ...rest, "in_place" in params ? said.in_place(params.in_place) : ""].filter(Boolean).join(" · ");
}
// The same thing measured on the same machine: every parameter counts that the run did not count itself.
function groupsOf(records, judged) {
  const groups = new Map(), verdicts = new Map(judged.map((j) => [j.id, j]));
  for (const r of records) {
    const m = r.metrics?.[0];
    if (!m) continue;
    const key = JSON.stringify([r.machine, r.kind, r.backend, m.name, Object.entries(r.params ?? {}).filter(([k]) => !counted.test(k)).sort()]);
    if (!groups.has(key)) groups.set(key, { name: nameOf(r), machine: r.machine_name ?? "", metric: m.name, points: [] });
    groups.get(key).points.push({ time: 1000 * r.time_s, value: m.median });
    groups.get(key).judged ??= verdicts.get(r.id);
  }
  return [...groups.values()];
}
const unitOf = (metric) => (/Bps$/.test(metric) ? "Bps" : /flopps$/.test(metric) ? "flopps" : /_s$/.test(metric) ? "s" : "1");
const bad = /^(low|high|impossible|wrong)$/;
const two = (n) => String(n).padStart(2, "0");
// Days as 11-18; within two days the time too, of the reader's clock.
const dated = (days) => (ms) => { const d = new Date(ms), day = `${two(d.getMonth() + 1)}-${two(d.getDate())}`; return days > 2 ? day : `${day} ${two(d.getHours())}:${two(d.getMinutes())}`; };

const ENOUGH = 5; // quiet results before a band is drawn
// `judged`: the newest result as `jeoul check` judges it; there is no other verdict here, and the band is what it expects of this machine's own past.
function chart({ name, machine, metric, points, judged }, width, several) {
  const list = points.sort((a, b) => a.time - b.time).slice(-POINTS), values = list.map((p) => p.value), unit = unitOf(metric), { expected_lo: low, expected_hi: high } = judged ?? {};
  const band = judged?.basis === "history" && judged.n_history >= ENOUGH && low > 0 && high > low && judged.metric === metric;
  const lo = list[0].time, hi = list.at(-1).time, days = (hi - lo) / 864e5, show = dated(days), title = several ? `${name} · ${machine}` : name, all = [...values, ...(band ? [low, high] : [])];
  const said = [fill("last_was", fmt(values.at(-1), unit, 3)), judged ? t(judged.verdict) : "", band ? fill("usual", `${fmt(low, unit, 3)}–${fmt(high, unit, 3)}`) : ""].filter(Boolean).join(" · ");
  return el("figure", { className: "past" }, el("figcaption", {}, title), el("p", { className: bad.test(judged?.verdict) ? "bad" : "dim" }, said), plot({ width, height: 170, name: title, words: `${values.length}: ${said}`, legend: false,
    x: { label: "", lo: lo - 0.02 * (hi - lo), hi: hi + 0.02 * (hi - lo), ticks: [lo, hi], show }, y: { label: t(unit === "s" ? "time_axis" : "rate_axis"), log: all.every((v) => v > 0), lo: 0.95 * Math.min(...all), hi: 1.05 * Math.max(...all), show: (v, n) => fmt(v, unit, n) },
    series: [{ cls: "main", dots: false, points: band ? [lo, hi].map((x) => ({ x, y: judged.expected, lo: low, hi: high })) : [] }, { kind: "points", cls: "measured", points: list.map((p) => ({ x: p.time, y: p.value, value: p.value, label: fmt(p.value, unit, 3) })) }] }));
}
export function histories(records, judged, width) {
  const groups = groupsOf(records, judged), again = groups.filter((g) => g.points.length > 1), several = new Set(groups.map((g) => g.machine)).size > 1;
  if (!again.length) return [el("p", { className: "dim" }, t(groups.length ? "once" : "nothing_stored"))];
  const columns = Math.max(1, Math.floor(width / 340)), each = Math.floor((width - 28 * (columns - 1)) / columns);
  return [el("div", { className: "pasts" }, again.slice(0, CHARTS).map((g) => chart(g, each, several))), again.length > CHARTS ? el("p", { className: "dim" }, fill("further", digits(again.length - CHARTS, 3))) : ""];
}
