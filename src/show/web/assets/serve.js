import { state } from "/state.js";
import { t, parts, fill } from "/words.js";
import { fmt, money, inMoney, moneyText, digits, grouped, percent } from "/format.js";
import { el, num, fragment, slider, field, choice, copyButton, sentence, answering, pocket } from "/dom.js";
import { fault, repair, enough } from "/repair.js";
import { ask, serveRequest, commandLine, tidy } from "/api.js";
import { question } from "/case.js";
import { showChosen } from "/plan.js";
import { plot, stack, widthOf, keepDrawn, positive } from "/draw.js";
import { key } from "/answer.js";
import { drawPareto } from "/pareto.js";
import { pictureActions } from "/picture.js";

const rates = [0.5, 1, 2, 4, 8, 16, 32, 64, 128, 256];
export function show(main) {
  const answer = el("section", { className: "result" }), carried = el("p", { className: "second" }), latency = el("figure"), costs = el("figure"), memory = el("figure"), pareto = el("figure"), all = el("details", { className: "more" }, el("summary", {}, t("more")));
  let last = null, rows = [], ticks = [];
  const base = () => tidy({ model: state.model, on: state.on, prompt: state.prompt, answer: state.answer, weights: state.weights });
  const request = () => serveRequest();
  const around = () => { const r = last.keeps_up ? Number(state.rate) : last.rate_held_per_s || Number(state.rate); return [...new Set([r / 4, r / 2, r, r * 2, r * 4, r * 8, Number(state.rate)].map((v) => Number(v.toPrecision(2))))].sort((a, b) => a - b); };
  const used = () => gpuCount(last.n_gpus_used), gpuCount = (n) => (state.lang === "ko" ? `GPU ${n}장` : `${n} GPU${n > 1 ? "s" : ""}`);
  main.append(question({ verb: "q_serve_verb", end: "q_serve_end" }), el("div", { className: "fields" }, slider("rate", rates, (v) => fill("per_s", v)), field("prompt", { type: "number" }), field("answer", { type: "number" }), choice("weights", [["", t("auto")], ...["bf16", "fp8", "int8", "int4", "awq", "q4_k_m"].map((v) => [v, v])], { label: t("weights_as") }), field("ttft", { type: "number", label: t("ttft_s"), unit: ["ms", 1000] }), field("tpot", { type: "number", label: t("tpot_s"), unit: ["ms", 1000] })), answer, el("div", { className: "pair even" }, latency, costs), memory, pareto, el("div", { className: "actions" }, copyButton(() => commandLine("serve", request()))), all);
  function draw() {
    drawMemory();
    // an overloaded row has no latency: its queue grows for as long as requests come
    const all = rows.filter((r) => r.fits && r.ttft_p90_s), good = all.filter((r) => r.keeps_up), over = all.find((r) => !r.keeps_up);
    if (good.length < 2) { latency.replaceChildren(); costs.replaceChildren(); return; }
    const w = widthOf(latency), of = (k) => good.map((r) => ({ x: r.rate_per_s, y: r[k].value, lo: r[k].lo, hi: r[k].hi, label: `${fill("per_s", r.rate_per_s)}: ${fmt(r[k].value, "s")}` }));
    const x = { label: t("rate"), log: true, lo: all[0].rate_per_s, hi: all.at(-1).rate_per_s, ticks: ticks.filter((v) => all.some((r) => r.rate_per_s === v)), show: (v) => digits(v, 2) }, a = of("ttft_p90_s"), b = of("tpot_p90_s"), ys = [...a, ...b].flatMap((p) => [p.y]);
    const knee = good.find((r) => r.knee), shade = over ? { from: last.rate_held_per_s > good.at(-1).rate_per_s ? last.rate_held_per_s : good.at(-1).rate_per_s, name: t("overload") } : null;
    latency.replaceChildren(el("figcaption", {}, `${t("latency")}, ${fill("on_gpus", used())}`), plot({ width: w, height: 340, name: t("latency"), words: [...a, ...b].map((p) => p.label).join("; "), shade, x, y: { label: t("lat"), log: true, lo: Math.min(...ys, ...positive(Number(state.tpot), Number(state.ttft))) * 0.6, hi: Math.max(...ys, ...positive(Number(state.ttft))) * 1.6, show: (v) => fmt(v, "s", 1) }, series: [{ name: t("ttft"), cls: "main", points: a }, { name: t("tpot"), cls: "second", points: b }], marks: [...(Math.abs(Math.log((last.rate_held_per_s || 1e9) / Number(state.rate))) > 0.02 ? [{ x: Number(state.rate), name: `${t("now")} ${fill("per_s", state.rate)}`, cls: "main" }] : []), ...(last.rate_held_per_s ? [{ x: last.rate_held_per_s, name: `${t("held")} ${fill("per_s", digits(last.rate_held_per_s, 2))}` }] : knee ? [{ x: knee.rate_per_s, name: t("knee") }] : []), { y: Number(state.ttft), name: `${t("sla")} ${fmt(Number(state.ttft), "s")}`, cls: "main" }, { y: Number(state.tpot), name: `${t("sla")} ${fmt(Number(state.tpot), "s")}`, cls: "second" }] }));
    const priced = good.filter((r) => r.usd_per_Mtoken_out);
    if (priced.length < 2) { costs.replaceChildren(); return; }
    const c = priced.map((r) => ({ x: r.rate_per_s, y: inMoney(r.usd_per_Mtoken_out.value), label: `${r.rate_per_s}/s: ${money(r.usd_per_Mtoken_out.value)}` }));
    costs.replaceChildren(el("figcaption", {}, `${t("per_m")}, ${fill("on_gpus", used())}`), plot({ width: widthOf(costs), height: 340, name: t("per_m"), words: c.map((p) => p.label).join("; "), legend: false, shade, x, y: { label: t("cost"), log: true, lo: Math.min(...c.map((p) => p.y)) * 0.7, hi: Math.max(...c.map((p) => p.y)) * 1.4, show: (v) => moneyText(v, 1) }, series: [{ cls: "main", points: c }] }));
  }
  // What the sentence leaves open: how much it carries within the targets, all of the system too, and what a token costs then.
  function tellMost() {
    const within = (r) => r.fits && r.keeps_up && !(r.ttft_p90_s.value > Number(state.ttft)) && !(r.tpot_p90_s.value > Number(state.tpot)), most = rows.findLast(within), copies = Math.floor(last.n_gpus_system / last.n_gpus_used), cost = most?.usd_per_Mtoken_out;
    carried.replaceChildren(...(most && last.keeps_up ? [...sentence(parts("v_most"), used(), num(most.rate_per_s, "1", { label: t("held"), formula: `${t("ttft")} ${fmt(most.ttft_p90_s.value, "s")}, ${t("tpot")} ${fmt(most.tpot_p90_s.value, "s")}` })), copies > 1 ? ` ${fill("v_most_all", gpuCount(copies * last.n_gpus_used), digits(copies * most.rate_per_s, 2))}` : "", cost ? ` ${fill("v_most_cost", money(cost.value, 2))}` : ""] : []));
  }
  // The memory of one GPU: weights, keys and values at this load's peak, room for more, and what the engine takes for itself.
  function drawMemory() {
    if (!last?.fits) { memory.replaceChildren(); return; }
    const room = last.kv_tokens * last.kv_token_B, peak = room * last.kv_max_frac, list = [["weights", last.weights_B, 7], ["m_kv", peak, 1], ["m_room", room - peak, 13], ["m_engine", last.capacity_B - last.weights_B - room, 12]].filter(([, v]) => v > 0).map(([k, value, look]) => ({ name: t(k), key: k, value, look }));
    const least = last.longest_request_tokens, most = Math.floor(last.kv_tokens / least);
    memory.replaceChildren(el("figcaption", {}, t("memory"), el("span", { className: "dim" }, ` · ${fill("m_said", grouped(Math.floor(last.kv_tokens)), grouped(most), grouped(least), percent(last.kv_max_frac))}`)), stack(list, { width: widthOf(memory), name: t("memory"), show: (v) => fmt(v, "B"), limit: last.capacity_B, limitName: fmt(last.capacity_B, "B", 3) }), key(list, "B", last.capacity_B),
      pictureActions("kv", () => memory.querySelector("svg.chart"), () => [[t("memory"), "B"], ...list.map((p) => [p.name, p.value])]));
  }
  const update = answering(answer, async () => {
    try {
      last = await ask("serve", request());
      const cost = last.usd_per_Mtoken_out;
      if (!last.fits) {
        const box = repair(), more = (on) => ask("serve", { ...request(), on }).then((a) => ({ fits: a.fits, text: fill("v_kv", fmt(a.kv_tokens * a.kv_token_B / Math.max(1, a.n_gpus), "B")) }));
        answer.replaceChildren(el("p", { className: "answer" }, el("span", { className: "bad" }, ...sentence(parts("v_fits"), num(last.weights_B, "B", { label: t("weights"), formula: `${last.weights}` }), num(last.capacity_B, "B", { label: t("capacity"), origin: "listed", source: last.system, digits: 3 }), String(last.n_gpus_system)))), box);
        enough(box, state.on, more, (on) => ({ on }));
      }
      if (last.fits && !last.keeps_up) answer.replaceChildren(el("p", { className: "answer" }, ...sentence(parts("v_over"), num(last.rate_held_per_s, "1", { label: t("held"), formula: `${last.n_requests} requests simulated` }), state.rate, num(Number(state.rate) - (last.rate_held_per_s ?? 0), "1", { label: t("overload"), formula: `${state.rate} − ${digits(last.rate_held_per_s ?? 0, 3)}` }))));
      else if (last.fits) answer.replaceChildren(el("p", { className: "answer" }, last.meets ? "" : `${t("v_missed")} `, ...sentence(parts("v_answer"), state.rate, num(last.ttft_s.p90, "s", { label: t("ttft"), formula: `${last.n_requests} requests simulated, p90` }), num(last.tpot_s.p90, "s", { label: t("tpot"), formula: `${last.n_requests} requests simulated, p90` })), " ", ...(cost ? sentence(parts("v_cost"), num(cost, "usd", { label: t("per_m"), formula: `${last.n_gpus_used} × ${fmt(last.rent.usd_per_gpu_s * 3600, "usd", 3)}/h ÷ ${fmt(last.output_tokens_per_s.value, "1", 3)} tokens/s`, source: `${last.rent.provider}, ${last.rent.item}`, url: last.rent.url, date: last.rent.date }), used()) : []), last.n_gpus_used < last.n_gpus_system ? ` ${state.lang === "ko" ? fill("v_enough", `${last.n_gpus_system}장`, `${last.n_gpus_used}장`) : fill("v_enough", last.n_gpus_used, last.n_gpus_system)}` : ""));
      if (last.fits) answer.append(el("p", { className: "plan" }, el("b", {}, t("plan")), " ", fill("v_plan", last.n_copies > 1 ? fill("n_copies", last.n_copies) : t("one_of"), gpuCount(last.n_gpus * last.n_stages), last.n_gpus_system, last.weights)));
      carried.replaceChildren();
      answer.append(carried);
      pocket(answer, ...(last.fits && last.keeps_up ? [[t("ttft"), fmt(last.ttft_s.p90.value, "s")], [t("tpot"), fmt(last.tpot_s.p90.value, "s")]] : [[t(last.fits ? "overload" : "memory_short"), last.fits ? fill("per_s", digits(last.rate_held_per_s ?? 0, 2)) : fmt(last.weights_B, "B")]]));
      showChosen({ weights: state.weights === "" ? last.weights : "" });
      if (last.longest_request_tokens > last.model_context_tokens) answer.append(el("p", { className: "second bad" }, fill("v_long", grouped(last.longest_request_tokens), grouped(last.model_context_tokens))));
      if (last.fits) {
        const swept = async (rates) => (await ask("serve", { ...base(), ...tidy({ gpus: last.n_gpus, copies: last.n_copies, pp: last.n_stages > 1 ? last.n_stages : "" }), sweep: `rate=${rates.join(",")}` })).rows ?? [];
        rows = await swept((ticks = around()));
        const held = rows.findLast((r) => r.fits && r.keeps_up)?.rate_per_s, over = rows.find((r) => r.fits && !r.keeps_up)?.rate_per_s; // where it gives way, within a fifth
        if (over > 1.2 * held) rows = await swept([...ticks, ...[0.25, 0.5, 0.75].map((k) => Number((held * (over / held) ** k).toPrecision(2)))].filter((v, i, l) => l.indexOf(v) === i).sort((a, b) => a - b)); draw(); tellMost(); drawPareto(pareto, [...new Set([state.on, ...state.vs.split("|")])].filter(Boolean).slice(0, 4)); } else { rows = []; draw(); pareto.replaceChildren(); }
    } catch (e) { answer.replaceChildren(fault(e)); rows = []; draw(); }
  });
  all.addEventListener("toggle", async () => { if (all.open) try { all.replaceChildren(all.firstChild, fragment(await ask("serve", { ...request(), as: "html" }))); } catch (e) { all.replaceChildren(all.firstChild, fault(e)); } });
  keepDrawn(latency, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
