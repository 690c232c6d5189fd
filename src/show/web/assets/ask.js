import { state } from "/state.js";
import { t } from "/words.js";
import { fmt } from "/format.js";
import { el, fragment, copyButton, say, answering, pocket } from "/dom.js";
import { fault } from "/repair.js";
import { askCase, caseOf, commandLine, latest } from "/api.js";
import { question, settings } from "/case.js";
import { answerSentence, secondLine, noRoom, twoFigures, timeParts, key } from "/answer.js";
import { planLine, showChosen, chosenOf } from "/plan.js";
import { stack, keepDrawn } from "/draw.js";

export function showAsk(main) {
  const answer = el("section", { className: "result", "aria-live": "off" }), bars = el("div", { className: "bars" }), pictures = el("div", { className: "pictures doc" }), all = el("details", { className: "more" }, el("summary", {}, t("more")));
  let last = null;
  main.append(question(), settings(), answer, bars, pictures, el("div", { className: "actions" }, copyButton(() => commandLine("predict", caseOf()))), all);
  let w = 0; // known from the observer: asking for it would lay out the page at once
  const draw = (width) => {
    w = width || w;
    if (!last) return;
    const a = last, time = timeParts(a);
    bars.replaceChildren(el("figure", {}, el("figcaption", {}, t("time_goes")), stack(time, { width: w, name: t("time_goes"), show: (v) => fmt(v, "s") }), key(time, "s", a.step_s.value)));
  };
  const update = answering(answer, async () => {
    try {
      last = await askCase();
      answer.replaceChildren(answerSentence(last), planLine(last), secondLine(last), noRoom(last));
      pocket(answer, ...twoFigures(last));
      showChosen(chosenOf(last));
      say(answer.textContent);
      if (w) draw(); // otherwise the observer does, as soon as there is a width
      if (all.open) await tell();
      draws();
    } catch (e) { last = null; answer.replaceChildren(fault(e)); bars.replaceChildren(); pictures.replaceChildren(); }
  });
  // the charts of the same answer, as the command and the reports draw them
  const draws = latest(async () => { pictures.classList.add("waiting"); try { const doc = fragment(await askCase({ charts: true, as: "html" })); pictures.replaceChildren(...doc.querySelectorAll("figure, figure ~ .note")); } catch (e) { pictures.replaceChildren(fault(e)); } pictures.classList.remove("waiting"); });
  const tell = async () => {
    try { const doc = fragment(await askCase({ as: "html" })); all.replaceChildren(all.firstChild, doc); } catch (e) { all.replaceChildren(all.firstChild, fault(e)); }
  };
  all.addEventListener("toggle", () => { if (all.open) tell(); });
  keepDrawn(bars, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
