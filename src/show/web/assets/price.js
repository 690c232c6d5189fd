import { state, set } from "/state.js";
import { t, parts, fill } from "/words.js";
import { fmt, money, inMoney, moneyText, range, isOld, dated } from "/format.js";
import { el, num, field, copyButton, sentence, answering, keepFocus, manyTable, pocket } from "/dom.js";
import { fault, repair, chip, again } from "/repair.js";
import { ask, commandLine, tidy } from "/api.js";
import { lists } from "/case.js";
import { planLine, planText } from "/plan.js";
import { plot, svg, shapes, timeTicks, widthOf, keepDrawn } from "/draw.js";
import { pictureActions } from "/picture.js";

const ways = ["rent", "spot", "buy-new", "buy-used"], marks = { rent: ["up", 3], spot: ["diamond", 4], "buy-new": ["round", 1], "buy-used": ["square", 2] }; // as in reports
const wayName = (how) => t(how.replace("-", "_"));
// "2 × 8x b200", as the command names them; the offer's own name stands below.
const machine = (p) => { const per = p.n_gpus / p.n_machines; return `${p.n_machines > 1 ? `${p.n_machines} × ` : ""}${per > 1 ? `${per}x ` : ""}${p.gpu}`; };
const same = (p, q) => p && q && p.system === q.system && p.how === q.how && p.provider === q.provider;
const roles = ["pick", "runner_up", "cheapest", "fastest"];

export function show(main) {
  const answer = el("section", { className: "result" }), best = el("section", { className: "best" }), charts = ["rented_panel", "bought_panel"].map((name) => [name, el("figure")]), cards = el("section");
  let found = [], picked = [], named = {};
  const hows = () => (state.how === "rent,spot,buy" ? ways : state.how.split(",").filter(Boolean));
  const request = (how) => tidy({ model: state.model, tokens: Math.round(Number(state.tokens)) || state.tokens, how, region: state.region, budget: state.budget, deadline: state.deadline, only: state.only });
  const toggles = el("div", { className: "chips", role: "group", "aria-label": t("how") }, el("span", {}, t("how")), ways.map((w) => el("button", { type: "button", className: "chip", "aria-pressed": String(hows().includes(w)), onclick: (e) => {
    const now = new Set(hows());
    now.has(w) ? now.delete(w) : now.add(w);
    e.target.setAttribute("aria-pressed", String(now.has(w)));
    set({ how: [...now].join(",") });
  } }, wayName(w))));
  main.append(el("section", { className: "question" }, ...lists(), el("div", { className: "fields" }, field("model", { list: "l-models", width: 14 }), field("tokens", { width: 8 }), field("budget", { placeholder: t(state.cur === "KRW" ? "e_budget_krw" : "e_budget"), width: 10 }), field("deadline", { placeholder: t("e_deadline"), width: 6 }), field("region", { placeholder: t("e_region"), width: 9 }), field("only", { label: t("vendor"), placeholder: t("e_only"), width: 14 }))), toggles, answer, best, ...charts.map(([, box]) => box),
    el("div", { className: "actions" }, copyButton(() => commandLine("recommend", request(hows().join(","))))), cards);
  const describe = (p) => `${machine(p)}, ${wayName(p.how)}, ${p.provider ?? ""}: ${money(p.cost_usd.value)} (${range(p.cost_usd, "usd")}), ${fmt(p.wall_s.value, "s")} (${range(p.wall_s, "s")})`;
  const cost = (p) => num(p.cost_usd, "usd", { digits: 3, label: `${t("cost")}: ${machine(p)}`, formula: p.how === "rent" || p.how === "spot" ? `${fmt(p.machine_usd_per_hour, "usd", 3)}/h × ${fmt(p.work_h * 3600, "s", 3)}` : `${p.item ?? p.system} + ${fmt(p.energy_kWh, "1", 3)} kWh`, source: [p.provider, p.item, p.region].filter(Boolean).join(", "), date: p.price_date, origin: "estimated" });
  const time = (p) => num(p.wall_s, "s", { label: `${t("run_time")}: ${machine(p)}`, formula: `dp ${p.dp} · tp ${p.tp} · pp ${p.pp} · ZeRO-${p.zero} · ${p.precision} · ${t("global_batch")} ${p.global_batch}` });
  const frontOf = (all) => all.filter((p) => !all.some((q) => q !== p && q.cost_usd.value <= p.cost_usd.value && q.wall_s.value <= p.wall_s.value)).sort((a, b) => a.wall_s.value - b.wall_s.value);
  const choose = (p) => { picked = picked.includes(p) ? picked.filter((q) => q !== p) : [...picked, p].slice(-4); for (const [, box] of charts) keepFocus(box, () => drawOne(box)); compare(); };
  // Rented and bought have a panel each: a machine is paid once and used for years.
  function drawOne(box) {
    const [name] = charts.find(([, b]) => b === box), bought = name === "bought_panel", all = found.filter((p) => p.how.startsWith("buy") === bought && p.cost_usd?.value > 0 && p.wall_s?.value > 0);
    if (!all.length) { box.replaceChildren(); return; }
    const w = widthOf(box), front = frontOf(all), roleOf = (p) => roles.find((r) => same(named[r], p));
    const point = (p) => ({ p, x: p.wall_s.value, y: inMoney(p.cost_usd.value), label: describe(p), shape: marks[p.how][0], ring: same(p, named.pick), name: front.includes(p) || roleOf(p) ? `${roleOf(p) ? `${t("role_" + roleOf(p))}: ` : ""}${machine(p)}` : "", r: front.includes(p) || roleOf(p) ? 6 : 4.5, cls: `look${marks[p.how][1]} ${front.includes(p) || roleOf(p) ? "front" : ""} ${isOld(p.price_date) ? "old" : ""} ${picked.includes(p) ? "picked" : ""}`, onclick: () => choose(p),
      ...(front.includes(p) || roleOf(p) ? { lo: inMoney(p.cost_usd.lo), hi: inMoney(p.cost_usd.hi), xlo: p.wall_s.lo, xhi: p.wall_s.hi } : {}) });
    const points = all.map(point), xs = points.flatMap((p) => [p.xlo ?? p.x, p.xhi ?? p.x]), ys = points.flatMap((p) => [p.lo ?? p.y, p.hi ?? p.y]);
    const weight = (p) => (roleOf(p.p) ? roles.indexOf(roleOf(p.p)) : 9);
    points.sort((a, b) => weight(a) - weight(b));
    box.replaceChildren(el("figcaption", {}, t(name), el("span", { className: "dim" }, ` · ${t("front")} · ${t("pick")}`)), el("ul", { className: "ways" }, ways.filter((h) => all.some((p) => p.how === h)).map((h) => el("li", { className: `look${marks[h][1]}` }, svg("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true" }, svg("path", { d: shapes[marks[h][0]](0, 0, 5) })), wayName(h)))), plot({ width: w, height: w < 520 ? 300 : 360, name: t(name), words: front.map(describe).join("; "), legend: false, names: true,
      x: { label: t("run_time"), log: true, lo: Math.min(...xs) * 0.8, hi: Math.max(...xs) * 1.25, ticks: timeTicks(Math.min(...xs) * 0.8, Math.max(...xs) * 1.25), show: (v) => fmt(v, "s", 3) }, y: { label: t("cost"), log: true, lo: Math.min(...ys) * 0.8, hi: Math.max(...ys) * 1.25, show: (v) => moneyText(v, 1) },
      series: [{ kind: "stairs", cls: "main", dots: false, points: front.map((p) => ({ x: p.wall_s.value, y: inMoney(p.cost_usd.value) })) }, { kind: "points", points }] }),
    pictureActions(name, () => box.querySelector("svg.chart"), () => [[t("system"), t("how"), t("provider"), `${t("run_time")} s`, "lo", "hi", `${t("cost")} USD`, "lo", "hi", t("price_of")], ...all.map((p) => [p.system, wayName(p.how), p.provider ?? "", p.wall_s.value, p.wall_s.lo, p.wall_s.hi, p.cost_usd.value, p.cost_usd.lo, p.cost_usd.hi, p.price_date ?? ""])]));
  }
  const draw = () => { for (const [, box] of charts) drawOne(box); };
  const card = (p, title) => el("article", { className: `card${title && same(p, named.pick) ? " pick" : ""}` }, el("p", { className: "role" }, title ?? ""), el("h2", {}, machine(p)), el("p", { className: "dim" }, [wayName(p.how), p.provider, p.region].filter(Boolean).join(" · ")), el("p", { className: "figures" }, cost(p)), el("p", { className: "figures" }, time(p)), el("p", { className: "dim" }, `${planText(p)} · ${t("global_batch")} ${p.global_batch}`), el("div", { className: "dim" }, p.why && title ? el("p", {}, told(p.said ?? p.why)) : "", el("p", {}, `${t("price_of")} ${p.price_date ? dated(p.price_date) : "–"}`), (p.caveats ?? []).filter((c) => !["price-age", "spot"].includes(c.key)).map((c) => el("p", {}, told(c.said ?? c.text)))));
  const told = (words) => words.replace(/(\d) (?=%|[A-Za-z])/g, "$1\u00a0"), spotSaid = (list) => { const c = list.flatMap((p) => p.caveats ?? []).find((q) => q.key === "spot"); return c ? [el("p", { className: "dim" }, told(c.said ?? c.text))] : []; };
  // Always there: what is advised and what it is chosen against. One that has two of the parts stands once.
  function tellBest() {
    const list = [];
    for (const r of roles.filter((key) => named[key])) { const was = list.find((x) => same(x.p, named[r])); if (was) was.titles.push(t("role_" + r)); else list.push({ p: named[r], titles: [t("role_" + r)] }); }
    best.replaceChildren(...(list.length ? [el("div", { className: "cards" }, list.map(({ p, titles }) => card(p, titles.join(" · ")))), ...spotSaid(list.map((x) => x.p))] : []));
  }
  const compare = () => cards.replaceChildren(...(picked.length ? [el("h2", {}, t("compared")), el("div", { className: "cards" }, picked.map((p) => card(p)))] : []));
  // Why nothing was found, and the one thing that would change it.
  function tellNone(a) {
    const near = a.nearest, most = Object.entries(a.against ?? {}).filter(([k]) => k !== "nothing").sort((x, y) => y[1] - x[1])[0];
    const limits = ["deadline", "budget", "region", "only"].filter((k) => state[k]), chips = [];
    if (near?.misses === "wait") { const h = Math.ceil(near.wall_s.hi / 3600), limit = near.wall_s.hi < 7200 ? `${Math.ceil(near.wall_s.hi / 60)} min` : h < 72 ? `${h} h` : `${Math.ceil(h / 24)} d`; chips.push(chip(`${t("deadline")} ${limit}`, () => again({ deadline: limit }))); }
    else if (near?.misses === "budget") { const step = 10 ** Math.floor(Math.log10(near.cost_usd.hi) - 1), usd = Math.ceil(near.cost_usd.hi / step) * step; chips.push(chip(`${t("budget")} ${money(usd)}`, () => again({ budget: `${usd} USD` }))); }
    if (!chips.length) chips.push(...limits.slice(0, 1).map((k) => chip(fill("r_without", t(k === "only" ? "vendor" : k)), () => again({ [k]: "" }))));
    if (!chips.length) chips.push(hows().length < ways.length ? chip(t("r_all_ways"), () => again({ how: "rent,spot,buy" })) : chip(t("r_smaller"), () => again({ model: "llama-3-8b" })));
    answer.replaceChildren(el("p", { className: "answer" }, t("p_none"), " ", near ? sentence(parts("p_nearest"), `${wayName(near.how)} ${machine(near)}`, cost(near), time(near)) : most ? fill("p_against", t("x_" + most[0]), String(most[1]), String(a.n_candidates)) : ""), near ? el("p", { className: "second" }, near.said ?? near.why) : "", repair(...chips));
  }
  const update = answering(answer, async () => {
    const list = [], take = (p) => { if (p?.system && !list.some((q) => same(p, q))) list.push(p); };
    try {
      if (!hows().length) throw new Error(t("r_no_way"));
      const a = await ask("recommend", request(hows().join(",")));
      named = Object.fromEntries(roles.map((r) => [r, a[r]]));
      picked = [];
      if (a.pick) { answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts("p_answer"), el("strong", {}, wayName(a.pick.how)), `${machine(a.pick)}${a.pick.provider ? ` (${a.pick.provider})` : ""}`, cost(a.pick), time(a.pick))), planLine({ ...a.pick, model: state.model })); pocket(answer, [t("cost"), money(a.pick.cost_usd.value, 3)], [t("run_time"), fmt(a.pick.wall_s.value, "s")]); } else tellNone(a);
      tellBest();
      const each = [];
      for (const how of a.pick && hows().length > 1 ? hows() : []) each.push(await ask("recommend", request(how)).catch(() => null)); // one after another: a server has one budget for all
      // one way alone has points that all ways together leave out: they are drawn where they contradict no part of the answer
      const within = (p) => p && !(p.cost_usd?.value < a.cheapest?.cost_usd.value || p.wall_s?.value < a.fastest?.wall_s.value);
      for (const b of [a, ...each]) for (const p of [...(b?.front ?? []), ...Object.values(b?.best ?? {}), ...roles.map((r) => b?.[r])]) if (b === a || within(p)) take(p);
    } catch (e) { named = {}; answer.replaceChildren(hows().length ? fault(e) : el("p", { className: "answer" }, e.message), ...(hows().length ? [] : [repair(chip(t("r_all_ways"), () => again({ how: "rent,spot,buy" })))])); tellBest(); }
    found = list;
    draw(); compare();
  });
  keepDrawn(charts[0][1], draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
