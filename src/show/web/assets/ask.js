import { state } from "/state.js";
import { t } from "/words.js";
import { el, fragment, copyButton, say, answering, pocket } from "/dom.js";
import { fault } from "/repair.js";
import { askCase, caseOf, commandLine, latest } from "/api.js";
import { question, settings } from "/case.js";
import { answerSentence, secondLine, noRoom, twoFigures } from "/answer.js";
import { planLine, showChosen, chosenOf } from "/plan.js";

export function showAsk(main) {
  const answer = el("section", { className: "result", "aria-live": "off" }), pictures = el("div", { className: "pictures doc" }), all = el("details", { className: "more" }, el("summary", {}, t("more")));
  main.append(question(), settings(), answer, pictures, el("div", { className: "actions" }, copyButton(() => commandLine("predict", caseOf()))), all);
  const update = answering(answer, async () => {
    try {
      const last = await askCase();
      answer.replaceChildren(answerSentence(last), noRoom(last), planLine(last), secondLine(last));
      pocket(answer, ...twoFigures(last));
      showChosen(chosenOf(last));
      say(answer.textContent);
      if (all.open) await tell();
      draws();
    } catch (e) { answer.replaceChildren(fault(e)); pictures.replaceChildren(); }
  });
  // the charts of the same answer, as the command and the reports draw them
  const draws = latest(async () => { pictures.classList.add("waiting"); try { const doc = fragment(await askCase({ charts: true, as: "html" })); pictures.replaceChildren(...doc.querySelectorAll("figure, figure ~ .note")); } catch (e) { pictures.replaceChildren(fault(e)); } pictures.classList.remove("waiting"); });
  const tell = async () => {
    try { const doc = fragment(await askCase({ as: "html" })); all.replaceChildren(all.firstChild, doc); } catch (e) { all.replaceChildren(all.firstChild, fault(e)); }
  };
  all.addEventListener("toggle", () => { if (all.open) tell(); });
  update();
  return (change) => { if (!("view" in change)) update(); };
}
