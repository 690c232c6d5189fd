import { state } from "/state.js";
import { t, parts, fill, ending } from "/words.js";
import { fmt, digits, money, moneyText, isOld, dated } from "/format.js";
import { el, num, slider, field, choice, copyButton, sentence, answering, pocket } from "/dom.js";
import { fault, repair, chip, again } from "/repair.js";
import { lists, word } from "/case.js";
import { pictureActions } from "/picture.js";
import { ask, commandLine, tidy } from "/api.js";
import { plot, tornado, widthOf, keepDrawn } from "/draw.js";

const nice = (lo, hi) => { const l = []; for (let v = lo; v > 0 && v <= hi * 1.001; v *= 1.25) l.push(Number(v.toPrecision(2))); return [...new Set(l)]; };
const MONTH = 365 / 12;
const inputs = { rent: "rent_price", price: "buy_price", per_kWh: "kwh_price" }; // of the others the key is the word

export function show(main) {
  const answer = el("section", { className: "result" }), chart = el("figure"), bars = el("figure"), taken = el("div");
  let last = null;
  const tariff = () => state.tariff || (state.cur === "KRW" ? "kepco-general" : "0.12 USD/kWh"), named = () => tariff().startsWith("kepco"), tariffs = [["0.12 USD/kWh", `${t("flat")} 0.12 USD/kWh`], ["150 KRW/kWh", `${t("flat")} 150 KRW/kWh`], ["0.30 USD/kWh", `${t("flat")} 0.30 USD/kWh`], ["kepco-general", t("kepco_general")], ["kepco", t("kepco_home")]];
  // What is not said is the catalogue's: the machine's price, what it draws, and the rent of one like it.
  const sold = () => (Number(state.resale) > 0 ? `, life=${state.years} y, resale=${state.resale} %` : "");
  const request = () => tidy({ buy: `${state.machine}${state.price && ` ${state.price} USD`}${state.watts && `, watts=${state.watts} W`}${sold()}`, rent: state.hourly ? `${state.hourly} USD/h` : state.machine, util: `${state.util}%`, horizon: `${state.years} y`, currency: state.cur, kwh: named() ? "" : tariff(), tariff: named() ? tariff() : "" });
  const own = { price: slider("price", nice(500, 500000), (v) => money(Number(v), 3), { label: t("buy_price") }), hourly: slider("hourly", nice(0.1, 120), (v) => money(Number(v), 3) + t("hour_of"), { label: t("rent_price") }), watts: slider("watts", nice(100, 20000), (v) => fmt(Number(v), "W"), { label: t("watts") }), resale: slider("resale", [0, 10, 20, 30, 40, 50, 60, 70, 80], (v) => v + " %") };
  const ko = state.lang === "ko", machine = word("machine", "l-systems", t("system")), after = el("span", {}), join = () => { after.textContent = ko ? ending(machine.value, "을", "를") : "?"; };
  machine.addEventListener("input", join);
  join();
  main.append(el("section", { className: "question" }, ...lists(), el("h1", {}, ko ? "" : `${t("buy")} `, el("span", { className: "nb" }, machine, after), ko ? ` ${t("buy_end")}` : "")), el("div", { className: "split" }, el("div", { className: "controls" },
    slider("util", [1, 2, 5, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100], (v) => v + " %"), slider("years", [1, 2, 3, 4, 5, 6, 8, 10], (v) => fill(v == 1 ? "year_1" : "year_n", v)), ...Object.values(own),
    choice("tariff", [["", `${t("auto")}: ${tariffs.find(([v]) => v === (state.cur === "KRW" ? "kepco-general" : "0.12 USD/kWh"))[1]}`], ...tariffs])),
  el("div", {}, answer, chart, bars, taken, el("div", { className: "actions" }, copyButton(() => commandLine("cost", request()))))));
  const of = (kind) => last.options.find((o) => o.kind === kind), usd = (v, o) => (o.price_currency === "KRW" ? v / last.krw_per_usd : v), price = () => usd(of("buy").price, of("buy")), hourly = () => usd(of("rent").rent_per_hour, of("rent"));
  const show_ = (v) => moneyText(v, 2), months = (days) => digits(days / MONTH, 2), inMonths = (days) => (days == null || days > last.horizon_days ? fill("over", fill("month_n", months(last.horizon_days))) : fill("month_n", months(days)));
  // months may end before the years do: the last month goes on to the end, where the machine is sold
  const resale = (o) => (o.kind === "buy" && Number(state.resale) > 0 ? o.resale : 0);
  const paid = (o) => {
    const list = o.paid.map((p) => ({ x: p.day, y: p.total })), x = last.horizon_days, whole = list.at(-1).x >= x, back = resale(o);
    if (whole) list.at(-1).y += back;
    const [a, b] = list.slice(-2);
    if (!whole && b) list.push({ x, y: b.y + ((b.y - a.y) / (b.x - a.x)) * (x - b.x) });
    return back ? [...list, { x, y: list.at(-1).y - back }] : list;
  };
  function draw() {
    if (!last) return;
    const w = widthOf(chart), be = last.break_even?.[0], swing = be?.sensitivity?.find((q) => q.input === "rent");
    // the rent's line is as wide as the range that the sentence names
    const series = last.options.map((o) => { const bought = o.kind === "buy", points = paid(o); return { name: `${t(bought ? "bought" : "rented")}, ${bought ? money(price(), 3) : money(hourly(), 3) + t("hour_of")}`, cls: bought ? "main" : "second", dots: false, points: bought || !swing ? points : points.map((p) => ({ ...p, lo: 0.8 * p.y, hi: 1.2 * p.y })) }; });
    const top = Math.max(...series.flatMap((s) => s.points.map((p) => p.hi ?? p.y)));
    chart.replaceChildren(el("figcaption", {}, t("b_paid")), plot({ width: w, height: 320, name: t("b_paid"), words: series.map((s) => `${s.name} ${show_(s.points.at(-1).y)}`).join(", "), x: { label: t("months"), lo: 0, hi: last.horizon_days, ticks: Array.from({ length: 7 }, (_, i) => (last.horizon_days * i) / 6), show: (v) => String(Math.round(v / MONTH)) }, y: { label: state.cur, lo: 0, hi: top * 1.05, show: show_ }, series, marks: be?.break_even_days ? [{ x: be.break_even_days, name: inMonths(be.break_even_days) }] : [] }));
    taken.replaceChildren(pictureActions(t("buy"), () => chart.querySelector("svg.chart"), () => [[t("day"), ...last.options.map((o) => `${t(o.kind === "buy" ? "bought" : "rented")} ${state.cur}`)], ...paid(last.options[0]).map((p, i) => [p.x, ...last.options.map((o) => paid(o)[i]?.y ?? "")])]));
    const rows = (be?.sensitivity ?? []).map((s) => ({ name: t(inputs[s.input] ?? s.input), lo: s.days_at_80_percent, hi: s.days_at_120_percent })).filter((r) => r.lo != null || r.hi != null);
    bars.replaceChildren(...(be?.break_even_days && rows.length ? [el("figcaption", {}, t("tornado")), tornado({ width: w, name: t("tornado"), rows, centre: be.break_even_days, limit: last.horizon_days, show: inMonths })] : []));
  }
  const update = answering(answer, async () => {
    try {
      last = await ask("cost", request());
      const be = last.break_even?.[0], most = be?.sensitivity?.[0], b = of("buy"), r = of("rent");
      own.price.chosen(price()); own.hourly.chosen(hourly()); own.watts.chosen(b.active_W);
      const span = most && be.break_even_days != null ? [most.days_at_80_percent, most.days_at_120_percent].sort((x, y) => (x ?? Infinity) - (y ?? Infinity)) : null;
      const total = (o, label) => num(usd(paid(o).at(-1).y, { price_currency: state.cur }), "usd", { label, digits: 3, formula: fill("year_n", state.years) }), listed = (o, v, label) => num(v, "usd", { label, digits: 3, origin: o.price_origin, source: o.price_source, date: o.price_date });
      answer.replaceChildren(el("p", { className: "answer" }, ...(be?.break_even_days != null ? sentence(parts("b_after"), num(be.break_even_days * 86400, "s", { label: t("buy"), formula: `${money(price())} ÷ (${money(hourly())}/h × ${state.util} % × 8,760 h − ${moneyText(b.year_electricity, 3)}) → ${be.break_even_date}`, text: inMonths(be.break_even_days) }), span ? [" ", el("span", { className: "nb" }, `(${months(span[0])}–${span[1] == null || span[1] > last.horizon_days ? `${months(last.horizon_days)}+` : months(span[1])})`)] : "").flat() : [fill("b_never", state.years)]), " ", ...sentence(parts("b_total"), fill("year_n", state.years), total(b, t("bought")), total(r, t("rented")))),
        el("p", { className: "second" }, span ? fill("b_range", t(inputs[most.input] ?? most.input), inMonths(span[0]), inMonths(span[1])) + " " : "", fill("b_tariff", tariffs.find(([v]) => v === tariff())?.[1] ?? tariff()), " ", ...sentence(parts("b_prices"), listed(b, price(), t("buy_price")), listed(r, hourly(), t("rent_price"))), [b, r].filter((o) => isOld(o.price_date)).map((o) => ` ${fill("b_old", t(o === b ? "buy_price" : "rent_price"), dated(o.price_date))}`).join(""), b.price_host_assumed ? ` ${fill("b_host", money(usd(b.price_host_assumed, b), 2))}` : "", ` ${resale(b) ? fill("b_sold", moneyText(resale(b), 3)) : t("b_left")}`));
      pocket(answer, [t("b_pays"), inMonths(be?.break_even_days)]);
      draw();
    } catch (e) {
      const none = /has no price/.test(e.en ?? ""), missing = none && (/^--rent|rent/.test(e.en) && state.price ? { hourly: "2" } : { price: "25000" });
      answer.replaceChildren(none ? el("p", { className: "answer" }, fill("b_none", state.machine)) : fault(e), ...(none ? [repair(...Object.entries(missing).map(([k, v]) => chip(k === "price" ? money(Number(v), 2) : money(Number(v), 2) + t("hour_of"), () => again({ [k]: v }))), chip("rtx-4090", () => again({ machine: "rtx-4090", price: "", hourly: "", watts: "" })))] : []));
      for (const box of [chart, bars, taken]) box.replaceChildren();
    }
  });
  keepDrawn(chart, draw);
  update();
  return (change) => {
    if ("machine" in change && state.price + state.hourly + state.watts !== "") { Object.assign(state, { price: "", hourly: "", watts: "" }); again({}); return; } // another machine has prices of its own
    if (!("view" in change)) update();
  };
}
