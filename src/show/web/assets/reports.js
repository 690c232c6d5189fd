import { state, set } from "/state.js";
import { t } from "/words.js";
import { el, fragment, save, dropZone } from "/dom.js";
import { fault } from "/repair.js";
import { ask, latest } from "/api.js";
import { lists } from "/case.js";
import { scenarioForm } from "/scenario.js";

const texts = {}, textOf = async (name) => (texts[name] ??= await (await fetch(`/${name}.yaml`)).text());
const titleOf = (text) => /^title: \{ko: ([^,}]+), en: ([^}]+)\}/m.exec(text)?.[state.lang === "ko" ? 1 : 2];
let written = false; // the text in place of the form
export function show(main) {
  const area = el("textarea", { spellcheck: false, "aria-label": t("scenario") }), result = el("section", { "aria-label": t("result") });
  const picks = el("div", { className: "chips", role: "group", "aria-label": t("example") }, el("span", {}, t("example")), ["seed-000", "seed-001", "seed-002", "seed-003", "seed-004"].map((n) => el("button", { type: "button", className: "chip", "aria-pressed": String(state.example === n), onclick: (e) => { for (const b of picks.querySelectorAll(".chip")) b.setAttribute("aria-pressed", String(b === e.currentTarget)); set({ example: n }); } }, n)));
  picks.querySelectorAll(".chip").forEach(async (b) => { try { b.textContent = titleOf(await textOf(b.textContent)) ?? b.textContent; } catch { /* its name stays */ } });
  const body = (more) => ({ scenario: "scenario.yaml", files: { "scenario.yaml": area.value }, ...more });
  const give = (name, type, more) => async () => { try { const text = await ask("report", body(more)); save(name, type, typeof text === "string" ? text : JSON.stringify(text, null, 2)); } catch (e) { result.prepend(fault(e)); } };
  const csv = async () => { // every table of the document, one below the other
    const { csvText } = await import("/picture.js");
    save("report.csv", "text/csv", [...result.querySelectorAll("table")].map((tb) => csvText([...tb.rows].map((r) => [...r.cells].map((c) => c.innerText)))).join("\n"));
  };
  const form = scenarioForm(area, () => run()), way = (text) => { written = text; form.box.hidden = written; area.hidden = !written; ways.querySelectorAll(".chip").forEach((b, i) => b.setAttribute("aria-pressed", String(written === Boolean(i)))); };
  const ways = el("div", { className: "chips", role: "group", "aria-label": t("scenario") }, [["sc_form", false], ["sc_text", true]].map(([key, text]) => el("button", { type: "button", className: "chip", onclick: () => way(text) }, t(key))));
  const button = (key, f) => el("button", { type: "button", className: "quiet", onclick: f }, t(key));
  main.append(picks, dropZone(t("open_file"), async (f) => { area.value = await f.text(); form.tell(); run(); }),
    el("div", { className: "actions" }, el("span", { className: "dim" }, t("download")), button("as_html", give("report.html", "text/html", { format: "html", as: "text" })), button("as_md", give("report.md", "text/markdown", { format: "md", as: "text" })), button("as_csv", csv), button("as_yaml", () => save("scenario.yaml", "text/yaml", area.value)), button("print", () => print())), el("div", { className: "pair" }, el("div", {}, ...lists(), ways, form.box, area), result));
  const run = latest(async () => {
    result.classList.add("waiting");
    try { result.replaceChildren(fragment(await ask("report", body({ as: "html" })))); } catch (e) { result.replaceChildren(fault(e)); }
    result.classList.remove("waiting");
  });
  let timer;
  area.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(() => { form.tell(); run(); }, 350); });
  const load = latest(async () => {
    try { area.value = await textOf(state.example); form.tell(); run(); } catch (e) { result.replaceChildren(fault(e)); }
  });
  way(written);
  load();
  return (change) => { if ("example" in change) load(); };
}
