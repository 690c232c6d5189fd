import { state, set, hello } from "/state.js";
import { t, parts } from "/words.js";
import { fmt, digits, grouped, money, range, times } from "/format.js";
import { el, num, slider, chips, copyButton, sentence, answering, keepFocus, pocket } from "/dom.js";
import { fault, counted, withCount } from "/repair.js";
import { askCase, caseOf, commandLine } from "/api.js";
import { question, precisions, frameworks, recomputes, zeros } from "/case.js";
import { answerSentence, noRoom, twoFigures, timeParts, memoryParts, memoryBar, key, changeOf, adviceName } from "/answer.js";
import { planLine, showChosen, chosenOf } from "/plan.js";
import { stack, widthOf, keepDrawn } from "/draw.js";

const powers = (a, b) => { const l = []; for (let v = a; v <= b; v *= 2) l.push(v); return l; };

export function show(main) {
  const answer = el("section", { className: "result small" }), bars = el("div", { className: "bars" }), tries = el("section", { className: "tries" }), delta = el("p", { className: "delta" });
  let last = null, pinned = null;
  const gpus = el("div");
  const controls = el("div", { className: "controls" });
  let batch, seq;
  const rebuild = () => {
    batch = slider("batch", powers(1, 512), (v) => (Number(v) ? digits(Number(v), 3) : String(v)));
    seq = slider("seq", powers(128, 131072), grouped);
    controls.replaceChildren(batch, seq, gpus, chips("precision", precisions()), chips("framework", frameworks()), chips("recompute", recomputes()), chips("zero", zeros()));
  };
  rebuild();
  const countSlider = () => {
    const now = counted(state.on), values = powers(1, 1024), out = el("output", {}, String(now.n));
    const input = el("input", { type: "range", id: "s-gpus", min: 0, max: values.length - 1, value: Math.max(0, values.findIndex((v) => v >= now.n)), oninput: (e) => {
      const v = values[e.target.value], on = withCount(state.on, v);
      out.textContent = v;
      document.getElementById("q-on").value = on;
      set({ on });
    } });
    gpus.replaceChildren(el("label", { className: "slider" }, el("span", {}, t("gpus")), out, input, el("small", { ariaHidden: "true" }, values[0]), el("small", { ariaHidden: "true" }, grouped(values.at(-1)))));
  };
  if ((hello.gpus ?? []).some(([id]) => state.on.includes(id))) countSlider();
  const pin = el("button", { type: "button", className: "quiet", onclick: () => { pinned = pinned ? null : last; pin.textContent = t(pinned ? "unpin" : "pin"); draw(); } }, t("pin"));
  main.append(question({ drop: false }), el("div", { className: "split" }, controls, el("div", {}, answer, delta, bars, el("div", { className: "actions" }, pin, copyButton(() => commandLine("predict", caseOf()))))), tries);
  let w = 0; // known from the observer: asking for it would lay out the page at once
  const draw = (width) => {
    w = width || w || widthOf(bars);
    if (!last) return;
    const a = last, time = timeParts(a), memory = memoryParts(a);
    const top = Math.max(a.step_s.value, pinned?.step_s.value ?? 0);
    bars.replaceChildren(
      el("figure", {}, el("figcaption", {}, t("time_goes"), el("span", { className: "dim" }, ` · ${fmt(a.step_s.value, "s")} (${range(a.step_s, "s")})`)), stack(time, { width: w, total: top, name: t("time_goes"), show: (v) => fmt(v, "s"), ghost: pinned ? timeParts(pinned) : null, ghostName: t("baseline") }), key(time, "s", a.step_s.value)),
      el("figure", {}, el("figcaption", {}, t("memory")), memoryBar(a, { width: w, ghost: pinned ? memoryParts(pinned) : null, ghostName: t("baseline") }), key(memory, "B", a.memory_B.total)));
    if (pinned) {
      const r = a.samples_per_s.value / pinned.samples_per_s.value;
      delta.replaceChildren(`${t("against")}: `, ...sentence(parts("as_fast"), num(r, "1", { text: times(r), label: t("speedup"), formula: `${fmt(a.samples_per_s.value, "1", 3)} / ${fmt(pinned.samples_per_s.value, "1", 3)} samples/s` })));
    } else delta.replaceChildren();
  };
  const advise = () => {
    const list = last.advice ?? [];
    tries.replaceChildren(el("h2", {}, t("try")), list.length ? el("ul", { className: "advice" }, list.map((a) => {
      const change = changeOf(a), gain = a.samples_per_s_after / a.samples_per_s_before;
      const effect = el("span", { className: "gain" }, ...sentence(parts("as_fast"), num(gain, "1", { text: times(gain), label: a.text, formula: `${fmt(a.samples_per_s_before, "1", 3)} → ${fmt(a.samples_per_s_after, "1", 3)} samples/s (${a.n_gpus} GPU)` })), last.cost_usd && last.scope !== "step" ? `, ${money(last.cost_usd.value / gain, 2)}` : "");
      return el("li", {}, change ? el("button", { type: "button", className: "chip", onclick: () => { pinned ??= last; pin.textContent = t("unpin"); set(change); keepFocus(controls, rebuild); } }, adviceName(a)) : el("span", { className: "chip still" }, adviceName(a)), effect, a.change === "precision" && /fp8/.test(a.text) ? el("small", { className: "dim" }, ` ${t("fp8_said")}`) : "");
    })) : el("p", { className: "dim" }, t("nothing_to_try")));
  };
  const update = answering(answer, async () => {
    try {
      last = await askCase();
      answer.replaceChildren(answerSentence(last), noRoom(last), planLine(last, pinned ?? undefined));
      pocket(answer, ...twoFigures(last));
      showChosen(chosenOf(last));
      draw();
      keepFocus(tries, advise);
      batch.chosen(last.micro_batch);
      seq.chosen(last.seq);
      document.dispatchEvent(new Event("redrawn"));
    } catch (e) { last = null; answer.replaceChildren(fault(e)); bars.replaceChildren(); delta.replaceChildren(); tries.replaceChildren(); }
  });
  keepDrawn(bars, draw);
  update();
  return (change) => { if ("batch" in change && change.batch) state.global = ""; if (!("view" in change)) update(); };
}
