// Up to eight systems side by side for one job, trained or served: time, money, energy, fit and how certain each is; serving also as tokens a user against tokens a GPU.
import { state, set } from "/state.js";
import { t, parts, fill, partOf } from "/words.js";
import { fmt, fmtLike, inMoney, moneyText, digits, sizeOfUnit, dated } from "/format.js";
import { el, num, field, copyButton, manyTable, sentence, answering, pocket } from "/dom.js";
import { fault, chip } from "/repair.js";
import { ask, caseOf, serveRequest, commandLine } from "/api.js";
import { lists } from "/case.js";
import { about, runSeconds, fitWords } from "/answer.js";
import { planText, planBeside } from "/plan.js";
import { dots, widthOf, keepDrawn, positive } from "/draw.js";
import { drawPareto } from "/pareto.js";
import { pictureActions } from "/picture.js";

const MOST = 8;
export function show(main) {
  const answer = el("section", { className: "result" }), figures = el("figure"), pareto = el("figure"), table = el("div", { className: "tablebox doc", tabIndex: 0, role: "region", "aria-label": t("compare") }), names = el("div", { className: "chips", role: "group", "aria-label": t("systems") });
  let rows = [];
  const systems = () => [...new Set([state.on, ...state.vs.split("|")])].filter(Boolean).slice(0, MOST), kind = state.job, serving = () => kind === "serve"; // of this view: another job is another view
  const added = el("input", { id: "f-vs", list: "l-systems", placeholder: t("e_system"), spellcheck: false, autocomplete: "off", onchange: (e) => { const on = e.target.value.trim(); if (!on) return; e.target.value = ""; set({ vs: [...new Set([...systems().slice(1 - MOST), on])].join("|") }, true); tellNames(); } });
  function tellNames() {
    names.replaceChildren(el("span", {}, t("systems")), ...systems().map((s) => s === state.on ? el("div", { className: "chip still" }, `${s} · ${t("asked")}`) : el("button", { type: "button", className: "chip", "aria-label": `${s}: ${t("take_away")}`, onclick: () => { set({ vs: systems().filter((q) => q !== s).join("|") }, true); tellNames(); added.focus(); } }, `${s} ×`)), el("label", { className: "field" }, el("span", { className: "sr" }, t("add_system")), added));
  }
  const job = el("div", { className: "chips", role: "group", "aria-label": t("job") }, ["train", "serve"].map((j) => el("button", { type: "button", className: "chip", "aria-pressed": String(state.job === j), onclick: () => { set({ job: j }, true); dispatchEvent(new Event("popstate")); } }, t("job_" + j))));
  main.append(el("section", { className: "question" }, ...lists(), job, el("div", { className: "fields" }, field("model", { label: t("model"), list: "l-models", width: 14 }), ...(serving() ? [field("prompt", { type: "number" }), field("answer", { type: "number" }), field("rate", { type: "number" }), field("ttft", { type: "number", label: t("ttft_s"), unit: ["ms", 1000] }), field("tpot", { type: "number", label: t("tpot_s"), unit: ["ms", 1000] })] : [field("tokens", { width: 8 }), field("batch", { type: "number", width: 6 }), field("seq", { type: "number", width: 7 })])), names), answer, figures, table, pareto,
    el("div", { className: "actions" }, copyButton(() => systems().map((on) => (serving() ? commandLine("serve", asService(on)) : commandLine("predict", { ...caseOf(), on }))).join("; ")), el("button", { type: "button", className: "quiet", onclick: async (e) => { const b = e.target; try { await navigator.clipboard.writeText(location.href); b.textContent = t("copied"); } catch { prompt(t("share"), location.href); } } }, t("share")), el("button", { type: "button", className: "quiet", onclick: () => print() }, t("print"))));
  tellNames();
  const asService = (on) => serveRequest({ on });
  // One row: what each column needs, whatever the job is.
  async function weigh(on) {
    try {
      if (serving()) {
        const a = await ask("serve", asService(on));
        return { on, a, fits: a.fits && a.keeps_up, sure: a.meets, why: a.fits ? fill("holds_only", digits(a.rate_held_per_s ?? 0, 2)) : fill("needs", fmt(a.weights_B, "B"), fmt(a.capacity_B, "B", 3)), ...(a.fits && a.keeps_up ? { first: a.ttft_s.p90, time: a.tpot_s.p90, money: a.usd_per_Mtoken_out, energy: a.energy_J_per_token ? { value: a.energy_J_per_token } : null } : {}), plan: fill("v_plan", a.n_copies > 1 ? fill("n_copies", a.n_copies) : t("one_of"), `${a.n_gpus} GPU`, a.n_gpus_system, a.weights) };
      }
      const a = await ask("predict", { ...caseOf(), on });
      const run = runSeconds(a);
      return { on, a, fits: a.fits, why: fill("needs", fmt(a.memory_B.total, "B"), fmt(a.memory_B.capacity, "B", 3)), time: a.fits ? run ?? a.step_s : null, money: a.fits ? a.cost_usd : null, energy: a.fits ? a.energy_J : null, plan: planText(a), sure: fitWords(a).key === "a_fits" };
    } catch (e) { return { on, error: e }; }
  }
  // Best of a column, and those whose interval holds it: within the noise there is no winner.
  const bestOf = (k) => { const list = rows.filter((r) => r.time && r[k]?.value != null).sort((a, b) => a[k].value - b[k].value), [best] = list; return { best, alike: list.filter((r) => r !== best && (r[k].lo ?? r[k].value) <= best[k].value) }; };
  // What is compared: key, name, unit; of a service against its target.
  const measures = serving() ? [["first", t("ttft_p90"), "s", "ttft"], ["time", t("tpot_p90"), "s", "tpot"], ["money", t("per_m"), "usd"], ["energy", t("energy_token"), "J"]] : [["time", t("run_time"), "s"], ["money", t("cost"), "usd"], ["energy", t("energy"), "J"]];
  function draw() {
    const good = rows.filter((r) => r.time), w = widthOf(figures);
    if (!good.length) { figures.replaceChildren(); return; }
    const line = ([k, name, unit, target]) => {
      const usd = unit === "usd", list = good.filter((r) => r[k]?.value != null).map((r) => ({ name: r.on, ...Object.fromEntries(["value", "lo", "hi"].map((x) => [x, usd ? inMoney(r[k][x] ?? r[k].value) : r[k][x] ?? r[k].value])) }));
      if (!list.length) return [];
      const best = Math.min(...list.map((r) => r.value)), most = Math.max(...list.map((r) => r.hi)), like = Math.max(...list.map((r) => r.value)), [limit] = positive(Number(state[target]));
      return [el("figcaption", {}, name), dots({ width: w, name, by: usd ? 1 : sizeOfUnit(most, unit), rows: list.map((r) => ({ ...r, best: k !== "energy" && r.value === best })), show: usd ? (v) => moneyText(v, 3) : (v) => fmt(v, unit, 2, like), tick: usd ? (v) => moneyText(v, 3) : (v) => fmtLike(v, most, unit), limit: target && limit && { value: limit, name: `${t("sla")} ${fmt(limit, "s")}` } })];
    };
    figures.replaceChildren(...measures.flatMap(line), pictureActions(t("compare"), () => figures.querySelector("svg.chart"), () => [[t("system"), ...measures.flatMap(([, name, unit]) => [`${name} ${unit === "usd" ? "USD" : unit}`, "lo", "hi"])], ...rows.map((r) => [r.on, ...measures.flatMap(([k]) => ["value", "lo", "hi"].map((x) => r[k]?.[x] ?? ""))])]));
  }
  const update = answering(answer, async () => {
    if (systems().length < 2) { rows = []; answer.replaceChildren(el("p", { className: "answer" }, t("two_at_least")), el("p", { className: "repair" }, ["8x h100-sxm5", "8x h200-sxm", "8x b200"].filter((s) => !systems().includes(s)).slice(0, 1).map((s) => chip(s, () => { set({ vs: [...systems(), s].join("|") }, true); tellNames(); })))); draw(); table.replaceChildren(); return; }
    rows = await Promise.all(systems().map(weigh));
    const good = rows.filter((r) => r.time), { best: fast, alike: asFast } = bestOf("time"), { best: cheap, alike: asCheap } = bestOf("money"), also = (key, list) => (list.length ? ` ${fill(key, list.map((r) => r.on).join(", "))}` : "");
    if (!good.length) { const wrong = rows.find((r) => r.error); answer.replaceChildren(wrong ? fault(wrong.error) : el("p", { className: "answer bad" }, t("none_does"))); } else answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts(serving() ? "c_fast_serve" : "c_fast"), el("strong", {}, fast.on), num(fast.time, "s", { label: t(serving() ? "tpot_p90" : "run_time"), ...(serving() ? { formula: `${fast.a.n_requests} requests simulated, p90` } : about(fast.a, runSeconds(fast.a) ? "run" : "step")) })), also("c_as_fast", asFast), ...(cheap ? [" ", ...sentence(parts("c_cheap"), el("strong", {}, cheap.on), num(cheap.money, "usd", { ...(serving() ? { label: t("per_m") } : about(cheap.a, "cost")), digits: 3 })), also("c_as_cheap", asCheap)] : [])));
    if (good.length) pocket(answer, [t("role_fastest"), fast.on], ...(cheap ? [[t("role_cheapest"), cheap.on]] : []));
    const first = rows.find((q) => q.a);
    table.replaceChildren(manyTable([t("system"), ...measures.map(([, name]) => name), t(serving() ? "targets" : "fit"), t("plan")], (h, i) => i > 0 && i <= measures.length, rows.map((r) => {
      if (r.error) return el("tr", {}, el("th", { scope: "row" }, r.on), el("td", { colSpan: measures.length + 2 }, fault(r.error)));
      const rent = r.a.rent, cell = ([k, name, unit]) => el("td", { className: "r" }, r[k]?.value != null ? num(r[k], unit, { ...(k === "money" && !serving() ? about(r.a, "cost") : {}), ...(unit === "usd" ? { digits: 3, url: rent?.url } : {}), label: `${r.on}: ${name}`, like: Math.max(...rows.map((q) => q[k]?.value ?? 0)) }) : "–", k === "money" && r[k] && rent ? el("small", { className: "from dim" }, `${rent.provider}, ${dated(rent.date)}`) : "");
      return el("tr", {}, el("th", { scope: "row" }, r.on), ...measures.map(cell), el("td", { className: r.fits ? (r.sure === false ? "warn" : "") : "bad" }, r.fits ? (serving() ? t(r.sure ? "v_met_short" : "v_missed_short") : `${t(r.sure === false ? "fits_probably" : "fits_yes")}, ${partOf(fmt(r.a.memory_B.total, "B"), fmt(r.a.memory_B.capacity, "B", 3))}`) : r.why), el("td", { className: "planned" }, serving() || r === first ? r.plan : planBeside(r.a, first.a)));
    })));
    draw();
    if (serving()) drawPareto(pareto, systems());
  });
  keepDrawn(figures, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
