// Figures as the program writes them: two digits of what is estimated, a range in the unit of its value; none where both ends are written alike.
import { state, hello } from "/state.js";

const steps = {
  s: [[86400 * 365, "y"], [86400 * 60, "d"], [86400 * 2, "d"], [3600, "h"], [120, "min"], [1, "s"], [1e-3, "ms"], [1e-6, "µs"]],
  B: [[2 ** 50, "PiB"], [2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "B"]],
  Bps: [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"], [1, "B/s"]],
  flopps: [[1e15, "PFLOP/s"], [1e12, "TFLOP/s"], [1e9, "GFLOP/s"]],
  J: [[3.6e12, "GWh"], [3.6e9, "MWh"], [3.6e6, "kWh"], [1e3, "kJ"], [1, "J"]], W: [[1e6, "MW"], [1e3, "kW"], [1, "W"]], Hz: [[1e9, "GHz"], [1e6, "MHz"]],
};
const size = { y: 86400 * 365, d: 86400, h: 3600, min: 60 };
const ko_units = { y: "년", d: "일", h: "시간", min: "분", s: "초" };

// 12,345; by hand, because a browser takes 40 ms to find out how a language writes its first number.
export const grouped = (v) => String(v).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
export function digits(v, n = 2) {
  if (v == null || !Number.isFinite(v)) return "–";
  if (v === 0) return "0";
  const up = Math.max(0, n - 1 - Math.floor(Math.log10(Math.abs(v))));
  const rounded = Number(v.toPrecision(Math.max(n, 1)));
  const [whole, fraction] = rounded.toFixed(Math.min(up, 12)).split(".");
  return grouped(whole) + (fraction ? `.${fraction}`.replace(/\.?0+$/, "") : "");
}
function unitOf(v, unit) {
  const list = steps[unit];
  if (!list) return [1, unit && unit !== "1" ? unit : ""];
  for (const [least, name] of list) if (Math.abs(v) >= least) return [size[name] ?? least, name];
  const [last, name] = list[list.length - 1];
  return [size[name] ?? last, name];
}
// The size of the unit in which v is written: round figures of an axis are round in it.
export const sizeOfUnit = (v, unit) => unitOf(v, unit)[0];
// v in the unit in which `most` is written: the figures of one axis.
export const fmtLike = (v, most, unit) => { const [by, name] = unitOf(most, unit); return glue(digits(v / by, 3), name); };
const named = (name) => (state.lang === "ko" && ko_units[name]) || name;
const glue = (text, name) => (!name ? text : state.lang === "ko" && ko_units[name] ? text + named(name) : text + " " + name);

// like: the figure whose unit is taken, the same for all of a column.
export function fmt(v, unit = "1", n = 2, like = v) {
  if (v == null || Number.isNaN(v)) return "–";
  if (unit === "frac") return digits(100 * v, n) + " %";
  if (unit === "usd") return money(v, n);
  if (unit === "count") return grouped(Math.round(v));
  const [by, name] = unitOf(like, unit);
  return glue(digits(v / by, n), name);
}
export function range(e, unit, n = 2, like = e?.value) {
  if (!e || e.lo == null || e.lo === e.hi) return "";
  if (unit === "usd") { // one sign for both ends where they share it
    const lo = money(e.lo, n), hi = money(e.hi, n), tail = /[^\d.,]+$/.exec(hi)?.[0] ?? "", head = /^[^\d]+/.exec(hi)?.[0] ?? "";
    return lo === hi ? "" : `${tail && lo.endsWith(tail) ? lo.slice(0, -tail.length) : lo}–${head && lo.startsWith(head) ? hi.slice(head.length) : hi}`;
  }
  const [by] = unit === "frac" ? [0.01] : unitOf(like, unit);
  const ends = [e.lo, e.hi].map((v) => digits(v / by, n));
  return ends[0] === ends[1] ? "" : ends.join("–");
}
// Prices and rates of more than 90 days are marked, as the commands mark them.
export const isOld = (date) => Boolean(date) && Date.now() - Date.parse(date) > 90 * 864e5;
export const dated = (date) => `${date}${isOld(date) ? " ⚠" : ""}`;
// How many times as fast: 8.04×, 0.45×.
export const times = (v) => `${digits(v, v < 1 ? 2 : 3)}×`;
// A sum of dollars as a number in the money that is shown, and such a number as text: axes want round figures in it.
export const inMoney = (usd) => (state.cur === "KRW" ? usd * hello.krw_per_usd : usd);
export const money = (usd, n = 3) => (usd == null ? "–" : moneyText(inMoney(usd), n));
export function moneyText(v, n = 3) {
  const won = state.cur === "KRW";
  if (won && state.lang === "ko") {
    for (const [by, name] of [[1e8, "억"], [1e4, "만"]]) if (v >= by) return digits(v / by, n) + name + " 원";
    return digits(v, n) + "원";
  }
  return (won ? "₩" : "$") + (v >= 1e6 ? digits(v / 1e6, n) + " M" : won ? digits(v, n) : digits(v, n).replace(/\.\d$/, "$&0")); // cents
}
// 1e9 -> "1 B", as people say it of tokens
export function many(v) {
  if (state.lang === "ko") { for (const [by, name] of [[1e12, "조"], [1e8, "억"], [1e4, "만"]]) if (v >= by) return digits(v / by, 3) + name; return digits(v, 3); }
  for (const [by, name] of [[1e12, " trillion"], [1e9, " billion"], [1e6, " million"]]) if (v >= by) return digits(v / by, 3) + name;
  return digits(v, 3);
}
export const percent = (f) => digits(100 * f, f < 0.1 ? 1 : f < 0.995 ? 2 : 3) + " %"; // 101 % is not 100 %
