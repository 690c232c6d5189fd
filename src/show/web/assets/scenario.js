// A scenario as a form: its questions, systems and workload are read from the text and written back into it, line by line; what the form does not show stays as
// it is. It knows the few keys that most scenarios have, and no YAML beyond them.
import { state } from "/state.js";
import { t } from "/words.js";
import { el, keepFocus } from "/dom.js";

const ASKS = ["speed", "time", "fits", "why", "helps", "scaling", "energy", "rent"], KEYS = ["model", "batch", "seq", "precision", "step", "epochs"];
const quoted = (v) => (/^[\w./-]+( [\w./-]+)*$/.test(v) ? v : JSON.stringify(v));
// The lines of a key: its own and those that are set in below it.
function block(lines, key) {
  const from = lines.findIndex((l) => l.startsWith(`${key}:`));
  if (from < 0) return null;
  let to = from + 1;
  while (to < lines.length && /^( |$)/.test(lines[to]) && !/^\s*$/.test(lines[to])) to++;
  return { from, to };
}
// "- one" below a key, each with the lines that it goes on over.
function items(lines, key) {
  const at = block(lines, key), list = [];
  for (let i = at ? at.from + 1 : 0; at && i < at.to; i++) if (/^ *- /.test(lines[i])) list.push({ from: i, to: i + 1, text: lines[i] }); else if (list.length) { const last = list.at(-1); last.to = i + 1; last.text += lines[i]; }
  return list;
}
const onOf = (text) => (/\bon: ?("[^"]*"|[^,}]+)/.exec(text)?.[1] ?? text.replace(/^ *- /, "")).trim().replace(/^"|"$/g, "");
const read = (text, key) => new RegExp(`\\b${key}: ?("[^"]*"|[^,}\n]*)`).exec(text)?.[1].trim().replace(/^"|"$/g, "") ?? "";
// "name: A100" or "name: {ko: …, en: …}".
const nameOf = (text) => new RegExp(`\\bname: ?\\{[^}]*\\b${state.lang}: ?("[^"]*"|[^,}]+)`).exec(text)?.[1].replace(/^"|"$/g, "") ?? (/\bname: ?\{/.test(text) ? "" : read(text, "name"));
// area: the text; changed(): it has another value.
export function scenarioForm(area, changed) {
  const box = el("div", { className: "scenario" }), lines = () => area.value.split("\n");
  const write = (list) => { area.value = list.join("\n"); keepFocus(box, tell); changed(); };
  const append = (list, key, line) => { const at = block(list, key); if (at) list.splice(at.to, 0, line); else list.push(`${key}:`, line); return list; };
  const ask = (name, on) => { const list = lines(), q = items(list, "questions").find((i) => read(i.text, "ask") === name); if (q && !on) list.splice(q.from, q.to - q.from); if (!q && on) append(list, "questions", `  - {ask: ${name}}`); if (!items(list, "questions").length) { const at = block(list, "questions"); if (at) list.splice(at.from, 1); } write(list); };
  const system = (item, on) => { const list = lines(), keep = item && /baseline: ?yes/.test(item.text) ? ", baseline: yes" : ""; if (!item) append(list, "systems", `  - {on: ${JSON.stringify(on)}}`); else list.splice(item.from, item.to - item.from, ...(on ? [`  - {on: ${JSON.stringify(on)}${keep}}`] : [])); write(list); };
  // The one that the others are held against.
  const against = (item) => {
    const list = lines();
    for (const i of items(list, "systems")) for (let k = i.from; k < i.to; k++) list[k] = list[k].replace(/, ?baseline: ?yes/, "");
    if (/\}\s*$/.test(list[item.to - 1])) list[item.to - 1] = list[item.to - 1].replace(/\}\s*$/, ", baseline: yes}");
    else list.splice(item.from, item.to - item.from, `  - {on: ${JSON.stringify(onOf(item.text))}, baseline: yes}`);
    write(list);
  };
  const work = (key, value) => {
    let list = lines(), at = block(list, "workload");
    if (!at) { list.push(`workload: {${key}: ${quoted(value)}}`); return write(list); }
    let text = list.slice(at.from, at.to).join("\n"), was = new RegExp(`\\b${key}: ?("[^"]*"|[^,}\n]*)`);
    if (was.test(text)) text = value ? text.replace(was, () => `${key}: ${quoted(value)}`) : text.replace(new RegExp(`\n *${key}: ?[^\n{]*$|\\b${key}: ?("[^"]*"|[^,}\n]*),? ?`, "m"), "").replace(/, ?}/, "}");
    else if (value) text = /^workload: ?{/.test(text) ? text.replace("{", () => `{${key}: ${quoted(value)}, `) : `${text}\n  ${key}: ${quoted(value)}`;
    list.splice(at.from, at.to - at.from, ...text.split("\n"));
    write(list);
  };
  const named = (label, value, then, more = {}) => el("label", { className: "field" }, el("span", {}, label), el("input", { value, spellcheck: false, autocomplete: "off", onchange: (e) => then(e.target.value.trim()), ...more }));
  function tell() {
    const list = lines(), asked = items(list, "questions").map((i) => read(i.text, "ask")), systems = items(list, "systems"), at = block(list, "workload"), text = at ? list.slice(at.from, at.to).join("\n") : "", observed = /observed:/.test(text);
    const shown = [...ASKS, ...asked.filter((a) => !ASKS.includes(a) && t(`ask_${a}`) !== `ask_${a}`)];
    box.replaceChildren(
      el("fieldset", { className: "chips" }, el("legend", {}, t("sc_questions")), shown.map((a) => el("button", { type: "button", className: "chip", "aria-pressed": String(asked.includes(a)), onclick: () => ask(a, !asked.includes(a)) }, t(`ask_${a}`)))),
      el("fieldset", {}, el("legend", {}, t("sc_systems")), systems.map((s) => el("div", { className: "fields" }, named(nameOf(s.text) || t("system"), onOf(s.text), (v) => system(s, v), { list: "l-systems" }), el("label", { className: "base" }, el("input", { type: "radio", name: "baseline", checked: /baseline: ?yes/.test(s.text), onchange: () => against(s) }), t("baseline")), el("button", { type: "button", className: "quiet", "aria-label": `${onOf(s.text)}: ${t("take_away")}`, onclick: () => system(s, "") }, "×"))), named(t("add_system"), "", (v) => v && system(null, v), { list: "l-systems", placeholder: t("e_system") })),
      el("fieldset", { className: "fields" }, el("legend", {}, t("sc_workload")), KEYS.filter((k) => read(text, k) || (observed ? false : ["model", "batch", "seq", "precision"].includes(k))).map((k) => named(t(`sc_${k}`), read(text, k), (v) => work(k, v), k === "model" ? { list: "l-models" } : {}))));
  }
  return { box, tell };
}
