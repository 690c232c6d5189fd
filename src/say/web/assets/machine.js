import { t, partOf } from "/words.js";
import { fmt, digits } from "/format.js";
import { el, num, fault, fragment } from "/dom.js";
import { ask } from "/api.js";
import { plot, widthOf } from "/draw.js";

const meter = (name, frac, text) => el("div", { className: "meter" }, el("span", {}, name), el("progress", { max: 1, value: Math.min(1, frac || 0), "aria-label": name }), el("span", { className: "r" }, text));
export function show(main) {
  // every part has its heading at once: what looks at the machine takes a moment
  const part = (name) => el("section", { className: "waiting" }, el("h2", {}, t(name)), el("p", { className: "dim" }, t("looking")));
  const live = el("section"), found = part("found"), checked = part("checked"), past = part("history");
  const told = (section, ...what) => { section.className = ""; section.replaceChildren(...what); };
  main.append(live, checked, found, past);
  const source = new EventSource("/api/v1/live");
  source.addEventListener("state", (e) => {
    const s = JSON.parse(e.data), used = s.mem_total_B - s.mem_available_B;
    live.replaceChildren(el("h2", {}, t("live")), meter("RAM", used / s.mem_total_B, partOf(fmt(used, "B"), fmt(s.mem_total_B, "B", 3))), el("p", { className: "dim" }, `${t("load")} ${digits(s.load ?? 0, 2)}${s.gpus.length ? "" : ` · ${t("no_gpu")}`}`),
      ...s.gpus.map((g, i) => el("div", {}, el("h3", {}, `GPU ${i} · ${g.name}`), meter(t("busy"), g.busy_frac, digits(100 * (g.busy_frac ?? 0), 2) + " %"), meter(t("memory"), g.mem_used_B / g.mem_B, partOf(fmt(g.mem_used_B, "B"), fmt(g.mem_B, "B", 3))), meter(t("power"), g.power_W / g.limit_W, partOf(fmt(g.power_W, "W"), fmt(g.limit_W, "W", 3))), el("p", { className: "dim" }, `${t("temperature")} ${g.temperature_C} °C · ${t("clock")} ${partOf(fmt(g.sm_Hz, "Hz", 3), fmt(g.sm_max_Hz, "Hz", 3))}`))));
  });
  ask("check", { as: "html" }).then((html) => told(checked, el("h2", {}, t("checked")), fragment(html)), (e) => told(checked, el("h2", {}, t("checked")), el("p", { className: "dim" }, e.message)));
  ask("probe", { as: "html" }).then((html) => told(found, el("h2", {}, t("found")), fragment(html)), (e) => told(found, fault(e)));
  ask("store list", {}).then((list) => {
    const of = {};
    for (const r of list.records ?? []) { const m = r.metrics?.[0]; if (m) (of[[r.kind, r.backend, ...Object.entries(r.params ?? {}).filter(([k]) => /size_B|model|dtype|^m$|test|n_ranks|n_workers|batch/.test(k)).map(([k, v]) => `${k} ${v}`)].join(" · ")] ??= []).push({ time: 1000 * r.time_s, v: m.median, name: m.name }); }
    const again = Object.entries(of).filter(([, l]) => l.length > 1).slice(0, 12);
    told(past, el("h2", {}, t("history")), ...again.map(([name, l]) => {
      const box = el("figure", {}, el("figcaption", {}, name)), ys = l.map((p) => p.v), unit = /Bps$/.test(l[0].name) ? "Bps" : /flopps$/.test(l[0].name) ? "flopps" : /_s$/.test(l[0].name) ? "s" : "1";
      const median = [...ys].sort((a, b) => a - b)[ys.length >> 1], mad = [...ys.map((v) => Math.abs(v - median))].sort((a, b) => a - b)[ys.length >> 1];
      main.append(box);
      box.append(plot({ width: widthOf(main), height: 180, name, words: `${ys.length}: ${fmt(median, unit, 3)}`, legend: false, x: { label: "", lo: Math.min(...l.map((p) => p.time)), hi: Math.max(...l.map((p) => p.time)), show: (v) => new Date(v).toISOString().slice(5, 10) }, y: { label: unit, lo: Math.min(...ys) * 0.9, hi: Math.max(...ys) * 1.1, show: (v) => fmt(v, unit) }, series: [{ cls: "main", dots: false, points: l.map((p) => ({ x: p.time, y: median, lo: median - 4.45 * mad, hi: median + 4.45 * mad })) }, { kind: "points", cls: "measured", points: l.map((p) => ({ x: p.time, y: p.v, label: fmt(p.v, unit, 3) })) }] }));
      return box;
    }), ...(again.length ? [] : [el("p", { className: "dim" }, t(Object.keys(of).length ? "once" : "nothing_stored"))]));
  }, () => told(past, el("h2", {}, t("history")), el("p", { className: "dim" }, t("nothing_stored"))));
  return (change) => { if ("view" in change || "lang" in change || "cur" in change) source.close(); };
}
