import { state } from "/state.js";
import { t, parts } from "/words.js";
import { el, num, field, choice, copyButton, fragment, sentence, answering } from "/dom.js";
import { fault } from "/repair.js";
import { ask, caseOf, commandLine, tidy } from "/api.js";
import { question } from "/case.js";

// The run with failures: the sentence in figures, then the document that the command prints, with its calendar.
export function show(main) {
  const answer = el("section", { className: "result" }), view = el("section");
  const request = () => tidy({ ...caseOf(), checkpoint: state.checkpoint, recovery: state.recovery, spares: state.spares, "power-cap": state.cap && `${state.cap} MW`, pue: state.pue, currency: state.cur });
  const names = (list) => [["", t("auto")], ...list.map((v) => [v, t(`g_${v}`)])];
  main.append(question({ drop: false }), el("div", { className: "fields" }, field("tokens", { width: 9 }), choice("checkpoint", names(["blocking", "async", "memory", "tiered"])), choice("recovery", names(["restart", "swap", "elastic"])),
    field("spares", { type: "number", width: 6 }), field("cap", { type: "number", unit: ["MW", 1] }), field("pue", { type: "number", width: 5 })), answer, view, el("div", { className: "actions" }, copyButton(() => commandLine("goodput", request()))));
  const update = answering(answer, async () => {
    try {
      const [g, html] = await Promise.all([ask("goodput", request()), ask("goodput", { ...request(), as: "html" })]);
      const useful = num(g.goodput_frac, "frac", { label: t("g_useful"), digits: 2 + Math.max(0, Math.min(3, Math.ceil(Math.log10(0.02 / (1 - g.goodput_frac.value))))), formula: `${t("g_useful")} = 1 − ${t("g_lost")}` });
      answer.replaceChildren(el("p", { className: "answer" }, ...(g.progresses ? (g.end_date ? sentence(parts("g_ends"), useful, el("span", { className: "nb" }, g.end_date)) : sentence(parts("g_share"), useful)) : [t("g_never")])));
      view.replaceChildren(fragment(html));
    } catch (e) { view.replaceChildren(); answer.replaceChildren(fault(e)); }
  });
  update();
  return (change) => { if (!("view" in change)) update(); };
}
