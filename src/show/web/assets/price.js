import { state, set, hello } from "/state.js";
import { t, parts } from "/words.js";
import { fmt, money, inMoney, moneyText } from "/format.js";
import { el, num, fault, field, copyButton, sentence, answering, keepFocus } from "/dom.js";
import { ask, commandLine, tidy } from "/api.js";
import { lists, precisions } from "/case.js";
import { planLine, planText } from "/plan.js";
import { plot, svg, shapes, timeTicks, widthOf, keepDrawn } from "/draw.js";

const ways = ["rent", "spot", "buy-new", "buy-used"], marks = { rent: ["up", 3], spot: ["diamond", 4], "buy-new": ["round", 1], "buy-used": ["square", 2] }; // as in reports
const wayName = (how) => t(how.replace("-", "_"));
const old = (date) => date && Date.now() - Date.parse(date) > 183 * 864e5;

export function show(main) {
  const answer = el("section", { className: "result" }), chart = el("figure"), cards = el("section");
  let found = [], picked = [], chosen = null;
  const hows = () => (state.how === "rent,spot,buy" ? ways : state.how.split(",").filter(Boolean));
  const request = (how) => tidy({ model: state.model, tokens: Math.round(Number(state.tokens)) || state.tokens, how, region: state.region, budget: state.budget, deadline: state.deadline, only: state.only });
  const toggles = el("div", { className: "chips", role: "group", "aria-label": t("how") }, el("span", {}, t("how")), ways.map((w) => el("button", { type: "button", className: "chip", "aria-pressed": String(hows().includes(w)), onclick: (e) => {
    const now = new Set(hows());
    now.has(w) ? now.delete(w) : now.add(w);
    e.target.setAttribute("aria-pressed", String(now.has(w)));
    set({ how: [...now].join(",") });
  } }, wayName(w))));
  main.append(el("section", { className: "question" }, ...lists(), el("div", { className: "fields" }, field("model", { list: "l-models", width: 14 }), field("tokens", { width: 8 }), field("budget", { placeholder: "3000 USD", width: 10 }), field("deadline", { placeholder: "3 d", width: 6 }), field("region", { placeholder: "seoul", width: 9 }), field("only", { label: t("vendor"), placeholder: "h100,rtx-4090", width: 14 }))), toggles, answer, chart,
    el("div", { className: "actions" }, copyButton(() => commandLine("recommend", request(hows().join(","))))), cards);
  const describe = (p) => `${p.system}, ${wayName(p.how)}, ${p.provider ?? ""}: ${money(p.cost_usd.value)}, ${fmt(p.run_s.value, "s")}`;
  const cost = (p) => num(p.cost_usd, "usd", { label: `${t("cost")}: ${p.system}`, formula: p.how === "rent" || p.how === "spot" ? `${fmt(p.machine_usd_per_hour, "usd", 3)}/h × ${fmt(p.work_h * 3600, "s", 3)}` : `${p.item ?? p.system} + ${fmt(p.energy_kWh, "1", 3)} kWh`, source: [p.provider, p.item, p.region].filter(Boolean).join(", "), date: p.price_date, origin: "estimated" });
  const time = (p) => num(p.run_s, "s", { label: `${t("run_time")}: ${p.system}`, formula: `dp ${p.dp} · tp ${p.tp} · pp ${p.pp} · ZeRO-${p.zero} · ${p.precision} · ${t("global_batch")} ${p.global_batch}` });
  function draw() {
    if (!found.length) { chart.replaceChildren(); return; }
    const w = widthOf(chart), all = found.filter((p) => p.cost_usd?.value > 0 && p.run_s?.value > 0);
    // the front over all ways together: nothing is cheaper and faster
    const front = all.filter((p) => !all.some((q) => q !== p && q.cost_usd.value <= p.cost_usd.value && q.run_s.value <= p.run_s.value)).sort((a, b) => a.run_s.value - b.run_s.value);
    const point = (p) => ({ x: p.run_s.value, y: inMoney(p.cost_usd.value), label: describe(p), shape: marks[p.how][0], ring: p === chosen ? t("advised") : "", r: front.includes(p) || p === chosen ? 6 : 4.5, cls: `look${marks[p.how][1]} ${front.includes(p) || p === chosen ? "front" : ""} ${old(p.price_date) ? "old" : ""} ${picked.includes(p) ? "picked" : ""}`, onclick: () => { picked = picked.includes(p) ? picked.filter((q) => q !== p) : [...picked, p].slice(-4); keepFocus(chart, draw); compare(); } });
    const xs = all.map((p) => p.run_s.value), ys = all.map((p) => inMoney(p.cost_usd.value));
    chart.replaceChildren(el("figcaption", {}, `${t("front")} · ${t("pick")}`), el("ul", { className: "ways" }, ways.filter((h) => all.some((p) => p.how === h)).map((h) => el("li", { className: `look${marks[h][1]}` }, svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", { d: shapes[marks[h][0]](0, 0, 5) })), wayName(h)))), plot({ width: w, height: w < 520 ? 300 : 400, name: t("price"), words: front.map(describe).join("; "), legend: false,
      x: { label: t("run_time"), log: true, lo: Math.min(...xs) * 0.8, hi: Math.max(...xs) * 1.25, ticks: timeTicks(Math.min(...xs) * 0.8, Math.max(...xs) * 1.25), show: (v) => fmt(v, "s", 3) }, y: { label: t("cost"), log: true, lo: Math.min(...ys) * 0.8, hi: Math.max(...ys) * 1.25, show: (v) => moneyText(v, 1) },
      series: [{ kind: "stairs", cls: "main", dots: false, points: front.map((p) => ({ x: p.run_s.value, y: inMoney(p.cost_usd.value) })) }, { kind: "points", points: all.map(point) }] }));
  }
  function compare() {
    const list = picked.length ? picked : chosen ? [chosen] : [];
    cards.replaceChildren(el("h2", {}, t("compared")), el("div", { className: "cards" }, list.map((p) => el("article", { className: "card" }, el("h3", {}, p.system), el("p", {}, `${wayName(p.how)} · ${[p.provider, p.region].filter(Boolean).join(", ")}`), el("p", {}, t("cost"), " ", cost(p)), el("p", {}, t("run_time"), " ", time(p)), el("p", { className: "dim" }, `${t("plan")}: ${planText(p)}`), (p.caveats ?? []).some((c) => c.key === "price-age") ? "" : el("p", { className: "dim" }, `${t("price_of")} ${p.price_date ?? "–"}${old(p.price_date) ? ` (${t("old")})` : ""}`), (p.caveats ?? []).map((c) => el("p", { className: "dim" }, (c.said ?? c.text).replace(/(\d) (?=%|[A-Za-z])/g, "$1\u00a0")))))));
  }
  const update = answering(answer, async () => {
    const list = [];
    let problem = null, best = null;
    await Promise.all(hows().map(async (how) => {
      try {
        const a = await ask("recommend", request(how));
        for (const p of [...(a.front ?? []), ...Object.values(a.best ?? {}), a.pick]) if (p && p.system && !list.some((q) => q.system === p.system && q.how === p.how && q.provider === p.provider)) list.push(p);
        if (a.pick && (!best || a.pick.cost_usd.value < best.cost_usd.value)) best = a.pick;
      } catch (e) { problem = e; }
    }));
    found = list; picked = []; chosen = best && list.find((q) => q.system === best.system && q.how === best.how && q.provider === best.provider);
    if (best) answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts("p_answer"), el("strong", {}, wayName(best.how)), `${best.system}${best.provider ? ` (${best.provider})` : ""}`, cost(best), time(best))), planLine({ ...best, model: state.model }));
    else answer.replaceChildren(problem ? fault(problem) : el("p", { className: "answer" }, t("p_none")));
    draw(); compare();
  });
  keepDrawn(chart, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
