// The catalogue to browse and search: accelerators, systems, models and prices, each with source and date; a GPU's prices over time. A record goes back into the question.
import { state, set } from "/state.js";
import { t, fill } from "/words.js";
import { fmt, digits, grouped, inMoney, moneyText } from "/format.js";
import { el, field, manyTable, fragment, answering, keepFocus } from "/dom.js";
import { fault, chip, again, repair } from "/repair.js";
import { ask } from "/api.js";
import { plot, widthOf } from "/draw.js";
import { pictureActions } from "/picture.js";

const kept = {}, rows = () => (innerWidth < 520 ? 10 : 25);
const value = (f) => f?.value ?? f;
const dated = (r) => el("span", { className: "nb" }, r.date ?? "–");
const listed = async (kind) => (kept[kind] ??= (await ask("catalog list", { kind }))[kind]); // asked once for a page
const rate = (p) => p.on_demand_usdps ?? p.spot_median_usdps ?? p.spot_min_usdps;
const perGpu = (p) => (rate(p) != null ? (rate(p) * 3600) / (p.n_gpu || 1) : p.price_usd / (p.n_gpu || 1));
// Who says it, as a link to where: the publisher's name, not the record's.
const publisher = (r) => { const [one] = (r.sources ?? []).filter((q) => q.id === r.source), name = one?.title?.split(/[:;(]/)[0].trim() ?? r.source ?? "–"; return /^https?:/.test(one?.url ?? "") ? el("a", { href: one.url.split(" ")[0], rel: "noreferrer", target: "_blank" }, name) : name; };
// Columns of each kind: [head, cell, what a figure is ordered by]
const kinds = {
  gpus: { id: (r) => r.id, columns: () => [["GPU", (r) => r.name], [t("year"), (r) => String(r.year ?? "–"), (r) => r.year], [t("memory_short"), (r) => fmt(value(r.mem_B), "B", 3), (r) => value(r.mem_B)], [t("bandwidth"), (r) => fmt(value(r.mem_Bps), "Bps", 3), (r) => value(r.mem_Bps)], [t("bf16_rate"), (r) => fmt(value(r.bf16_dense_flopps), "flopps", 3), (r) => value(r.bf16_dense_flopps)], [t("power"), (r) => fmt(value(r.tdp_W), "W", 3), (r) => value(r.tdp_W)], [t("d_source"), publisher], [t("date"), dated]] },
  systems: { id: (r) => r.id, columns: () => [[t("system"), (r) => r.name], ["GPU", (r) => `${r.n_gpu ?? 1}x ${r.gpu ?? "–"}`], [t("link"), (r) => r.join_text ?? r.join ?? "–"], [t("d_source"), publisher], [t("date"), dated]] },
  models: { id: (r) => r.id, columns: () => [[t("model"), (r) => r.name], [t("family"), (r) => r.family ?? "–"], [t("parameters"), (r) => (value(r.params) ? digits(value(r.params) / 1e9, 3) + " B" : "–"), (r) => value(r.params)], [t("layers"), (r) => String(r.n_layers ?? "–"), (r) => r.n_layers], [t("seq"), (r) => grouped(r.context || r.seq || 0), (r) => r.context || r.seq], [t("d_source"), publisher], [t("date"), dated]] },
  prices: { id: (r) => `${r.provider} ${r.item}`, columns: () => [[t("provider"), (r) => r.provider], [t("item"), (r) => r.item], ["GPU", (r) => `${r.n_gpu ?? 1}x ${r.gpu ?? r.gpu_text ?? "–"}`], [t("region"), (r) => r.region ?? "–"], [t("per_gpu"), (r) => moneyText(inMoney(perGpu(r)), 3) + (rate(r) != null ? t("hour_of") : ""), perGpu], [t("basis"), (r) => r.basis ?? r.kind], [t("d_source"), (r) => (/^https?:/.test(r.url ?? "") ? el("a", { href: r.url.split(" ")[0], rel: "noreferrer", target: "_blank" }, new URL(r.url.split(" ")[0]).host) : r.url ?? "–")], [t("date"), dated]] },
};
const said = (r) => [r.id, r.name, r.provider, r.item, r.gpu, r.gpu_text, r.region, r.vendor, r.family, r.architecture, ...(r.aliases ?? [])].filter(Boolean).join(" ").toLowerCase();

export function show(main) {
  const answer = el("section", { className: "result small" }), table = el("div", { className: "tablebox doc", tabIndex: 0, role: "region", "aria-label": t("catalogue") }), one = el("section"), map = el("figure");
  let order = null, shown = rows(); // order: [column, the largest first]
  const tabs = el("div", { className: "chips", role: "group", "aria-label": t("catalogue") }, Object.keys(kinds).map((k) => el("button", { type: "button", className: "chip", "aria-pressed": String(state.kind === k), onclick: (e) => { for (const b of tabs.querySelectorAll(".chip")) b.setAttribute("aria-pressed", String(b === e.target)); order = null; set({ kind: k, record: "" }, true); } }, t("k_" + k))));
  const search = field("find", { label: t("find"), placeholder: "hopper 80gb", width: 22 });
  search.querySelector("input").addEventListener("input", (e) => set({ find: e.target.value }));
  main.append(tabs, el("div", { className: "fields" }, search), answer, one, map, table);
  const use = (r) => (state.kind === "models" ? [chip(fill("ask_of", r.id), () => again({ view: "ask", model: r.id })), chip(fill("serve_of", r.id), () => again({ view: "serve", model: r.id }))] : state.kind === "prices" ? [] : [chip(fill("ask_of", r.id), () => again({ view: "ask", on: r.id })), chip(fill("compare_of", r.id), () => again({ view: "compare", vs: [...state.vs.split("|"), r.id].slice(-8).join("|") }))]);
  // Rents of one GPU-hour by the day they were read: the cheapest, the middle and the dearest.
  async function prices(gpu, box) {
    const list = (await listed("prices")).filter((p) => rate(p) != null && p.gpu === gpu && /^\d{4}-\d{2}/.test(p.date ?? ""));
    const months = [...new Set(list.map((p) => p.date.slice(0, 7)))].sort();
    if (!months.length) return;
    const time = (p) => Date.parse(p.date.length > 7 ? p.date : `${p.date}-01`), points = list.map((p) => ({ x: time(p), y: inMoney(perGpu(p)), cls: p.on_demand_usdps != null ? "look3 front" : "look4 front", shape: p.on_demand_usdps != null ? "up" : "diamond", label: `${p.provider} ${p.item}, ${p.region ?? ""}: ${moneyText(inMoney(perGpu(p)), 3)}${t("hour_of")}, ${p.date}` }));
    const xs = points.map((p) => p.x), ys = points.map((p) => p.y), day = 864e5, show_ = (ms) => new Date(ms).toISOString().slice(0, 7), lo = Math.min(...xs) - 20 * day, hi = Math.max(...xs) + 20 * day;
    const draw = plot({ width: widthOf(main), height: 260, name: fill("price_history", gpu), words: points.slice(0, 12).map((p) => p.label).join("; "), legend: false, x: { label: t("date"), lo, hi, ticks: [0, 1, 2, 3, 4].map((i) => lo + ((hi - lo) * i) / 4), show: show_ }, y: { label: t("per_gpu"), log: true, lo: Math.min(...ys) * 0.8, hi: Math.max(...ys) * 1.25, show: (v) => moneyText(v, 2) }, series: [{ kind: "points", points }] });
    box.replaceChildren(el("figcaption", {}, `${fill("price_history", gpu)} · ▲ ${t("rent")} · ◆ ${t("spot")}`), draw, pictureActions(fill("price_history", gpu), () => draw, () => [[t("provider"), t("item"), t("region"), t("basis"), `${t("per_gpu")} USD/h`, t("date"), t("d_source")], ...list.map((p) => [p.provider, p.item, p.region ?? "", p.basis ?? "", perGpu(p), p.date, p.url ?? ""])]));
  }
  // The record in a sentence, what it rents for, its prices over time; every field with its source below.
  async function open(r) {
    const box = el("figure"), detail = el("details", { className: "more", open: state.kind !== "gpus" }, el("summary", {}, t("all_fields"))), rents = state.kind === "gpus" ? (await listed("prices")).filter((p) => rate(p) != null && p.gpu === r.id).map(perGpu).sort((a, b) => a - b) : [];
    const facts = state.kind === "gpus" ? [fmt(value(r.mem_B), "B", 3), fmt(value(r.mem_Bps), "Bps", 3), value(r.bf16_dense_flopps) ? `${fmt(value(r.bf16_dense_flopps), "flopps", 3)} bf16` : "", value(r.tdp_W) ? fmt(value(r.tdp_W), "W", 3) : ""].filter(Boolean).join(" · ") : state.kind === "models" && value(r.params) ? `${digits(value(r.params) / 1e9, 3)} B · ${fill("n_layers", r.n_layers ?? "–")}` : state.kind === "prices" ? `${moneyText(inMoney(perGpu(r)), 3)}${rate(r) != null ? t("hour_of") : ""} · ${r.date}` : `${r.n_gpu ?? 1}x ${r.gpu ?? "–"}`;
    answer.replaceChildren(el("p", { className: "answer" }, el("strong", {}, state.kind === "prices" ? `${r.provider}: ${r.item}` : r.name), `: ${facts}.`, rents.length ? ` ${fill("rents", moneyText(inMoney(rents[rents.length >> 1]), 2), grouped(rents.length), moneyText(inMoney(rents[0]), 2), moneyText(inMoney(rents.at(-1)), 2))}` : ""), repair(...use(r)));
    one.replaceChildren(box, state.kind === "prices" ? "" : detail);
    if (state.kind === "prices") return;
    try { detail.append(el("div", { className: "detail" }, fragment(await ask("catalog show", { name: r.id, as: "html" })))); } catch (e) { detail.append(fault(e)); }
    if (state.kind === "gpus") prices(r.id, box).catch(() => {});
  }
  // All accelerators by memory and rate; what was found is strong, the newest of it named.
  function drawMap(all, found) {
    const known = (r) => value(r.mem_B) > 0 && value(r.bf16_dense_flopps) > 0, list = all.filter(known);
    if (state.kind !== "gpus" || state.record || found.filter(known).length < 2) { map.replaceChildren(); return; }
    const inside = new Set(found), best = [...found].filter(known).sort((a, b) => (b.year ?? 0) - (a.year ?? 0) || value(b.bf16_dense_flopps) - value(a.bf16_dense_flopps)).slice(0, 12), gib = (r) => value(r.mem_B) / 2 ** 30, tera = (r) => value(r.bf16_dense_flopps) / 1e12, ends = (l) => [Math.min(...l), Math.max(...l)];
    const points = list.sort((a, b) => inside.has(a) - inside.has(b)).map((r) => ({ x: gib(r), y: tera(r), name: best.includes(r) ? r.id : "", cls: `look1 ${inside.has(r) ? "front" : "old"}`, label: `${r.name}: ${fmt(value(r.mem_B), "B", 3)}, ${fmt(value(r.bf16_dense_flopps), "flopps", 3)}`, onclick: inside.has(r) ? () => set({ record: r.id }, true) : null })), [xlo, xhi] = ends(list.map(gib)), [ylo, yhi] = ends(list.map(tera));
    map.replaceChildren(el("figcaption", {}, t("map_said")), plot({ width: widthOf(map), height: 340, name: t("map_said"), words: best.map((r) => `${r.name} ${fmt(value(r.bf16_dense_flopps), "flopps", 3)}`).join("; "), legend: false, names: true, x: { label: `${t("memory_short")}, GiB`, log: true, lo: xlo, hi: xhi, ticks: [2, 4, 8, 16, 32, 64, 128, 256, 512].filter((v) => v >= xlo && v <= xhi), show: (v) => String(v) }, y: { label: `${t("bf16_rate")}, TFLOP/s`, log: true, lo: ylo, hi: yhi, show: (v) => digits(v, 3) }, series: [{ kind: "points", r: 4, points }] }),
      pictureActions(t("catalogue"), () => map.querySelector("svg.chart"), () => [["GPU", t("year"), "B", "FLOP/s"], ...found.map((r) => [r.id, r.year ?? "", value(r.mem_B) ?? "", value(r.bf16_dense_flopps) ?? ""])]));
  }
  const update = answering(answer, async () => {
    const kind = kinds[state.kind] ? state.kind : "gpus", { id, columns } = kinds[kind], heads = columns();
    try {
      const all = await listed(kind), words = state.find.toLowerCase().split(/[\s,]+/).filter(Boolean), found = all.filter((r) => words.every((w) => said(r).includes(w)));
      const wanted = words.join("-"), near = (r) => (wanted && r.id === wanted ? 2 : wanted && r.id.startsWith(wanted) ? 1 : 0);
      if (kind === "gpus") found.sort((a, b) => near(b) - near(a) || (b.year ?? 0) - (a.year ?? 0) || (value(b.bf16_dense_flopps) ?? 0) - (value(a.bf16_dense_flopps) ?? 0));
      if (kind === "prices") found.sort((a, b) => (b.date ?? "").localeCompare(a.date ?? "") || perGpu(a) - perGpu(b));
      if (order) { const key = (r) => heads[order[0]][2]?.(r) ?? -Infinity; found.sort((a, b) => (order[1] ? key(b) - key(a) : key(a) - key(b))); }
      const chosen = found.find((r) => id(r) === state.record), most = chosen ? 5 : shown, newest = kind === "gpus" && found.length ? ` ${fill("newest", found.toSorted((a, b) => (b.year ?? 0) - (a.year ?? 0))[0].name, found.toSorted((a, b) => (value(b.bf16_dense_flopps) ?? 0) - (value(a.bf16_dense_flopps) ?? 0))[0].name, found.toSorted((a, b) => (value(b.mem_B) ?? 0) - (value(a.mem_B) ?? 0))[0].name)}` : "";
      answer.replaceChildren(el("p", { className: "answer" }, found.length ? fill(words.length ? "n_found" : "n_all", grouped(found.length), t("k_" + kind), ...(words.length ? [grouped(all.length)] : [])) + newest : fill("t_nothing", state.find)), ...(found.length ? [] : [repair(chip(fill("r_without", t("find")), () => again({ find: "" })))]));
      const head = ([h, , key], i) => (key ? el("button", { type: "button", className: "sort", "aria-label": fill("order_by", h), onclick: () => { order = [i, order?.[0] === i ? !order[1] : true]; update(); } }, h, order?.[0] === i ? (order[1] ? " ↓" : " ↑") : "") : h), row = (r) => el("tr", {}, heads.map(([, cell, figure], i) => (i ? el("td", { className: figure ? "r" : "" }, cell(r)) : el("th", { scope: "row" }, kind === "prices" ? cell(r) : el("button", { type: "button", className: "num", onclick: () => { set({ record: id(r) }, true); main.scrollIntoView({ block: "start" }); } }, cell(r))))));
      const made = manyTable(heads.map(([h]) => h), (h, i) => Boolean(heads[i][2]), found.slice(0, most).map(row));
      made.querySelectorAll("thead th").forEach((th, i) => th.replaceChildren(head(heads[i], i)));
      keepFocus(table, () => table.replaceChildren(...(found.length ? [made, found.length > most ? el("p", { className: "actions" }, el("button", { type: "button", className: "quiet", onclick: () => { if (chosen) again({ record: "" }); else { shown += 50; update(); } } }, fill("n_more", grouped(found.length - most)))) : ""] : [])));
      drawMap(all, found);
      if (chosen) await open(chosen); else one.replaceChildren();
    } catch (e) { answer.replaceChildren(fault(e)); table.replaceChildren(); }
  });
  update();
  return (change) => { if ("find" in change || "kind" in change || "record" in change || "lang" in change) update(); };
}
