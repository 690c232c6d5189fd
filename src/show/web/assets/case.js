// The question as a sentence whose words can be changed, and the system builder below it. Ask, What if, Scaling and Price share it.
import { state, set, hello } from "/state.js";
import { t, ending } from "/words.js";
import { el, dropZone, field, choice } from "/dom.js";
import { takeModel } from "/modelfile.js";
import { names } from "/plan.js";

export function lists() {
  const option = ([id, name]) => el("option", { value: id }, name);
  const boxes = ["models", "gpus", "systems"].map((kind) => el("datalist", { id: "l-" + kind }));
  // lists are not opened before the answer is there
  setTimeout(() => {
    for (const box of boxes) box.append(...(hello[box.id.slice(2)] ?? []).map(option));
    boxes[2].prepend(option(["this", t("this_machine")]));
  }, 300);
  return boxes;
}
// "8x h100" offers as many of each accelerator that is called so.
function offer(text) {
  const [, n, rest] = /^(\d+)\s*x\s*(.*)/i.exec(text) ?? [], box = document.getElementById("l-systems"), words = (rest ?? "").toLowerCase().split(/\s+/);
  for (const old of box.querySelectorAll("[data-n]")) old.remove();
  for (const [id, name] of n ? hello.gpus ?? [] : []) if (words.every((w) => `${id} ${name}`.toLowerCase().includes(w))) box.append(el("option", { value: `${n}x ${id}`, "data-n": n }, name));
}
// where the style sheet cannot do it (field-sizing)
const grow = (input) => { if (!CSS.supports("field-sizing", "content")) input.style.width = `calc(${Math.max(input.value.length, 4)}ch + 1.1em)`; };
export function word(key, list, label) {
  const input = el("input", { className: "word", id: "q-" + key, value: state[key], list, spellcheck: false, autocomplete: "off", "aria-label": label });
  grow(input);
  input.addEventListener("input", () => { grow(input); if (list === "l-systems") offer(input.value); });
  input.addEventListener("change", () => { set({ [key]: input.value.trim() }, true); });
  input.addEventListener("focus", () => input.select());
  return input;
}
const pattern = /^(?:(\d+)x *\(|)(?:(\d+)x *)?([\w.:-]+)(?: via ([\w-]+))?\)?(?: over ([\w-]+))?$/;
function builder() {
  const [, hosts, n, gpu, via, net] = pattern.exec(state.on) ?? [];
  const named = !hosts && (hello.systems ?? []).some(([id]) => id === gpu); // a system is one node already: its number counts nodes
  const it = { hosts: hosts ?? (named ? n : null) ?? "1", n: (named ? null : n) ?? "1", gpu: gpu ?? "", via: via ?? "", net: net ?? "" };
  const write = () => {
    let text = `${Number(it.n) > 1 ? it.n + "x " : ""}${it.gpu}${it.via ? " via " + it.via : ""}`;
    if (Number(it.hosts) > 1) text = `${it.hosts}x(${text})${it.net ? " over " + it.net : ""}`;
    document.getElementById("q-on").value = text;
    grow(document.getElementById("q-on"));
    set({ on: text });
  };
  const input = (key, label, props) => el("label", { className: "field" }, el("span", {}, label), el("input", { value: it[key], onchange: (e) => { it[key] = e.target.value.trim(); write(); }, ...props }));
  const links = (roles) => [el("option", { value: "" }, t("as_listed")), ...(hello.links ?? []).filter(([, , role]) => roles.includes(role)).map(([id, name]) => el("option", { value: id }, name))];
  const select = (key, label, roles) => { const s = el("select", { onchange: (e) => { it[key] = e.target.value; write(); } }, links(roles)); s.value = it[key]; return el("label", { className: "field" }, el("span", {}, label), s); };
  return el("details", { className: "build" }, el("summary", {}, t("build")), el("div", { className: "fields" },
    input("n", t("per_host"), { type: "number", min: 1, max: 64 }), input("gpu", t("gpu"), { list: "l-gpus" }), select("via", t("link"), ["join"]), input("hosts", t("hosts"), { type: "number", min: 1, max: 4096 }), select("net", t("network"), ["network"]),
    el("button", { type: "button", className: "quiet", onclick: () => { document.getElementById("q-on").value = "this"; set({ on: "this" }); } }, t("this_machine"))));
}
export function question({ verb = "q_verb", end = "q_end", drop = true } = {}) {
  const ko = state.lang === "ko", first = word("model", "l-models", t("model")), second = word("on", "l-systems", t("system")), between = el("span"), particle = el("span"), behind = el("span");
  const join = () => {
    between.textContent = ko ? ending(first.value, "을", "를") + " " : ` ${t("q_on")} `;
    const tail = ko && end === "q_serve_end" ? ending(second.value, "으로", "로") + t(end) : t(end);
    particle.textContent = /^\S*/.exec(tail)[0]; // stays with its word
    behind.textContent = tail.slice(particle.textContent.length);
  };
  first.addEventListener("input", join);
  second.addEventListener("input", join);
  join();
  return el("section", { className: "question" }, ...lists(),
    el("h1", {}, t(verb) ? t(verb) + " " : "", el("span", { className: ko ? "nb" : "" }, first, between), el("wbr"), el("span", { className: "nb" }, second, particle), behind),
    el("div", { className: "below" }, builder(), drop ? dropZone(t("drop"), (f) => takeModel(f).then(() => { const w = document.getElementById("q-model"); w.value = state.model; grow(w); }, () => alert(`${f.name} ${t("unread")}`))) : null));
}
export const precisions = () => [["", t("auto")], ...["fp32", "tf32", "fp16", "bf16", "fp8"].map((p) => [p, p])];
export const frameworks = () => [["", t("auto")], ...["eager", "compiled", "megatron", "native"].map((p) => [p, names[p] ?? p])];
export const recomputes = () => [["", t("auto")], ["none", t("recompute_none_short")], ["selective", t("recompute_selective")], ["full", t("recompute_full")]];
export const zeros = () => [["", t("auto")], ...["0", "1", "2", "3"].map((p) => [p, "ZeRO-" + p])];
// Choices that a proposal made, where they can be taken back.
const given = () => [state.tune && choice("tune", [["", t("tune_full")], ["lora", "LoRA"], ["qlora", "QLoRA"]]), state.offload && choice("offload", [["", t("recompute_none_short")], [state.offload, state.offload]])].filter(Boolean);
export const settings = () => el("div", { className: "fields" }, field("tokens", { width: 8, placeholder: t("e_tokens") }), field("batch", { type: "number", width: 6 }), field("seq", { type: "number", width: 7 }), choice("precision", precisions()), choice("framework", frameworks()), choice("recompute", recomputes()), choice("zero", zeros()), ...given());
