import { t, partOf } from "/words.js";
import { fmt, digits } from "/format.js";
import { el, num, fragment } from "/dom.js";
import { fault } from "/repair.js";
import { ask } from "/api.js";
import { widthOf } from "/draw.js";
import { histories } from "/history.js";

const RESULTS = 1000; // the newest of the store: a year of weekly runs, and a second to read

const meter = (name, frac, text) => el("div", { className: "meter" }, el("span", {}, name), el("progress", { max: 1, value: Math.min(1, frac || 0), "aria-label": name }), el("span", { className: "r" }, text));
export function show(main) {
  // every part has its heading at once: what looks at the machine takes a moment
  const part = (name) => el("section", { className: "waiting" }, el("h2", {}, t(name)), el("p", { className: "dim" }, t("looking")));
  const live = el("section"), found = part("found"), checked = part("checked"), past = part("history");
  const put = (section, ...what) => { section.className = ""; section.replaceChildren(...what); };
  main.append(live, checked, found, past);
  const source = new EventSource("/api/v1/live");
  source.addEventListener("state", (e) => {
    const s = JSON.parse(e.data), used = s.mem_total_B - s.mem_available_B;
    live.replaceChildren(el("h2", {}, t("live")), meter("RAM", used / s.mem_total_B, partOf(fmt(used, "B"), fmt(s.mem_total_B, "B", 3))), el("p", { className: "dim" }, `${t("load")} ${digits(s.load ?? 0, 2)}${s.gpus.length ? "" : ` · ${t("no_gpu")}`}`),
      ...s.gpus.map((g, i) => el("div", {}, el("h3", {}, `GPU ${i} · ${g.name}`), meter(t("busy"), g.busy_frac, digits(100 * (g.busy_frac ?? 0), 2) + " %"), meter(t("memory"), g.mem_used_B / g.mem_B, partOf(fmt(g.mem_used_B, "B"), fmt(g.mem_B, "B", 3))), meter(t("power"), g.power_W / g.limit_W, partOf(fmt(g.power_W, "W"), fmt(g.limit_W, "W", 3))), el("p", { className: "dim" }, `${t("temperature")} ${g.temperature_C} °C · ${t("clock")} ${partOf(fmt(g.sm_Hz, "Hz", 3), fmt(g.sm_max_Hz, "Hz", 3))}`))));
  });
  ask("check", { as: "html" }).then((html) => put(checked, el("h2", {}, t("checked")), fragment(html)), (e) => put(checked, el("h2", {}, t("checked")), el("p", { className: "dim" }, e.message)));
  ask("probe", { as: "html" }).then((html) => put(found, el("h2", {}, t("found")), fragment(html)), (e) => put(found, fault(e)));
  ask("store list", { limit: RESULTS }).then((list) => put(past, el("h2", {}, t("history")), ...histories(list.records ?? [], widthOf(main))), () => put(past, el("h2", {}, t("history")), el("p", { className: "dim" }, t("nothing_stored"))));
  return (change) => { if ("view" in change || "lang" in change || "cur" in change) source.close(); };
}
