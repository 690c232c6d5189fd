// A prediction said in one large sentence, and what its numbers' drawers hold.
import { state, set, hello } from "/state.js";
import { t, parts, fill, partOf } from "/words.js";
import { fmt, many, percent, grouped, money, digits } from "/format.js";
import { el, num, sentence } from "/dom.js";
import { ask, caseOf } from "/api.js";
import { repair, enough, chip, again } from "/repair.js";
import { stack } from "/draw.js";

const timeKeys = ["compute", "data_parallel", "tensor_parallel", "expert_parallel", "context_parallel", "pipeline_bubble", "pipeline_send", "optimizer", "contention", "host_launch", "offload", "input"];
const memoryKeys = ["weights", "gradients", "optimizer", "activations", "buffers", "context"];
// The look of each part, the same in every chart and report (jl_part_look).
const looks = { compute: 1, host_launch: 2, data_parallel: 3, optimizer: 4, pipeline_bubble: 6, weights: 7, activations: 8, gradients: 10, buffers: 11, context: 12, tensor_parallel: 13, expert_parallel: 14, context_parallel: 15, pipeline_send: 16, contention: 17, offload: 18, input: 20 };
const shaded = (list) => { const most = Math.max(...list.map((p) => p.value)); return list.map((p) => ({ ...p, strong: p.value === most && most > 0, look: looks[p.key] })); };
export const timeParts = (a) => shaded(timeKeys.map((k) => ({ name: t(k), key: k, value: a.breakdown_s[k] ?? 0 })).filter((p) => p.value > 0));
export const memoryParts = (a) => shaded(memoryKeys.map((k) => ({ name: t(k), key: k, value: a.memory_B[k] ?? 0 })).filter((p) => p.value > 0));
const sum = (list, unit) => list.map((p) => `${p.name} ${fmt(p.value, unit)}`).join(" + ");

// What the drawer of each figure says; made for the one that is asked for: a run of no known length has no time.
export function about(a, key) {
  const body = caseOf(), rent = a.rent, source = rent ? `${rent.provider}, ${rent.item}` : undefined;
  const runs = a.tokens ?? a.run_tokens;
  return {
    step: () => ({ label: t("step"), formula: sum(timeParts(a), "s"), near: body, method: "5. A training step" }),
    samples: () => ({ label: t("throughput"), formula: `${t("global_batch")} ${a.global_batch} / ${fmt(a.step_s.value, "s", 3)}`, near: body, method: "5. A training step" }),
    tokens: () => ({ label: t("rate_tokens"), formula: `${a.global_batch} × ${a.seq} / ${fmt(a.step_s.value, "s", 3)}`, near: body, method: "5. A training step" }),
    mfu: () => ({ label: "MFU", formula: "6·N + attention FLOP / (step · listed rate)", near: body, method: "5. A training step" }),
    memory: () => ({ label: t("memory"), formula: sum(memoryParts(a), "B"), method: "6. Memory" }),
    capacity: () => ({ label: t("capacity"), origin: "listed", source: a.system, record: hello.gpus?.map(([id]) => id).filter((id) => a.system?.includes(id)).sort((x, y) => y.length - x.length)[0] }),
    run: () => ({ label: t("run_time"), formula: `${runs ? many(runs) : many(runTokens(a, runSeconds(a)))} / ${fmt(a.tokens_per_s?.value, "1", 3)} s⁻¹`, near: body }),
    cost: () => ({ label: t("cost"), formula: rent ? `${a.n_gpus} × ${fmt(rent.gpu_usdps * 3600, "usd", 3)}/h × ${fmt(a.scope === "step" ? a.step_s.value : runSeconds(a)?.value, "s", 3)}` : "", source, url: rent?.url, date: rent?.date }),
  }[key]();
}
export function runSeconds(a) {
  const e = a.run_s ?? a.total_s ?? a.epoch_s;
  if (e) return e;
  const tokens = Number(state.tokens);
  if (!tokens || !a.tokens_per_s) return null;
  return { value: tokens / a.tokens_per_s.value, lo: tokens / a.tokens_per_s.hi, hi: tokens / a.tokens_per_s.lo };
}
// "1조" is read by the program, which says how long it takes.
const runTokens = (a, run) => Number(state.tokens) || Number((run.value * a.tokens_per_s.value).toPrecision(6));
// Whether it fits, in the words of the program (jl_show_memory_fit): what may need more than there is only probably does.
const gib = (bytes) => { const x = bytes / 2 ** 30; return x >= 9.95 ? grouped(Math.floor(x + 0.5)) : x.toFixed(1); };
export function fitWords(a) {
  const m = a.memory_B, peak = a.memory_peak_B, over = m.total > m.capacity, doubt = peak?.lo <= m.capacity && peak.hi > m.capacity && (over || a.fits);
  return { key: doubt ? (over ? "a_not_doubt" : "a_doubt") : !a.fits ? "a_not" : a.room && a.room !== "fits" ? "a_tight" : "a_fits", cls: !a.fits ? "bad" : doubt || a.room !== "fits" ? "warn" : "",
    range: doubt ? [`${gib(peak.lo)}–${gib(peak.hi)}`] : [] };
}
export function memorySentence(a) {
  const { key, cls, range } = fitWords(a);
  return el("span", { className: `fit ${cls}` }, ...sentence(parts(key), num(a.memory_B.total, "B", { ...about(a, "memory"), lo: a.memory_peak_B?.lo, hi: a.memory_peak_B?.hi, plain: true }), ...range, num(a.memory_B.capacity, "B", { ...about(a, "capacity"), digits: 3 })));
}
// The same as a cell: the word, and its interval where it is in doubt.
export function memoryCell(a) {
  const { key, cls, range } = fitWords(a), words = { a_not: "fits_no", a_not_doubt: "fits_hardly", a_doubt: "fits_probably", a_tight: "fits_tight", a_fits: "fits_yes" };
  return el("td", { className: cls }, `${t(words[key])}, `, ...sentence(partOf("|", fmt(a.memory_B.capacity, "B", 3)).split("|"), el("span", {}, num(a.memory_B.total, "B", { ...about(a, "memory"), lo: a.memory_peak_B?.lo, hi: a.memory_peak_B?.hi, plain: true }), range.length ? ` (${range[0]})` : "")));
}
// The bar of memory with its interval over the capacity.
export const memoryBar = (a, more) => stack(memoryParts(a), { name: t("memory"), show: (v) => fmt(v, "B"), limit: a.memory_B.capacity, limitName: fmt(a.memory_B.capacity, "B", 3), whisker: a.memory_peak_B, ...more });
export function answerSentence(a) {
  const out = [], time = timeParts(a).find((p) => p.strong), memory = memorySentence(a);
  if (!a.fits) return el("p", { className: "answer" }, memory); // a run that does not fit is no answer
  out.push(...sentence(parts("a_step"), num(a.step_s, "s", about(a, "step"))), " ");
  const run = a.scope !== "step" ? runSeconds(a) : null;
  if (run) {
    out.push(...sentence(parts("a_run"), many(runTokens(a, run)), num(run, "s", about(a, "run"))));
    if (a.cost_usd) out.push(...sentence(parts("a_cost"), num(a.cost_usd, "usd", about(a, "cost"))));
    out.push(t("a_run_end"), " ");
  }
  out.push(memory, " ");
  if (time) out.push(...sentence(parts("a_bound"), el("strong", {}, `${time.name} (${percent(time.value / a.step_s.value)})`)));
  return el("p", { className: "answer" }, out);
}
// Where memory may turn out too small: what makes sure. Price and time counts with a run that is sure to fit.
function unsure(a) {
  const thrifty = a.micro_batch > 1 ? { batch: String(Math.floor(a.micro_batch / 2)), global: "" } : { recompute: { none: "selective", selective: "full" }[a.recompute], batch: "1", zero: String(a.parallel.zero) };
  const chip = a.micro_batch > 1 ? `${t("batch")} ${thrifty.batch}` : thrifty.recompute ? t(`recompute_${thrifty.recompute}`) : "";
  return [t("a_may"), " ", chip ? el("button", { type: "button", className: "chip", onclick: () => { set(thrifty, true); dispatchEvent(new Event("popstate")); } }, chip) : ""];
}
export function secondLine(a) {
  const out = [], run = runSeconds(a);
  if (!a.fits) {
    out.push(...sentence(parts("a_if"), num(a.step_s, "s", about(a, "step"))), " ");
    if (run) out.push(...sentence(parts("a_if_run"), many(runTokens(a, run)), num(run, "s", about(a, "run"))), " ");
  }
  if (a.tokens_per_s?.value) out.push(...sentence(parts("a_rate"), num(a.tokens_per_s, "1", { ...about(a, "tokens"), plain: true }), num(a.mfu_frac, "frac", about(a, "mfu"))), " ");
  else if (a.samples_per_s) out.push(...sentence(parts("a_samples"), num(a.samples_per_s, "1", about(a, "samples"))), " ");
  const rent = a.rent;
  if (a.cost_usd && rent && a.n_gpus > rent.largest_offer_gpus) out.push(...sentence(parts(rent.hosts_not_joined ? "a_rent_apart" : "a_rent"), num(rent.gpu_usdps * 3600, "usd", { label: t("rent"), origin: "listed", source: `${rent.provider}, ${rent.item}`, url: rent.url, date: rent.date, digits: 3 }), rent.provider, String(a.n_gpus), String(rent.largest_offer_gpus)), " ");
  if (a.step_s.lo) out.push(t("a_sure"));
  return el("div", {}, fitWords(a).key === "a_doubt" ? el("p", { className: "repair" }, unsure(a)) : "", el("p", { className: "second" }, out));
}
// What a piece of advice changes, in the terms of this page; null: it cannot be clicked.
export function changeOf(a) {
  switch (a.change) {
    case "global_batch": return { global: String(a.global_batch), batch: "" };
    case "precision": return { precision: /\b(fp8|bf16|fp16|tf32)\b/.exec(a.text)?.[1] };
    case "compile": return { framework: "compiled" };
    case "flash": return { flash: "yes" };
    case "zero": case "less_zero": return { zero: /ZeRO-(\d)/.exec(a.text)?.[1] ?? "0" };
    case "recompute": return { recompute: /full/.test(a.text) ? "full" : "selective" };
    case "less_recompute": return { recompute: /^selective/.test(a.text) ? "selective" : "none" };
    case "offload": return { offload: /--offload (\S+)/.exec(a.text)?.[1] ?? "optimizer" };
    default: return null;
  }
}
export const adviceName = (a) => fill("c_" + a.change, a.change === "global_batch" ? many(a.global_batch) : a.change === "zero" ? /ZeRO-(\d)/.exec(a.text)?.[1] ?? "" : state.lang === "ko" ? a.text.split(" ")[0] : a.text);
// Where it does not fit: what the command proposes, then the smallest system that takes it, of the same GPUs or one that is rented.
export function noRoom(a, on = state.on) {
  const box = repair();
  if (a.fits) return "";
  const propose = repair(), rented = repair(), add = (to, words, text, change) => to.append(to.childElementCount ? "" : `${t(words)} `, chip(text, () => again(change))), per = (b) => `${t("step")} ${fmt(b.step_s.value, "s")}`;
  for (const p of (a.advice ?? []).filter((q) => changeOf(q) && q.step_s_after > 0)) add(propose, "r_fits_with", `${adviceName(p)}: ${per({ step_s: { value: p.step_s_after } })}`, changeOf(p));
  if (a.parallel && !state.tune) ask("predict", { ...caseOf(), on, tune: "qlora", offload: "" }).then((b) => { if (b.fits) add(propose, "r_fits_with", `QLoRA: ${per(b)}`, { tune: "qlora", offload: "" }); }, () => {});
  if (a.tokens_per_s) ask("recommend", { model: state.model, tokens: caseOf().tokens, how: "rent,spot" }).then(({ pick: p }) => { if (p) add(rented, "r_rented", `${p.system}: ${money(p.cost_usd.value, 2)}, ${fmt(p.wall_s.value, "s")}`, { on: p.system, batch: "", global: "" }); }, () => {});
  enough(box, on, async (wider) => { const b = await ask("predict", { ...caseOf(), on: wider }); return { fits: b.fits, text: partOf(fmt(b.memory_B.total, "B"), fmt(b.memory_B.capacity, "B", 3)) }; }, (wider) => ({ on: wider }));
  return el("div", {}, el("p", { className: "second" }, fill("a_times", digits(a.memory_B.total / a.memory_B.capacity, 2))), propose, rented, box);
}
export const twoFigures = (a) => [[t("step"), fmt(a.step_s.value, "s")], ...(a.fits && a.cost_usd && runSeconds(a) && a.scope !== "step" ? [[t("cost"), money(a.cost_usd.value, 2)]] : []), [t("memory_short"), partOf(fmt(a.memory_B.total, "B"), fmt(a.memory_B.capacity, "B", 3))]];
// Names and figures of the parts below a bar; the bar itself is a picture.
export function key(list, unit, total) {
  return el("ul", { className: "key" }, list.filter((p) => p.value / total > 0.004).map((p) => el("li", { className: `look${p.look}${p.strong ? " strong" : ""}` }, el("i", {}), p.name, " ", num(p.value, unit, { label: p.name, formula: partOf(percent(p.value / total), fmt(total, unit, 3)) }))));
}
