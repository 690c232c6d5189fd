import { t, partOf } from "/words.js";
import { fmt, digits } from "/format.js";
import { el, fragment, copyButton } from "/dom.js";
import { fault } from "/repair.js";
import { ask } from "/api.js";
import { widthOf } from "/draw.js";
import { histories } from "/history.js";

const RESULTS = 1000; // the newest of the store: a year of weekly runs, and a second to read

const meter = (name, frac, text) => el("div", { className: "meter" }, el("span", {}, name), el("progress", { max: 1, value: Math.min(1, frac || 0), "aria-label": name }), el("span", { className: "r" }, text));
export function show(main) {
  // every part has its heading at once: what looks at the machine takes a moment
  const part = (name) => el("section", { className: "waiting" }, el("h2", {}, t(name)), el("p", { className: "dim" }, t("looking")));
  const answer = el("section", { className: "result small" }), live = el("section"), found = part("found"), checked = part("checked"), past = part("history");
  const put = (section, ...what) => { section.className = ""; section.replaceChildren(...what); };
  main.append(answer, live, checked, past, found);
  const source = new EventSource("/api/v1/live");
  source.addEventListener("state", (e) => {
    const s = JSON.parse(e.data), used = s.mem_total_B - s.mem_available_B;
    live.replaceChildren(el("h2", {}, t("live")), meter("RAM", used / s.mem_total_B, partOf(fmt(used, "B"), fmt(s.mem_total_B, "B", 3))), el("p", { className: "dim" }, `${t("load")} ${digits(s.load ?? 0, 2)}${s.gpus.length ? "" : ` · ${t("no_gpu")}`}`),
      ...s.gpus.map((g, i) => el("div", {}, el("h3", {}, `GPU ${i} · ${g.name}`), meter(t("busy"), g.busy_frac, digits(100 * (g.busy_frac ?? 0), 2) + " %"), meter(t("memory"), g.mem_used_B / g.mem_B, partOf(fmt(g.mem_used_B, "B"), fmt(g.mem_B, "B", 3))), meter(t("power"), g.power_W / g.limit_W, partOf(fmt(g.power_W, "W"), fmt(g.limit_W, "W", 3))), el("p", { className: "dim" }, `${t("temperature")} ${g.temperature_C} °C · ${t("clock")} ${partOf(fmt(g.sm_Hz, "Hz", 3), fmt(g.sm_max_Hz, "Hz", 3))}`))));
  });
  // Each part says what kept it from being answered; that nothing is stored is an answer.
  const tell = (section, name, command, body, show) => ask(command, body).then(show).then((said) => put(section, el("h2", {}, t(name)), ...said), (e) => {
    if (!/measure first|no (such )?store/.test(e.en ?? "")) put(section, el("h2", {}, t(name)), fault(e));
    else if (section === past) past.remove(); // said once, above
    else put(section, el("h2", {}, t(name)), el("p", { className: "dim" }, /no such store/.test(e.en) ? t("nothing_stored") : e.message), el("div", { className: "actions" }, copyButton(() => "jeoul bench all --quick")));
  });
  // without a verdict the figures are looked up, not read
  const folded = (doc) => { const box = doc.querySelector(".wide"); if (box && !doc.querySelector("td svg.m:not(.unknown)")) { const rows = el("details", {}, el("summary", {}, t("as_table"))); box.replaceWith(rows); rows.append(box); } return doc; };
  tell(checked, "checked", "check", { as: "html" }, (html) => [folded(fragment(html))]);
  tell(found, "found", "probe", { as: "html" }, (html) => {
    const doc = fragment(html), said = doc.querySelector("p"); // the sentence first, its evidence below
    if (said) { said.className = "answer"; for (const n of [...said.childNodes]) if (n.nodeType === 3) n.replaceWith(...n.data.split(/('jeoul [^']*')/).map((part) => (/^'jeoul/.test(part) ? el("code", { className: "nb" }, part.slice(1, -1)) : part))); answer.replaceChildren(el("div", { className: "doc" }, said)); }
    return [doc];
  });
  const judged = ask("check", {}).then((a) => a.results ?? [], () => []);
  tell(past, "history", "store list", { limit: RESULTS }, async (list) => histories(list.records ?? [], await judged, widthOf(main)));
  return (change) => { if ("view" in change || "lang" in change || "cur" in change) source.close(); };
}
