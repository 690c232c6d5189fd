// What is wrong and what would put it right: an error or an empty answer as its reason, its figure and one click. It asks no questions but the one that finds
// enough GPUs, and knows the state's keys.
import { state, set, defaults } from "/state.js";
import { t, fill } from "/words.js";
import { el } from "/dom.js";

// Options of the commands, as the page calls them: [key of the state, its word].
const fields = { "global-batch": ["global", "global_batch"], only: ["only", "vendor"], util: ["util", "util"], horizon: ["years", "years"], buy: ["price", "buy_price"], rent: ["hourly", "rent_price"], kwh: ["tariff", "tariff"], ttft: ["ttft", "ttft_s"], tpot: ["tpot", "tpot_s"], weights: ["weights", "weights_as"] };
const fieldOf = (option) => fields[option] ?? (option in defaults ? [option, option] : null);
export const again = (change) => { set(change, true); dispatchEvent(new Event("popstate")); };
export const chip = (text, onclick) => el("button", { type: "button", className: "chip", onclick }, text);
// The server is gone: the page is loaded again once it answers.
const retry = async (e) => { const b = e.target; b.disabled = true; try { await fetch("/healthz"); location.reload(); } catch { b.disabled = false; } };

// "did you mean a, b?", "fits 7 accelerators: a, b; write one of them": each takes the place of the word that was not understood.
function instead(en) {
  const word = /'([^']*)'/.exec(en)?.[1] ?? "", list = (/did you mean ([^?]*)\?/.exec(en) ?? /fits \d+ [a-z ]+: ([^;]*);/.exec(en))?.[1].split(", ").slice(0, 3) ?? [];
  if (/^no model|model/.test(en) && list.length) return list.map((name) => [name, { model: name }]);
  if (list.length) return list.map((name) => (state.on.includes(word) ? state.on.replace(word, name) : name)).map((on) => [on, { on }]);
  return null;
}
function repairs(e) {
  const en = e.en ?? e.message, option = /^--([\w-]+)/.exec(en)?.[1], field = option && fieldOf(option);
  if (e.lost) return [chip(t("r_again"), retry)];
  if (option === "budget" && /no unit/.test(en)) return ["USD", "KRW"].slice(state.cur === "KRW" ? 1 : 0).slice(0, 1).map((money) => chip(`${state.budget} ${money}`, () => again({ budget: `${state.budget} ${money}` })));
  const others = instead(en);
  if (others) return others.map(([name, change]) => chip(name, () => again(change)));
  if (field) return [chip(fill("r_without", t(field[1])), () => again({ [field[0]]: option === "tokens" && !/language models/.test(en) ? defaults.tokens : /^(batch|seq|global-batch)$/.test(option) ? "" : option === "tokens" ? defaults.tokens : defaults[field[0]] }))];
  const key = /model/.test(en) ? "model" : "on";
  return state[key] !== defaults[key] ? [chip(defaults[key], () => again({ [key]: defaults[key] }))] : [chip(t("r_again"), () => dispatchEvent(new Event("popstate")))];
}
// In the page's words: the field's name for its option, nothing of columns and commands.
function reason(text) {
  const [, option, rest] = /^--([\w-]+):? (.*)$/s.exec(text) ?? [], field = option && fieldOf(option);
  return (field ? `${t(field[1])}${/^is /.test(rest) ? "" : ":"} ${rest}` : text).replace(/^(system, column \d+|시스템 표기 \d+번째 글자): /, "").replace(/[;.] ?[^;.']*'jeoul [^']*'[^;.]*$/, "").replace(/--([\w-]+)/g, (all, o) => (fieldOf(o) ? `‘${t(fieldOf(o)[1])}’` : all));
}
export const fault = (e) => el("div", { className: "fault", role: "alert" }, el("p", {}, reason(e.message)), el("p", { className: "repair" }, repairs(e)));
export const repair = (...chips) => el("p", { className: "repair" }, ...chips);

// "4x(8x h100-sxm5) over ib-hdr": 32 GPUs, of which kind, over what; and the same with another number.
const HOST = 8; // GPUs of a usual host: more of them are several hosts
export function counted(on) {
  const [, hosts, each, inside, over, n, alone] = /^(?:(\d+)x ?\((?:(\d+)x )?([^()]+)\)(.*)|(?:(\d+)x )?([^()]+))$/.exec(on.trim()) ?? [];
  return { n: Number(hosts ?? 1) * Number(each ?? n ?? 1), gpu: inside ?? alone ?? on, over: over ?? "" };
}
export function withCount(on, n) {
  const { gpu, over } = counted(on);
  return n > HOST ? `${n / HOST}x(${HOST}x ${gpu})${over}` : n > 1 ? `${n}x ${gpu}` : gpu;
}
const MORE = 16; // times as many GPUs are still an answer to who asked
// The smallest doubling of the system on which it fits, as a chip behind `words`; `ask(on)` answers { fits, text } or throws.
export async function enough(box, on, ask, change) {
  for (let n = 2 ** Math.ceil(Math.log2(counted(on).n + 1)); n <= MORE * counted(on).n; n *= 2) {
    const wider = withCount(on, n);
    try {
      const a = await ask(wider);
      if (!a.fits) continue;
      box.replaceChildren(t("r_fits_on"), " ", chip(`${wider}: ${a.text}`, () => again(change(wider))));
    } catch { /* such a system is not written so */ }
    return;
  }
}
