import { state } from "/state.js";
import { t, parts, fill } from "/words.js";
import { fmt, money, moneyText } from "/format.js";
import { el, num, slider, field, choice, copyButton, sentence, answering, pocket } from "/dom.js";
import { fault } from "/repair.js";
import { ask, commandLine, tidy } from "/api.js";
import { plot, tornado, widthOf, keepDrawn } from "/draw.js";

const nice = (lo, hi) => { const l = []; for (let v = lo; v <= hi * 1.001; v *= 1.25) l.push(Number(v.toPrecision(2))); return [...new Set(l)]; };
const inputs = { rent: "rent_price", price: "buy_price", per_kWh: "kwh_price" }; // of the others the key is the word

export function show(main) {
  const answer = el("section", { className: "result" }), chart = el("figure"), bars = el("figure");
  let last = null;
  const price = () => Number(state.price) || 25000, hourly = () => Number(state.hourly) || 2, watts = () => Number(state.watts) || 1200;
  const tariff = () => state.tariff || (state.cur === "KRW" ? "kepco-general" : "0.12 USD/kWh"), named = () => tariff().startsWith("kepco"), tariffs = [["0.12 USD/kWh", `${t("flat")} 0.12 USD/kWh`], ["150 KRW/kWh", `${t("flat")} 150 KRW/kWh`], ["0.30 USD/kWh", `${t("flat")} 0.30 USD/kWh`], ["kepco-general", t("kepco_general")], ["kepco", t("kepco_home")]];
  const request = () => tidy({ buy: `${t("bought")} ${price()} USD, watts=${watts()} W`, rent: `${hourly()} USD/h`, util: `${state.util}%`, horizon: `${state.years} y`, currency: state.cur, kwh: named() ? "" : tariff(), tariff: named() ? tariff() : "" });
  state.price ||= "25000"; state.hourly ||= "2"; state.watts ||= "1200";
  main.append(el("div", { className: "split" }, el("div", { className: "controls" },
    slider("util", [1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100], (v) => v + " %"), slider("years", [1, 2, 3, 4, 5, 6, 8, 10], (v) => fill("year_n", v)), slider("price", nice(500, 500000), (v) => money(Number(v), 2), { label: t("buy_price") }), slider("hourly", nice(0.1, 120), (v) => money(Number(v), 2) + t("hour_of"), { label: t("rent_price") }), slider("watts", nice(100, 20000), (v) => fmt(Number(v), "W"), { label: t("watts") }),
    choice("tariff", [["", `${t("auto")}: ${tariffs.find(([v]) => v === (state.cur === "KRW" ? "kepco-general" : "0.12 USD/kWh"))[1]}`], ...tariffs])),
  el("div", {}, answer, chart, bars, el("div", { className: "actions" }, copyButton(() => commandLine("cost", request()))))));
  const show_ = (v) => moneyText(v, 2);
  // months end before the years do: the last month goes on to the end
  const toEnd = (list) => { const [a, b] = list.slice(-2), x = last.horizon_days; return b && b.x < x ? [...list, { x, y: b.y + ((b.y - a.y) / (b.x - a.x)) * (x - b.x) }] : list; };
  function draw() {
    if (!last) return;
    const w = widthOf(chart), be = last.break_even?.[0], series = last.options.map((o, i) => ({ name: o.kind === "buy" ? `${t("bought")}, ${money(price(), 2)}` : `${t("rented")}, ${money(hourly(), 2)}${t("hour_of")}`, cls: o.kind === "buy" ? "main" : "second", dots: false, points: toEnd(o.paid.map((p) => ({ x: p.day, y: p.total }))) }));
    const top = Math.max(...series.flatMap((s) => s.points.map((p) => p.y)));
    chart.replaceChildren(el("figcaption", {}, t("b_paid")), plot({ width: w, height: 320, name: t("b_paid"), words: series.map((s) => `${s.name} ${show_(s.points.at(-1).y)}`).join(", "), x: { label: t("months"), lo: 0, hi: last.horizon_days, ticks: Array.from({ length: 7 }, (_, i) => (last.horizon_days * i) / 6), show: (v) => String(Math.round(v / 30.44)) }, y: { label: "", lo: 0, hi: top * 1.05, show: show_ }, series, marks: be?.break_even_days ? [{ x: be.break_even_days, name: fmt(be.break_even_days * 86400, "s") }] : [] }));
    const rows = (be?.sensitivity ?? []).map((s) => ({ name: t(inputs[s.input] ?? s.input), lo: s.days_at_80_percent, hi: s.days_at_120_percent })).filter((r) => r.lo != null || r.hi != null);
    bars.replaceChildren(...(be?.break_even_days && rows.length ? [el("figcaption", {}, t("tornado")), tornado({ width: w, name: t("tornado"), rows, centre: be.break_even_days, limit: last.horizon_days, show: (v) => (v > last.horizon_days ? fill("over", fmt(last.horizon_days * 86400, "s")) : fmt(v * 86400, "s", 3)) })] : []));
  }
  const update = answering(answer, async () => {
    try {
      last = await ask("cost", request());
      const be = last.break_even?.[0], most = be?.sensitivity?.[0], end = (d) => (d == null ? null : d * 86400);
      const span = most && be.break_even_days != null ? [end(most.days_at_80_percent), end(most.days_at_120_percent)].sort((a, b) => (a ?? Infinity) - (b ?? Infinity)) : null;
      answer.replaceChildren(el("p", { className: "answer" }, be?.break_even_days != null ? sentence(parts("b_after"), num(be.break_even_days * 86400, "s", { label: t("buy"), formula: `${money(price())} ÷ (${money(hourly())}/h × ${state.util} % × 8,760 h − ${moneyText(last.options.find((o) => o.kind === "buy").year_electricity, 3)}) → ${be.break_even_date}`, text: fmt(be.break_even_days * 86400, "s") })) : fill("b_never", state.years)), el("p", { className: "second" }, span ? fill("b_range", t(inputs[most.input] ?? most.input), fmt(span[0], "s"), span[1] == null ? fill("over", fmt(last.horizon_days * 86400, "s")) : fmt(span[1], "s")) + " " : "", fill("b_tariff", tariffs.find(([v]) => v === tariff())?.[1] ?? tariff())));
      pocket(answer, [t("buy"), be?.break_even_days != null ? fmt(be.break_even_days * 86400, "s") : fill("over", fill("year_n", state.years))]);
      draw();
    } catch (e) { answer.replaceChildren(fault(e)); chart.replaceChildren(); bars.replaceChildren(); }
  });
  keepDrawn(chart, draw);
  update();
  return (change) => { if (!("view" in change)) update(); };
}
