// What a user of a service sees against what a GPU does, for several systems, from one request at a time to many: what every choice of a batch trades.
import { state } from "/state.js";
import { t, fill } from "/words.js";
import { fmt, digits } from "/format.js";
import { el } from "/dom.js";
import { ask, tidy } from "/api.js";
import { plot, widthOf, positive } from "/draw.js";
import { pictureActions } from "/picture.js";

const LOADS = [1, 4, 16, 64, 256], marks = ["round", "up", "square", "diamond"];
const asked = (on, concurrency) => ask("serve", tidy({ model: state.model, on, prompt: state.prompt, answer: state.answer, weights: state.weights, concurrency })).catch(() => null);
const point = (a, i) => {
  const n = Math.max(1, a.n_gpus_used), g = a.output_tokens_per_s, u = a.user_tokens_per_s;
  return { x: u.value, y: g.value / n, lo: g.lo / n, hi: g.hi / n, xlo: u.lo, xhi: u.hi, shape: marks[i % 4], cls: `look${i + 1} front`, label: `${fill("at_once", a.concurrency)}: ${digits(u.value, 3)} ${t("tokens_user")}, ${digits(g.value / n, 3)} ${t("tokens_gpu")}` };
};
let turn = 0; // an answer that a newer question has overtaken is not drawn
export async function drawPareto(box, systems) {
  const mine = ++turn, list = (await Promise.all(systems.map(async (on) => ({ on, points: (await Promise.all(LOADS.map((n) => asked(on, n)))).filter((a) => a?.fits && a.user_tokens_per_s?.value > 0) })))).filter((s) => s.points.length > 1);
  if (mine !== turn || !box.isConnected) return;
  if (!list.length) { box.replaceChildren(); return; }
  const series = list.map((s, i) => ({ name: s.on, cls: `look${i + 1}`, points: s.points.map((a) => point(a, i)) })), all = series.flatMap((s) => s.points), xs = all.map((p) => p.x), ys = all.flatMap((p) => [p.lo, p.hi]), slo = positive(1 / Number(state.tpot)), show = (v) => digits(v, 2);
  box.replaceChildren(el("figcaption", {}, t("pareto"), el("span", { className: "dim" }, ` · ${fill("pareto_said", String(LOADS.at(-1)))}`)), plot({ width: widthOf(box), height: 380, name: t("pareto"), words: all.map((p) => p.label).join("; "), x: { label: t("tokens_user"), log: true, lo: Math.min(...xs, ...slo) * 0.8, hi: Math.max(...xs, ...slo) * 1.2, show }, y: { label: t("tokens_gpu"), log: true, lo: Math.min(...ys) * 0.8, hi: Math.max(...ys) * 1.2, show }, series, ends: true, marks: slo.map((x) => ({ x, name: `${t("sla")} ${fmt(Number(state.tpot), "s")}` })) }),
    pictureActions(t("pareto"), () => box.querySelector("svg.chart"), () => [[t("system"), t("concurrent"), t("tokens_user"), "lo", "hi", t("tokens_gpu"), "lo", "hi"], ...list.flatMap((s) => s.points.map((a) => { const p = point(a, 0); return [s.on, a.concurrency, p.x, p.xlo, p.xhi, p.y, p.lo, p.hi]; }))]));
}
