// What is asked is in the address: it can be shared, and Back goes back to the question before. Language and money are the reader's: they stay as chosen.
export const defaults = {
  view: "ask", lang: "en", cur: "USD", model: "llama-3-8b", on: "8x h100-sxm5", batch: "", seq: "", precision: "", framework: "", recompute: "", zero: "", tokens: "1e10", global: "", flash: "", offload: "", tune: "",
  upto: "64", how: "rent,spot,buy", region: "", budget: "", deadline: "", only: "", machine: "rtx-4090", util: "60", years: "3", price: "", hourly: "", tariff: "", watts: "", resale: "0",
  rate: "4", prompt: "1024", answer: "256", ttft: "0.5", tpot: "0.05", weights: "", set: "train_llm", filter: "", pin: "", checkpoint: "", recovery: "", spares: "", cap: "", pue: "", example: "seed-000", vs: "8x h100-sxm5|8x h200-sxm|8x b200|8x a100-sxm4-80gb", job: "train", kind: "gpus", find: "", record: "",
};
const former = { model: "smodel", on: "son" }; // Serve had a question of its own: such addresses were shared
export const state = { ...defaults };
export const hello = {};
export const files = {}; // texts of what was dropped, by name: they go with the request
const listeners = new Set();

export function read({ back = false } = {}) {
  const query = new URLSearchParams(location.search), own = back ? { lang: state.lang, cur: state.cur } : {};
  for (const key of Object.keys(defaults)) state[key] = own[key] ?? query.get(key) ?? query.get(former[key]) ?? remembered[key] ?? defaults[key];
  if (back) history.replaceState(null, "", address());
}
const remembered = {};
export function remember(key, value) { remembered[key] = value; }
export function address(change = {}) {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries({ ...state, ...change })) if (String(value) !== String(remembered[key] ?? defaults[key])) query.set(key, value);
  return "/" + (query.size ? "?" + query : "");
}
let waits = 0;
// A slider moves faster than an address need be written; leaving the page writes it.
const write = () => { if (waits) { clearTimeout(waits); waits = 0; history.replaceState(null, "", address()); } };
addEventListener("pagehide", write);
export function set(change, push = false) {
  if (push) { write(); Object.assign(state, change); history.pushState(null, "", address()); }
  else { Object.assign(state, change); waits ||= setTimeout(write, 120); }
  for (const f of listeners) f(change);
}
export const listen = (f) => { listeners.add(f); return () => listeners.delete(f); };
