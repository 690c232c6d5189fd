// The plan that the program chose: how the model is cut, what is computed again, in which numbers. It shows the choice and makes none.
import { state } from "/state.js";
import { t, fill } from "/words.js";
import { grouped } from "/format.js";
import { el } from "/dom.js";

export const names = { eager: "PyTorch eager", compiled: "PyTorch compiled", megatron: "Megatron-LM", fused: "Unsloth", apex: "PyTorch with apex" };
// How it is cut, without the number of copies: "FSDP, TP 2+SP, full recompute", as the command says it (jl_show_cut).
export function planKind(a) {
  const p = a.parallel ?? a, states = p.zero === 3 && p.shard > 0 && p.shard < p.dp ? "HSDP" : ["DDP", "ZeRO-1", "ZeRO-2", "FSDP"][p.zero ?? 0];
  const alone = (p.dp ?? 1) === 1 && states === "DDP";
  const list = [alone ? "" : states, p.tp > 1 && `TP ${p.tp}${p.sp ? "+SP" : ""}`, p.pp > 1 && `PP ${p.pp}`, p.cp > 1 && `CP ${p.cp}`, p.ep > 1 && `EP ${p.ep}`,
    a.recompute && a.recompute !== "none" && t(`recompute_${a.recompute}`), (Array.isArray(a.offload) ? a.offload.length : a.offload) && t("offload")].filter(Boolean);
  return list.join(", ") || t("one_copy");
}
function planParts(a) {
  const dp = (a.parallel ?? a).dp;
  return [planKind(a), dp > 1 && fill("copies", dp), `${fill("micro", a.micro_batch)}${a.accumulate > 1 ? ` ${fill("accumulated", a.accumulate)}` : ""}`, a.seq && fill("seq_of", grouped(a.seq)), a.precision, a.framework && (names[a.framework] ?? a.framework)].filter(Boolean);
}
export const planText = (a) => planParts(a).join(" · ");
// What of a plan differs from the one above it.
export function planBeside(a, first) {
  const same = planParts(first);
  return planParts(a).filter((p) => !same.includes(p)).join(" · ") || t("same_plan");
}
// Marked where the plan differs from `before`, a plan of the same model.
export const planChanged = (a, before) => (before && before.model === a.model && planKind(a) !== planKind(before) ? el("span", { className: "changed", title: planKind(before) }, t("plan_changed")) : "");

// A row's plan, and where it differs from the row before, what that was.
export const planStep = (a, before) => { const mark = planChanged({ ...a, model: state.model }, before && { ...before, model: state.model }); return [`${planKind(a)}, ${fill("micro", a.micro_batch)} `, mark, mark ? el("span", { className: "dim" }, ` ${fill("plan_was", planKind(before))}`) : ""]; };

// The line below the sentence. What was shown before, on whichever view, is what it is compared with.
let planShown = null;
export function planLine(a, against = planShown) {
  const mark = planChanged(a, against), was = mark ? ` ${fill("plan_was", planKind(against))}` : "";
  planShown = a;
  return el("p", { className: "plan" }, el("b", {}, t("plan")), " ", planText(a), mark ? " " : "", mark, was);
}
// What stands for "auto" in each field: "auto: bf16".
export function showChosen(chosen) {
  for (const [key, value] of Object.entries(chosen)) {
    if (value == null || value === "") continue;
    const field = document.getElementById("f-" + key), words = `${t("auto")}: ${value}`;
    if (field?.options) field.options[0].textContent = words;
    else if (field) field.placeholder = words;
    for (const chip of document.querySelectorAll(`[data-auto="${key}"]`)) { chip.textContent = words; for (const twin of chip.parentElement.querySelectorAll(".chip:not([data-auto])")) twin.hidden = twin.textContent === String(value); }
  }
}
export const chosenOf = (a) => ({ batch: state.batch === "" ? a.micro_batch * (a.accumulate ?? 1) : "", seq: state.seq === "" ? a.seq : "", precision: state.precision === "" ? a.precision : "", framework: state.framework === "" ? names[a.framework] ?? a.framework : "", recompute: state.recompute === "" ? t(`recompute_${a.recompute}_short`) : "", zero: state.zero === "" && a.parallel ? (a.parallel.zero ? `ZeRO-${a.parallel.zero}` : t("zero_none")) : "" });
