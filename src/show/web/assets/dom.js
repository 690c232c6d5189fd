// Small helpers: elements, numbers that open their drawer, fields that write into the state.
import { state, set } from "/state.js";
import { t, after } from "/words.js";
import { fmt, range } from "/format.js";
import { openDrawer } from "/drawer.js";
import { latest } from "/api.js";

export function el(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(props)) {
    if (key.startsWith("on")) e.addEventListener(key.slice(2), value);
    else if (key in e && key !== "list" && key !== "form") e[key] = value;
    else if (value !== undefined) e.setAttribute(key, value);
  }
  e.append(...children.flat().filter((c) => c != null));
  return e;
}
// A figure: { value, lo, hi } or a number, its unit, and what its drawer says.
export function num(e, unit, about = {}) {
  const v = e && typeof e === "object" ? e : { value: e };
  const text = about.text ?? fmt(v.value, unit, about.digits ?? 2, about.like), spread = about.plain ? "" : range(v, unit, about.digits ?? 2, about.like);
  const b = el("button", { type: "button", className: "num", onclick: () => openDrawer({ ...about, ...v, unit, text }) }, text);
  b.dataset.value = v.value;
  b.setAttribute("aria-haspopup", "dialog");
  if (about.label) b.setAttribute("aria-label", `${about.label}: ${text}`);
  return spread ? el("span", { className: "nb" }, b, el("small", { className: "spread" }, ` (${spread})`)) : b;
}
// Changes what is in `box`; the keyboard stays where it was: on the element that took the place of the focused one.
export function keepFocus(box, change) {
  const stops = () => [...box.querySelectorAll("a, button, input, select, summary, [tabindex]")], was = document.activeElement, at = box.contains(was) ? stops().indexOf(was) : -1, words = was?.getAttribute?.("aria-label") ?? was?.textContent;
  change();
  if (at < 0 || box.contains(was)) return;
  const now = stops(), same = now.find((e) => (e.getAttribute("aria-label") ?? e.textContent) === words && e.tagName === was.tagName);
  (same ?? now[Math.min(at, now.length - 1)] ?? document.getElementById("view")).focus({ preventScroll: true });
}
// While an answer is made: what stood there stays, and after a moment it says so, to those who listen too.
function wait(box) {
  box.dataset.wait = `${t("working")}…`;
  box.classList.add("waiting");
  setTimeout(() => { if (box.classList.contains("waiting")) say(box.dataset.wait); }, 400);
}
// latest() of a question whose answer stands in `box`.
export const answering = (box, work) => latest(async () => { wait(box); try { await work(); } finally { box.classList.remove("waiting"); } });
// A sentence of words.js with elements between its parts.
// What follows a figure without a space, a particle or a full stop, stays on its line.
export function sentence(parts, ...inside) {
  let tail = "";
  parts = parts.map((part, i) => (i ? after(part, inside[i - 1]?.textContent ?? String(inside[i - 1] ?? "")) : part));
  return parts.flatMap((part, i) => {
    const text = part.slice(tail.length), e = inside[i], own = e instanceof Element, next = own ? /^[^\s(]{1,8}/.exec(parts[i + 1] ?? "")?.[0] ?? "" : "";
    tail = next;
    return [text, next ? el("span", { className: "nb" }, e, next) : e];
  }).filter((x) => x != null && x !== "");
}
// On a phone, while the answer is out of sight: its two figures at the lower edge.
export function pocket(answer, ...figures) {
  let bar = document.getElementById("pocket");
  if (!bar) {
    document.body.append(bar = el("div", { id: "pocket", hidden: true, "aria-hidden": "true" }));
    new IntersectionObserver(([seen]) => { bar.classList.toggle("out", !seen.isIntersecting); }).observe(answer);
  }
  bar.replaceChildren(...figures.map(([label, text]) => el("span", {}, el("small", {}, label), " ", el("b", {}, text))));
  bar.hidden = false;
}
// A table that a phone shows row by row, each cell with its head (.many in the reports' style sheet). `right`: which columns are figures.
export function manyTable(heads, right, rows) {
  for (const row of rows) [...row.cells].forEach((c, i) => { if (heads[i] && c.colSpan === 1 && (i || !Number.isNaN(Number(c.textContent)))) c.setAttribute("data-h", heads[i]); });
  return el("div", { className: "wide many" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((h, i) => el("th", { scope: "col", className: right(h, i) ? "r" : "" }, h)))), el("tbody", {}, rows)));
}
// A number longer than its box, written so that all of it is seen: "1.56e13".
const short = (text, width) => { const v = Number(text); return width && String(text).length > width && v ? v.toExponential().replace("+", "") : text; };
// unit: [name, how many of it make one of the state's]: the address holds seconds, the field shows milliseconds.
export function field(key, { label, list, type = "text", placeholder = t("auto"), width, unit: [unit, each] = ["", 1] } = {}) {
  const scaled = (text, by) => (by === 1 || text === "" || Number.isNaN(Number(text)) ? text : String(Number((Number(text) * by).toPrecision(9))));
  const input = el("input", { id: "f-" + key, type, value: short(scaled(state[key], each), width), placeholder, list, spellcheck: false, autocomplete: "off", className: unit ? "unit" : "", onchange: (e) => set({ [key]: scaled(e.target.value.trim(), 1 / each) }, true) });
  if (width) input.size = width;
  return el("label", { className: "field" }, el("span", {}, label ?? t(key)), input, unit ? el("i", {}, unit) : null);
}
export function choice(key, values, { label } = {}) {
  const select = el("select", { id: "f-" + key, onchange: (e) => set({ [key]: e.target.value }, true) }, values.map(([v, text]) => el("option", { value: v, selected: v === state[key] }, text)));
  return el("label", { className: "field" }, el("span", {}, label ?? t(key)), select);
}
export function slider(key, values, show, { label } = {}) {
  const index = (wanted = Number(state[key]) || values[0]) => { let best = 0; values.forEach((v, i) => { if (Math.abs(Math.log(v / wanted)) < Math.abs(Math.log(values[best] / wanted))) best = i; }); return best; };
  const out = el("output", {}, state[key] === "" ? t("auto") : show(state[key]));
  const input = el("input", { type: "range", id: "s-" + key, min: 0, max: values.length - 1, step: 1, value: index(), oninput: (e) => { const v = values[e.target.value]; out.textContent = show(v); input.setAttribute("aria-valuetext", out.textContent); set({ [key]: String(v) }); } });
  input.setAttribute("aria-valuetext", out.textContent);
  const box = el("label", { className: "slider" }, el("span", {}, label ?? t(key)), out, input, el("small", { ariaHidden: "true" }, show(values[0])), el("small", { ariaHidden: "true" }, show(values.at(-1))));
  // what was chosen for the person, while nothing else is said
  box.chosen = (v) => { if (state[key] !== "" || v == null) return; input.value = index(v); out.textContent = `${show(v)} (${t("auto")})`; input.setAttribute("aria-valuetext", out.textContent); };
  return box;
}
export function chips(key, values, { label } = {}) {
  const box = el("div", { className: "chips", role: "group", "aria-label": label ?? t(key) }, el("span", {}, label ?? t(key)));
  for (const [v, text] of values) {
    box.append(el("button", { type: "button", className: "chip", "data-auto": v === "" ? key : undefined, "aria-pressed": String(state[key] === v), onclick: (e) => { set({ [key]: v }, true); for (const b of box.querySelectorAll(".chip")) b.setAttribute("aria-pressed", String(b === e.target)); } }, text));
  }
  return box;
}
// What a printed page says of its question.
let printed = null;
addEventListener("beforeprint", () => { const p = document.getElementById("printed"); if (p) p.textContent = [printed?.(), location.href].filter(Boolean).join(" · "); });
export const copyButton = (line) => (printed = line, el("button", { type: "button", className: "quiet", onclick: async (e) => {
  const b = e.target;
  try { await navigator.clipboard.writeText(line()); } catch { prompt(t("copy"), line()); }
  b.textContent = t("copied");
  setTimeout(() => { b.textContent = t("copy"); }, 1500);
} }, t("copy")));
export const say = (text) => { document.getElementById("say").textContent = text; };
// A fragment that the program made (it escapes what is in it).
export function fragment(html) {
  const box = el("div", { className: "doc" });
  box.innerHTML = html;
  for (const e of box.querySelectorAll("pre")) e.tabIndex = 0;
  for (const d of box.querySelectorAll("figure > .data")) d.parentElement.append(taken(d.parentElement, d));
  return box;
}
// A chart of a document, taken away: the drawing that is shown, and its data as the program wrote them.
function taken(figure, data) {
  const file = figure.querySelector("figcaption").textContent.trim().replace(/[^\p{L}\p{N}]+/gu, "-").toLowerCase(), button = (name, give) => el("button", { type: "button", className: "quiet", onclick: give }, name);
  const drawn = () => [...figure.querySelectorAll(":scope > svg")].find((s) => s.getBoundingClientRect().width);
  return el("div", { className: "picture" }, data, button("SVG", async () => { const { svgText } = await import("/picture.js"), chart = drawn(); if (chart) save(`${file}.svg`, "image/svg+xml", svgText(chart)); }), button("CSV", () => save(`${file}.csv`, "text/csv", data.dataset.csv)));
}
export function save(name, type, text) {
  const a = el("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 1000);
}
export function dropZone(text, take) {
  const input = el("input", { type: "file", className: "sr", onchange: (e) => e.target.files[0] && take(e.target.files[0]) });
  const zone = el("label", { className: "drop" }, text + " · ", el("u", {}, t("choose_file")), input);
  zone.addEventListener("dragover", (e) => { e.preventDefault(); zone.classList.add("over"); });
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("drop", (e) => { e.preventDefault(); zone.classList.remove("over"); if (e.dataTransfer.files[0]) take(e.dataTransfer.files[0]); });
  return zone;
}
