// Any number opens its drawer: value, interval, origin, formula with its figures, source, nearest published runs.
import { t } from "/words.js";
import { range, digits, grouped } from "/format.js";
import { el } from "/dom.js";
import { ask } from "/api.js";
import { address } from "/state.js";

// Six digits; whole from a million on: 133,177; 80,530,356,854; 0.0123457.
const written = (v) => (Math.abs(v) >= 1e6 && Math.abs(v) < 1e15 ? grouped(Math.round(v)) : String(Number(v.toPrecision(6))).replace(/^-?\d{4,}/, grouped));
function exact(v, unit) {
  if (v == null) return "–";
  const name = { s: "s", B: "B", Bps: "B/s", usd: "USD", frac: "", J: "J", W: "W", count: "" }[unit] ?? (unit === "1" ? "" : unit);
  return `${written(Number(v))} ${name}`.trim();
}
const link = (url, text) => (/^https?:/.test(url ?? "") ? el("a", { href: url, rel: "noreferrer", target: "_blank" }, text) : text);
// The text that says how an estimate is made, at its section, and how far off such estimates are.
const method = (section) => [el("a", { href: `/METHOD.md${section ? `#:~:text=${encodeURIComponent(section)}` : ""}`, target: "_blank" }, section ? `${t("method")} ${/^[\d.]*\d/.exec(section)?.[0] ?? ""}` : t("method")), " · ", el("a", { href: address({ view: "trust" }) }, t("how_wrong"))];
// Who publishes a figure of an accelerator, where and when: from the catalogue.
async function listed(gpu, place) {
  const r = (await ask("catalog list", { kind: "gpus" })).gpus.find((g) => g.id === gpu), one = (r?.sources ?? []).find((q) => q.id === r.source);
  if (one) place.replaceChildren(link(one.url?.split(" ")[0], one.title), el("small", {}, ` ${r.date ?? ""}`));
}
function rows(about) {
  const list = [];
  const add = (key, ...what) => list.push(el("dt", {}, t(key)), el("dd", {}, ...what));
  add("d_value", about.text, el("small", {}, " = " + exact(about.value, about.unit)));
  if (about.lo != null && about.lo !== about.hi) add("d_range", `${range(about, about.unit)}`, el("small", {}, ` = ${exact(about.lo, about.unit)} … ${exact(about.hi, about.unit)}`));
  add("d_origin", el("span", { className: "origin " + (about.origin ?? "estimated") }, t(about.origin ?? "estimated")));
  if (about.formula) add("d_formula", el("span", { className: "formula" }, about.formula));
  if (about.source) add("d_source", link(about.url, about.source), about.date ? el("small", {}, " " + about.date) : null);
  else if ((about.origin ?? "estimated") === "estimated") add("d_source", ...method(about.method));
  return list;
}
async function near(box, body) {
  box.append(el("h3", {}, t("d_near")), el("p", { className: "dim" }, t("near_wait") + " …"));
  try {
    const answer = await ask("predict", { ...body, near: true });
    const list = answer.near ?? answer.nearest ?? [];
    box.lastChild.replaceWith(el("ol", { className: "near" }, list.slice(0, 6).map((n) => el("li", {}, el("b", {}, [n.gpu, n.what ?? n.model].filter(Boolean).join(" · ")),
      el("span", { className: "dim" }, ` ${t("ratio")} ${digits(Math.exp(n.ln_ratio ?? Math.log(n.predicted / n.measured)), 3)} · `), /^https?:/.test(n.url ?? "") ? el("a", { href: n.url, rel: "noreferrer", target: "_blank" }, n.source ?? n.set) : (n.source ?? n.set ?? "")))));
  } catch (e) { box.lastChild.textContent = e.message; }
}
export function openDrawer(about) {
  const dialog = document.getElementById("drawer");
  const close = el("button", { type: "button", className: "quiet close", onclick: () => dialog.close() }, t("close"));
  const body = el("div", {}, el("h2", { id: "drawer-title" }, about.label ?? about.text), el("dl", {}, rows(about)));
  dialog.replaceChildren(close, body);
  if (about.extra) body.append(about.extra);
  dialog.onclick = (e) => { if (e.target === dialog) dialog.close(); };
  dialog.showModal();
  if (about.record) listed(about.record, [...body.querySelectorAll("dt")].find((d) => d.textContent === t("d_source")).nextElementSibling).catch(() => {});
  if (about.near) near(body, about.near);
}
