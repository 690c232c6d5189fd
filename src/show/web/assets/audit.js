// A text is audited: dropped, pasted or the example; the answer is the reports' own document with the note and its margin.
import { t } from "/words.js";
import { el, fragment, dropZone, answering } from "/dom.js";
import { fault, repair, chip } from "/repair.js";
import { ask } from "/api.js";

let text = null;
export function show(main) {
  const area = el("textarea", { spellcheck: false, "aria-label": t("audit_text"), value: text ?? t("audit_example") }), result = el("section", { className: "result", "aria-label": t("result") });
  area.classList.add("short");
  main.append(dropZone(t("audit_drop"), async (f) => { area.value = await f.text(); update(); }), area, result);
  const update = answering(result, async () => {
    text = area.value;
    if (!text.trim()) { result.replaceChildren(el("p", { className: "answer" }, t("audit_empty")), repair(chip(t("example"), () => { area.value = t("audit_example"); update(); }))); return; }
    try { result.replaceChildren(fragment(await ask("audit", { note: "note.md", files: { "note.md": text }, as: "html" }))); } catch (e) { result.replaceChildren(fault(e)); }
  });
  let timer;
  area.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(update, 350); });
  update();
  return () => {};
}
