// One question at a time for each place on the page: a newer one takes the place of what has not been sent yet.
import { state, files, defaults } from "/state.js";
import { t, fill } from "/words.js";

export class Refused extends Error { constructor(text, { en = text, lost = false } = {}) { super(text); this.en = en; this.lost = lost; } }

// askEarly: the page's first question, sent before there is a page; ask() with the same words takes its answer, once.
const early = new Map();
export function askEarly(command, body) {
  const answer = ask(command, body);
  early.set(command + JSON.stringify(body), answer);
  return answer;
}
export async function ask(command, body = {}, signal) {
  const words = command + JSON.stringify(body), sent = early.get(words);
  if (sent) { early.delete(words); return sent; }
  let response;
  const used = Object.values(body).some((v) => v in files) ? { files } : {};
  try {
    response = await fetch("/api/v1/" + command.replaceAll(" ", "/"), {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ lang: state.lang, ...used, ...body }), signal,
    });
  } catch (e) {
    if (e.name === "AbortError") throw e;
    throw new Refused(t("lost"), { lost: true });
  }
  const missing = Object.values(body).find((v) => /\.json$/.test(v) && !(v in files));
  if (!response.ok && missing) throw new Refused(fill("drop_again", missing)); // an address says its name, not what was in it
  const type = response.headers.get("content-type") ?? "";
  const answer = type.includes("json") ? await response.json() : await response.text();
  if (!response.ok) throw new Refused(answer.error?.text ?? String(answer), { en: answer.error?.en });
  return answer;
}

// latest(f): calls while one is under way are kept, the last of them is made when it is done.
export function latest(work) {
  let busy = false, again = null;
  return async function go(...args) {
    if (busy) { again = args; return; }
    busy = true;
    try { await work(...args); } finally {
      busy = false;
      if (again) { const next = again; again = null; go(...next); }
    }
  };
}

const quote = (v) => (/^[\w@%+=:,./-]+$/.test(v) ? v : `"${String(v).replace(/(["\\$`])/g, "\\$1")}"`);
export function commandLine(command, body, operand = "model") {
  const args = [];
  for (const [key, value] of Object.entries(body)) {
    for (const v of Array.isArray(value) ? value : [value]) {
      if (v === "" || v == null || v === false || key === "as") continue;
      if (key === operand) args.unshift(quote(v));
      else args.push(v === true ? `--${key}` : `--${key} ${quote(v)}`);
    }
  }
  return ["jeoul", command, ...args].join(" ");
}
// Without what is empty.
export const tidy = (body) => Object.fromEntries(Object.entries(body).filter(([, v]) => v !== "" && v != null));
// The run that the page is about, as options of `predict`. Networks take no tokens: the page's own number is not sent with them.
const wordless = new Set(), usual = (s) => s.tokens === defaults.tokens;
export function caseOf(s = state) {
  return tidy({ model: s.model, on: s.on, batch: s.batch, "global-batch": s.global, seq: s.seq, precision: s.precision, framework: s.framework, recompute: s.recompute, flash: s.flash, offload: s.offload, tune: s.tune,
    parallel: s.zero === "" ? "" : `zero=${s.zero}`, tokens: wordless.has(s.model) && usual(s) ? "" : Number(s.tokens) >= 1 && Number(s.tokens) < 1e18 ? Math.round(Number(s.tokens)) : s.tokens });
}
// A service sized to its targets, asked for the same way wherever it is asked.
export const serveRequest = (more) => ({ ...tidy({ model: state.model, on: state.on, prompt: state.prompt, answer: state.answer, weights: state.weights, ...more }), rate: `${state.rate}/s`, ttft: `${state.ttft} s`, tpot: `${state.tpot} s` });
export async function askCase(more) {
  const { model } = state, body = caseOf();
  try { return await ask("predict", { ...body, ...more }); } catch (e) {
    if (!usual(state) || wordless.has(model)) throw e;
    const { tokens, ...rest } = body;
    try { const answer = await ask("predict", { ...rest, ...more }); wordless.add(model); return answer; } catch { throw e; }
  }
}
