// Each picture of the page can be taken away: as SVG with its colours, as CSV, and read as a table by those who do not see it.
import { t } from "/words.js";
import { el, save } from "/dom.js";

const shown = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "font-weight", "paint-order"];
export function svgText(chart) {
  const copy = chart.cloneNode(true), from = [chart, ...chart.querySelectorAll("*")], to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((e, i) => { const style = getComputedStyle(e); for (const k of shown) to[i].setAttribute(k, style.getPropertyValue(k)); for (const k of ["class", "tabindex", "role", "data-value"]) if (i) to[i].removeAttribute(k); });
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}
// A cell that a spreadsheet would compute is text.
export const csvCell = (c) => { const s = String(c ?? "").trim(), plain = /^[=@]|^[+-].*[=@|!(]/s.test(s) ? "'" + s : s; return plain === s && !/[",\n]/.test(s) ? s : `"${plain.replaceAll('"', '""')}"`; };
export const csvText = (rows) => rows.map((r) => r.map(csvCell).join(",")).join("\n") + "\n";
const shortened = (c) => (typeof c === "number" ? Number(c.toPrecision(4)).toString() : c ?? "");
// rows(): the heads and then the data, numbers in SI units.
export function pictureActions(name, chart, rows) {
  const file = name.replace(/[^\w-]+/g, "-").toLowerCase(), table = el("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": t("as_table") }), box = el("details", { className: "data" }, el("summary", {}, t("as_table")), table);
  box.addEventListener("toggle", () => { if (!box.open) return; const [heads, ...data] = rows(); table.replaceChildren(el("table", {}, el("thead", {}, el("tr", {}, heads.map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, data.map((r) => el("tr", {}, r.map((c) => el("td", { className: typeof c === "number" ? "r" : "" }, shortened(c)))))))); });
  return el("div", { className: "picture" }, box, el("button", { type: "button", className: "quiet", onclick: () => save(`${file}.svg`, "image/svg+xml", svgText(chart())) }, "SVG"), el("button", { type: "button", className: "quiet", onclick: () => save(`${file}.csv`, "text/csv", csvText(rows())) }, "CSV"));
}
