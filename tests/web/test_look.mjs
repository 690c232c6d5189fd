// Design requirements: permanent cards, states with remedies, a phone's sticky answer, Korean line breaks, charts with free
// labels, charts as tables and files, Compare, Catalogue and Audit. Usage: test_look.mjs BASE
import { readFileSync } from "node:fs";
import { check, done, open, settle, base, browser } from "./chromium.mjs";
const text = async (page, what) => (await (/svg/.test(what) ? page.locator(what).allTextContents() : page.locator(what).allInnerTexts())).join(" ");

for (const [lang, roles] of [["en", ["Recommended", "Runner-up", "Cheapest", "Fastest"]], ["ko", ["추천", "차선", "최저 비용", "가장 빠름"]]]) { // Price: four permanent cards, labelled front, intervals in both directions, bought machines separate
  const page = await open(`/?view=price&lang=${lang}`), cards = await text(page, ".best .card");
  for (const role of roles) check(cards.includes(role), `price ${lang}: no card '${role}': ${cards.slice(0, 200)}`);
  check((await page.locator(".best .card .figures .spread").count()) >= 6, `price ${lang}: cards without intervals`);
  // cards equal the answer of "Copy as command", with its warnings; no point is cheaper or faster
  const api = page.answers.find((a) => a.url.endsWith("/recommend")).body, named = (p) => `${p.n_machines > 1 ? `${p.n_machines} × ` : ""}${p.n_gpus / p.n_machines}x ${p.gpu}`, flat = (s) => s.replace(/\s+/g, " ");
  for (const key of ["pick", "runner_up", "cheapest", "fastest"]) check(cards.includes(named(api[key])) && (key === "cheapest" && named(api.cheapest) === named(api.pick) || flat(cards).includes(flat((api[key].said ?? api[key].why).slice(0, 30)))), `price ${lang}: ${key} is ${named(api[key])} with its reason, which has no card`);
  const drawn = (await page.locator(".picture summary").all()).length ? await page.evaluate(async () => { for (const s of document.querySelectorAll(".picture summary")) s.click(); await new Promise((r) => setTimeout(r, 200)); return [...document.querySelectorAll(".picture tbody tr")].map((r) => [Number(r.cells[3].textContent), Number(r.cells[6].textContent)]); }) : [];
  check(drawn.length > 8 && drawn.every(([s, usd]) => s > 0.999 * api.fastest.wall_s.value && usd > 0.999 * api.cheapest.cost_usd.value), `price ${lang}: a point is cheaper or faster than the cards: ${JSON.stringify(drawn)}`);
  check([api.pick, api.runner_up, api.fastest].every((p) => cards.includes(lang === "en" ? `$${Number(p.cost_usd.value.toPrecision(3)).toLocaleString("en")}` : "")), `price ${lang}: costs that are ranked have less than three digits: ${cards}`);
  check((await page.locator("figure svg.chart").count()) === 2 && (await page.locator("figure:nth-of-type(1) .name").count()) >= 4, `price ${lang}: the front has ${await page.locator("figure .name").count()} names in ${await page.locator("figure svg.chart").count()} panels`);
  check((await page.locator("path.error").count()) >= 6, `price ${lang}: no intervals in the chart`);
  check((await page.locator('.dot[tabindex="0"]').count()) === 2, `price ${lang}: ${await page.locator('.dot[tabindex="0"]').count()} stops for the keyboard in two charts`);
  const first = page.locator('.dot[tabindex="0"]').first(), before = await first.getAttribute("aria-label");
  await first.focus();
  await page.keyboard.press("ArrowRight");
  const now = await page.evaluate(() => document.activeElement.getAttribute("aria-label"));
  check(now && now !== before, `price ${lang}: the arrows stay on '${now}'`);
  await page.context().close();
}
{ // touch beside a point selects it
  const page = await open("/?view=price", { width: 390 }), dot = page.locator(".dot[tabindex]").nth(1);
  await dot.scrollIntoViewIfNeeded();
  const at = await dot.boundingBox();
  await page.mouse.click(at.x + at.width / 2 + 9, at.y + at.height / 2 + 9);
  await page.waitForTimeout(300);
  check((await page.locator(".dot.picked").count()) === 1, "a click 13 px beside a point takes none");
  await page.context().close();
}
// Ask: charts as drawn by the program: each with its table, and downloads as SVG and CSV with the answer's figures
for (const [lang, peak, width] of [["en", "peak", 1440], ["ko", "최대", 390]]) {
  const page = await open(`/?lang=${lang}`, { width, dark: width < 500 }), a = page.answers.findLast((r) => r.url.endsWith("/predict")).body, figures = page.locator(".pictures figure");
  check((await figures.count()) === 5, `Ask ${lang}: ${await figures.count()} charts`);
  check((await page.locator(".pictures svg.full path.mark").count()) >= 2, `Ask ${lang}: no end of the step or no limit of memory`);
  for (let i = 0; i < (await figures.count()); i++) {
    const f = figures.nth(i), name = await f.locator("figcaption").innerText();
    await f.locator(".data summary").click();
    check((await f.locator(".data tbody tr:visible").count()) >= 2, `${name}: no table`);
    const [csv] = await Promise.all([page.waitForEvent("download"), f.locator("button", { hasText: "CSV" }).click()]), rows = readFileSync(await csv.path(), "utf8").trim().split("\n").map((l) => l.split(","));
    check(rows.length > 2 && rows.every((r) => r.length === rows[0].length), `${name}: ${rows.slice(0, 3).join(" / ")}`);
    if (rows.some((r) => r[0] === peak)) check(Math.abs(Number(rows.find((r) => r[0] === peak)[3]) / a.memory_B.total - 1) < 1e-6, `${name}: ${rows.find((r) => r[0] === peak)} is not ${a.memory_B.total}`);
    const [svg] = await Promise.all([page.waitForEvent("download"), f.locator("button", { hasText: "SVG" }).click()]);
    check(/^<svg [^]*<\/svg>$/.test(readFileSync(await svg.path(), "utf8")), `${name}: no SVG`);
  }
  check((await page.locator(".pictures path.whisker").count()) >= 2, `Ask ${lang}: memory without its interval`);
  check(await page.evaluate(() => [...document.querySelectorAll(".pictures figure > svg")].filter((s) => s.getBoundingClientRect().width).every((s) => { const p = s.getBoundingClientRect(); return [...s.querySelectorAll("text")].every((t) => { const r = t.getBoundingClientRect(); return r.left >= p.left - 1.5 && r.right <= p.right + 1.5; }); })), `Ask ${lang}: letters are cut`);
  await page.context().close();
}
// labels of lines, marks and axes do not overlap, and intervals end inside the chart
for (const lang of ["en", "ko"])
  for (const [view, width] of [["buy", 1440], ["buy", 390], ["serve&rate=256", 1440], ["serve&rate=4", 390], ["scaling", 390], ["whatif", 390]]) {
    const page = await open(`/?view=${view}&lang=${lang}`, { width }), over = await page.evaluate(() => [...document.querySelectorAll("svg.chart")].flatMap((svg) => {
      const paper = svg.getBoundingClientRect(), boxes = [...svg.querySelectorAll("text.name, text.strong, text.axis")].map((e) => ({ t: e.textContent, b: e.getBoundingClientRect() })), out = [...svg.querySelectorAll(".whisker")].filter((e) => e.getBoundingClientRect().right > paper.right + 1).map(() => "an interval is cut");
      return [...out, ...boxes.flatMap((p, k) => boxes.slice(k + 1).filter((q) => p.b.left < q.b.right - 2 && q.b.left < p.b.right - 2 && p.b.top < q.b.bottom - 4 && q.b.top < p.b.bottom - 4).map((q) => `'${p.t}' on '${q.t}'`))];
    }));
    check(over.length === 0, `${view} ${lang} ${width}: ${over.join(", ")}`);
    await page.context().close();
  }
{ // the sentence of a whole run has the same share as the document
  const page = await open("/?view=goodput"), said = await text(page, ".answer"), told = await text(page, "main .doc");
  check(told.includes(/[\d.]+ %/.exec(said)[0]), `Whole run: '${said}' over '${told.slice(0, 80)}'`);
  const drawn = await page.locator("main svg text").evaluateAll((l) => l.map((e) => e.textContent)), lost = {}; // chart and table of sizes agree
  drawn.forEach((words, i) => { const gpus = /^([\d,]+) GPUs$/.exec(words), share = /^([\d.]+) %$/.exec(drawn[i + 1] ?? ""); if (gpus && share) lost[gpus[1].replace(/\D/g, "")] = Number(share[1]) / 100; });
  const rows = await page.locator("table").last().locator("tbody tr").evaluateAll((l) => l.map((r) => [r.cells[0].textContent.replace(/\D/g, ""), 1 - parseFloat(r.cells[3].textContent) / 100]));
  check(rows.length > 4 && rows.every(([n, share]) => Math.abs(lost[n] - share) < 0.006), `Whole run: the chart loses ${JSON.stringify(lost)}, the table ${JSON.stringify(rows)}`);
  await page.context().close();
}
const states = [ // error states: message, figure, and a click that repairs it
  ["/?model=llama-3-70b&on=h100-sxm5", /does not fit: 1\.3 TiB needed, 80 GiB/, /It fits (on|with)|Rented/, (p) => p.locator(".answer .num").count()],
  ["/?model=lama-3-8b", /no model is called 'lama-3-8b'/, /llama-3-8b/, (p) => p.locator(".answer .num").count()],
  ["/?on=8x+rtx-9999", /rtx-9999/, /h100-sxm5/, (p) => p.locator(".answer .num").count()],
  ["/?tokens=abc", /^tokens to train on: 'abc'/, /without tokens/, (p) => p.locator(".answer .num").count()],
  ["/?view=price&deadline=1+min", /No option meets your limits\. Nearest: .*\d+ min/, /deadline \d+ min/, (p) => p.locator(".best .card").count()],
  ["/?view=price&deadline=soon", /^deadline: 'soon'/, /without deadline/, (p) => p.locator(".best .card").count()],
  ["/?view=price&budget=10+USD", /Nearest: /, /budget \$\d/, (p) => p.locator(".best .card").count()],
  ["/?view=price&budget=soon", /^budget: 'soon'/, /without budget/, (p) => p.locator(".best .card").count()],
  ["/?view=price&model=llama-3.1-405b&how=buy-new", /\d+ of \d+ candidates/, /rent or buy/, (p) => p.locator(".best .card").count()],
  ["/?view=serve&model=llama-3-70b&on=rtx-4090", /weights of 130 GiB, 24 GiB per GPU/, /It fits on/, (p) => p.locator(".answer .num").count()],
  ["/?view=trust&filter=zzz", /"zzz"/, /without/, (p) => p.locator(".dot").count()],
];
for (const [query, reason, chip, good] of states) {
  const page = await open(query), result = page.locator("section.result");
  await page.waitForSelector(".repair .chip, .chip[data-repair]", { timeout: 20000 }).catch(() => {});
  const said = (await result.innerText()).replaceAll("\n", " ").replace(/\s+/g, " "), wrong = await text(page, ".fault p:first-child");
  check(reason.test(wrong || said), `${query}: the reason: ${wrong || said}`);
  check(!/--\w|column \d|jeoul catalog/.test(said), `${query}: speaks command line: ${said}`);
  check(chip.test(await text(page, ".repair")), `${query}: the repair: ${await text(page, ".repair")}`);
  await page.locator(".repair .chip").first().click();
  await settle(page);
  check((await good(page)) > 0 && (await page.locator(".fault").count()) === 0, `${query}: the click repairs nothing: ${(await result.innerText()).slice(0, 200)}`);
  await page.context().close();
}
for (const view of ["ask", "whatif", "scaling", "compare"]) { // without tokens: a step has no run (a random walk found "Cannot read properties of null")
  const page = await open("/?tokens=" + (view === "ask" ? "" : `&view=${view}`)), said = await page.locator("main").innerText();
  check(!/Cannot read/.test(said) && (await page.locator(".fault").count()) === 0, `${view} without tokens: ${said.slice(0, 200)}`);
  check((await page.locator(".result .num, tbody .num").count()) > 0, `${view} without tokens: no figure`);
  await page.context().close();
}
for (const query of ["/?view=serve&tpot=-1", "/?view=serve&ttft=0", "/?view=compare&job=serve&tpot=-1&vs=8x+h100-sxm5%7C8x+a100-sxm4-80gb"]) await (await open(query)).context().close(); // a negative target draws no NaN
{ // server unreachable: reported by the page, also before a view is loaded
  const context = await browser.newContext({ locale: "en-US" }), page = await context.newPage();
  await page.goto(base);
  await page.waitForFunction(() => document.querySelector("main")?.dataset.ready);
  await page.route("**/scaling.js", (r) => r.abort());
  await page.locator("nav a").nth(2).click();
  await page.waitForSelector(".fault");
  const said = await page.locator("main").innerText();
  check(/server does not answer/.test(said) && !/dynamically/.test(said) && (await page.locator(".fault .chip").count()) === 1, `server gone: ${said}`);
  await context.close();
}
for (const lang of ["en", "ko"]) { // a phone: two figures stay in sight, the views are a list behind a button, as large as a finger
  const page = await open(`/?view=whatif&lang=${lang}`, { width: 390 }), menu = page.locator("#menu");
  check(!(await page.locator("nav").isVisible()) && (await page.locator("header").boundingBox()).height < 75, `phone ${lang}: the header takes ${(await page.locator("header").boundingBox()).height} px`);
  await menu.click();
  const links = await page.locator("nav a").evaluateAll((l) => l.map((a) => a.getBoundingClientRect()).map((r) => [r.height, r.right]));
  check(links.length === 13 && links.every(([h, right]) => h >= 40 && right <= 390) && (await menu.getAttribute("aria-expanded")) === "true", `phone ${lang}: the views: ${links}`);
  await page.locator("nav a").nth(1).click();
  await settle(page);
  check(!(await page.locator("nav").isVisible()), `phone ${lang}: the list of views stays open`);
  await page.locator("#s-seq").scrollIntoViewIfNeeded();
  await page.evaluate(() => scrollTo(0, document.body.scrollHeight));
  await page.waitForTimeout(300);
  const bar = page.locator("#pocket"), box = await bar.boundingBox();
  check((await bar.isVisible()) && box.y + box.height <= 845 && (await bar.locator("b").count()) === 3, `phone ${lang}: no answer in sight of the sliders: ${await bar.count()}`);
  check((await bar.innerText()).includes(lang === "ko" ? "ms" : "ms"), `phone ${lang}: ${await bar.innerText()}`);
  await page.context().close();
}
for (const width of [320, 390, 1440]) { // Korean: no line starts with a particle; won in proposals; Korean font first
  const page = await open("/?lang=ko&cur=KRW&model=llama-3.1-70b&on=8x+h100-sxm5", { width });
  const begins = await page.evaluate(() => {
    const bad = [];
    for (const box of document.querySelectorAll("h1, .answer")) {
      const walk = document.createTreeWalker(box, NodeFilter.SHOW_TEXT);
      for (let n = walk.nextNode(), before = null; n; n = walk.nextNode()) {
        if (!n.data.trim()) continue;
        const range = document.createRange();
        range.setStart(n, 0);
        range.setEnd(n, 1);
        const r = range.getBoundingClientRect();
        const word = n.parentElement.previousElementSibling; // editable words have no text node
        if (word?.tagName === "INPUT") before = word.getBoundingClientRect();
        if (before && r.top > before.bottom - 4 && /^(을|를|에서|으로|로|개에|이고|입니다|에 |에$|[.,)])/.test(n.data)) bad.push(n.data);
        const all = document.createRange();
        all.selectNodeContents(n);
        const rects = all.getClientRects();
        before = rects[rects.length - 1];
      }
    }
    return bad;
  });
  check(begins.length === 0, `Korean at ${width}: a line begins with ${begins}`);
  check(/^"?(Pretendard|Apple SD|Noto Sans KR)/.test(await page.evaluate(() => getComputedStyle(document.body).fontFamily)), "Korean: no Korean family first");
  await page.goto(`${base}/?view=price&lang=ko&cur=KRW`);
  await settle(page);
  check(/원|KRW/.test(await page.getAttribute("#f-budget", "placeholder")) && (await page.getAttribute("#f-deadline", "placeholder")) === "예: 3일", `placeholders: ${await page.getAttribute("#f-budget", "placeholder")}`);
  await page.context().close();
}
{ // charts: identity at 45°, marked rate, labelled lines, labelled baseline, print with colours and the question
  const trust = await open("/?view=trust"), d = await trust.locator("path.line.ideal").getAttribute("d"), [x0, y0, x1, y1] = d.match(/-?[\d.]+/g).map(Number);
  check(Math.abs((x1 - x0) / (y0 - y1) - 1) < 0.02, `identity: ${d}`);
  check((await trust.locator('.dot[tabindex="0"]').count()) === 1, "Trust: one stop for its points");
  await trust.context().close();
  const serve = await open("/?view=serve&rate=4");
  check((await text(serve, "figure:first-child svg")).includes("now 4/s"), "Serve: the chosen rate is unmarked");
  const a = serve.answers.find((r) => r.url.endsWith("/serve")).body, kv = await serve.locator(".key .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value))); // memory: weights, KV, room and the rest sum to the capacity
  check(kv.includes(a.weights_B) && Math.abs(kv.reduce((x, y) => x + y, 0) / a.capacity_B - 1) < 1e-9 && Math.abs(kv[1] / (a.kv_tokens * a.kv_token_B * a.kv_max_frac) - 1) < 1e-9, `Serve: memory ${kv} of ${a.capacity_B}`);
  check((await serve.locator(".shade").evaluateAll((l) => l.filter((r) => Number(r.getAttribute("width")) > 10).length)) === 2, "Serve: overload is not to be seen");
  await serve.waitForFunction(() => document.querySelectorAll("path.band[class*=look]").length >= 4, null, { timeout: 20000 }); // several systems on one front
  check(/tokens\/s a user/.test(await text(serve, "figure svg")), "Serve: no front");
  await serve.context().close();
  const buy = await open("/?view=buy"), end = await buy.evaluate(() => { const [a, b] = [...document.querySelectorAll("svg path.line")].map((p) => Number(p.getAttribute("d").match(/(-?[\d.]+) -?[\d.]+$/)[1])); const grid = [...document.querySelectorAll("svg path.grid")].map((p) => Number(p.getAttribute("d").match(/H([\d.]+)/)[1])); return [a, b, grid[0]]; });
  check(Math.abs(end[0] - end[2]) < 2 && Math.abs(end[1] - end[2]) < 2, `Buy: lines end at ${end[0]} and ${end[1]} of ${end[2]}`);
  const cost = buy.answers.find((r) => r.url.endsWith("/cost")).body, [own, hired] = cost.options, shown = await buy.locator("p.second .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)));
  check(shown.includes(own.price) && shown.includes(hired.rent_per_hour) && own.price_source && (await buy.inputValue("#q-machine")) === own.system, `Buy: the catalogue's prices of ${own.system} are ${own.price} and ${hired.rent_per_hour}, shown ${shown}`);
  check(/bought, \$3,790/.test(await text(buy, "svg.chart")) && /rented, \$0\.74\/h/.test(await text(buy, "svg.chart")) && (await buy.locator("path.band").count()) === 1, "Buy: lines name no price, or no range");
  const totals = await buy.locator(".answer .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)));
  const told = await buy.evaluate(async () => { const q = { buy: "rtx-4090", rent: "rtx-4090", util: "60%", horizon: "3 y", currency: "USD", kwh: "0.12 USD/kWh" }; return (await fetch("/api/v1/cost", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ ...q, as: "html", lang: "en" }) })).text(); });
  check(totals.slice(1).length === 2 && totals.slice(1).every((v) => told.replace(/<[^>]*>/g, "").includes(`${Math.floor(v).toLocaleString("en")}`) || told.includes(Math.round(v).toLocaleString("en"))), `Buy: ${totals} are not the command's totals`);
  check(/\d+ months \(\d+–\d+\)/.test(await text(buy, ".answer")) && /⚠/.test(await text(buy, "p.second")) && /⚠/.test(await text(buy, "footer")), `Buy: no months, or old prices and rates without a mark: ${await text(buy, ".result")}`);
  await buy.fill("#q-machine", "8x h100-sxm5"); // no list price: reported, and a click gives one
  await buy.press("#q-machine", "Tab");
  await buy.waitForSelector(".repair .chip");
  check(/has no price of 8x h100-sxm5/.test(await text(buy, ".answer")), `Buy: ${await text(buy, ".answer")}`);
  await buy.locator(".repair .chip").first().click();
  await settle(buy);
  check((await buy.locator("svg path.line").count()) === 2, "Buy: a price that was given is not taken");
  await buy.context().close();
  const ghost = await open("/?view=whatif");
  await ghost.locator(".actions button").first().click();
  check(/baseline/.test(await text(ghost, ".bars svg")), "What if: the baseline's bar has no name");
  await ghost.evaluate(() => dispatchEvent(new Event("beforeprint")));
  await ghost.emulateMedia({ media: "print" });
  check(/jeoul predict llama-3-8b/.test(await text(ghost, "#printed")) && (await ghost.evaluate(() => getComputedStyle(document.querySelector(".key i")).printColorAdjust)) === "exact", "print: no question or no colours");
  await ghost.context().close();
}
{ // Compare: time, money, energy, fit and certainty; state in the URL; serving by a GPU's throughput; data as table, CSV and SVG
  const page = await open("/?view=compare&vs=8x+h100-sxm5%7C8x+a100-sxm4-80gb%7Crtx-4090");
  check((await page.locator("tbody tr").count()) === 3 && /does not fit: .* of 24 GiB/.test(await text(page, "tbody")), `Compare: ${await text(page, "tbody")}`);
  check((await page.locator("figure svg .dot").count()) === 6, `Compare: ${await page.locator("figure svg .dot").count()} dots`);
  const value = Number(await page.locator("tbody tr").first().locator(".num").first().getAttribute("data-value")), api = await page.evaluate(async () => (await (await fetch("/api/v1/predict", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "llama-3-8b", on: "8x h100-sxm5", tokens: 1e10 }) })).json()));
  check(value === api.run_s.value, `Compare says ${value} s, predict ${api.run_s.value} s`);
  await page.fill("#f-vs", "8x h200-sxm");
  await page.press("#f-vs", "Tab");
  await settle(page);
  check((await page.locator("tbody tr").count()) === 4 && decodeURIComponent(page.url()).includes("8x+h200-sxm"), `Compare: a system is not added: ${page.url()}`);
  for (const [button, wanted] of [["CSV", /8x h100-sxm5,\d+/], ["SVG", /^<svg [^]*fill="[^]*<\/svg>$/]]) {
    const [file] = await Promise.all([page.waitForEvent("download"), page.locator(".picture button", { hasText: button }).first().click()]);
    const saved = readFileSync(await file.path(), "utf8");
    check(wanted.test(saved.trim()), `${button}: ${saved.slice(0, 120)}`);
  }
  await page.locator(".picture summary").first().click();
  await page.waitForSelector(".picture tbody tr");
  check((await page.locator(".picture tbody tr").count()) === 4, "Compare: no table of the picture");
  await page.context().close();
  const serve = await open("/?view=compare&job=serve&vs=8x+h100-sxm5%7C8x+a100-sxm4-80gb");
  const rows = serve.answers.filter((a) => a.url.endsWith("/serve") && a.body.load === "open").map((a) => a.body), alone = await serve.evaluate(async () => (await (await fetch("/api/v1/serve", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "llama-3-8b", on: "8x h100-sxm5", prompt: "1024", answer: "256", rate: "4/s", ttft: "0.5 s", tpot: "0.05 s" }) })).json()));
  check(rows.some((a) => a.system === alone.system && a.n_gpus_used === alone.n_gpus_used && a.usd_per_Mtoken_out.value === alone.usd_per_Mtoken_out.value) && (await serve.locator("#f-ttft").count()) === 1, `Compare > Serve: ${rows.map((a) => a.usd_per_Mtoken_out.value)}, Serve ${alone.usd_per_Mtoken_out.value}`);
  await serve.waitForSelector("path.band[class*=look]");
  check(/tokens\/s a user/.test(await text(serve, "figure svg")) && (await serve.locator("path.band").count()) >= 2 && /target 50 ms/.test(await text(serve, "figure svg")), `Pareto: ${await text(serve, "figure svg")}`);
  await serve.context().close();
}
{ // winners within the noise are shared; a scaling line has one provider, its rows show memory; a system that does not fit gets the command's proposal
  const page = await open("/?view=compare&vs=8x+h100-sxm5%7C8x+h200-sxm%7C8x+b200%7C8x+a100-sxm4-80gb"), rows = page.answers.filter((a) => a.url.endsWith("/predict")).map((a) => a.body), best = rows.reduce((a, b) => (b.cost_usd.value < a.cost_usd.value ? b : a)), alike = rows.filter((r) => r !== best && r.cost_usd.lo <= best.cost_usd.value), said = await text(page, ".answer");
  check(alike.length > 0 && alike.every((r) => said.slice(said.indexOf("About as cheap")).includes(r.system)), `Compare: ${alike.map((r) => r.system)} are about as cheap: '${said}'`);
  await page.context().close();
  const scaling = await open("/?view=scaling&upto=64"), sweep = scaling.answers.findLast((a) => a.body.sweep?.length > 1).body.sweep.filter((r) => r.fits), from = sweep.filter((r) => r.efficiency_frac != null).map((r) => r.rent.provider);
  check((await scaling.locator("figure").nth(2).locator("path.line.main").count()) === from.filter((p, i) => p !== from[i - 1]).length, `Scaling: a line of several providers: ${from}`);
  check((await scaling.locator("tbody td.warn").count()) > 0 && /101 %/.test(await text(scaling, "tbody")) && /\(\d+(\.\d+)?–\d+\) times as fast/.test(await text(scaling, ".answer")), `Scaling: no memory, efficiency or interval: ${await text(scaling, ".answer")}`);
  await scaling.context().close();
  const none = await open("/?model=llama-3-70b&on=4x+rtx-3090"), advice = none.answers.find((a) => a.url.endsWith("/predict")).body.advice.find((p) => p.change === "offload");
  await none.waitForFunction(() => /Rented/.test(document.querySelector(".result").innerText), null, { timeout: 60000 });
  const chip = none.locator(".repair .chip").first();
  check(advice && /keep states in the host/.test(await chip.innerText()) && !/128|32x\(|16x\(/.test(await text(none, ".repair")), `no fit: '${await text(none, ".repair")}'`);
  await chip.click();
  await settle(none);
  const run = none.answers.findLast((a) => a.url.endsWith("/predict") && a.body.breakdown_s).body;
  check(run.fits && Math.abs(run.step_s.value / advice.step_s_after - 1) < 0.01 && (await none.locator("#f-offload").count()) === 1, `no fit: what is proposed takes ${run.step_s.value} s, ${advice.step_s_after} promised`);
  await none.context().close();
}
{ // Scaling: efficiency on a linear scale from 0, marked plan changes, cost of a million tokens; Trust: errors, with the question's cell framed
  const page = await open("/?view=scaling&model=llama-3-70b&upto=128"), [, eff, cost_] = await page.locator("figure svg").evaluateAll((l) => l.map((s) => s.textContent)), rows = page.answers.findLast((a) => a.body.sweep?.length > 1).body.sweep.filter((r) => r.fits);
  const other = rows.filter((r) => r.efficiency_frac == null).length;
  check(/% of samples\/s a GPU/.test(eff) && !/GPU on \d+ \(log/.test(eff) && (await page.locator("figure").nth(1).locator(".dot.other").count()) === other && other > 0 && /^\$0/m.test(cost_.replace(/cost/, "")), `efficiency: ${other} of another plan, ${eff.slice(0, 200)}; cost: ${cost_.slice(0, 80)}`);
  check((await page.locator("figure").nth(2).locator(".dot").count()) === rows.length, "a million tokens: not every row is drawn");
  const api = await page.evaluate(async () => (await (await fetch("/api/v1/predict", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ model: "llama-3-70b", on: "16x(8x h100-sxm5)", sweep: "gpus=128" }) })).json()).sweep[0]);
  const cost = await page.locator("tbody tr").last().locator(".num").evaluateAll((l) => l.map((e) => Number(e.dataset.value))), wanted = (1e6 * 128 * api.rent.gpu_usdps) / api.tokens_per_s.value;
  check(cost.some((v) => Math.abs(v / wanted - 1) < 1e-6), `a million tokens: ${wanted}, not among ${cost}`);
  await page.context().close();
  const trust = await open("/?view=trust");
  check((await trust.locator("rect.heat").count()) > 15 && (await trust.locator("rect.ring").count()) === 1, `error map: ${await trust.locator("rect.heat").count()} cells, ${await trust.locator("rect.ring").count()} framed`);
  const [map, said] = [trust.locator("figure:has(rect.heat)"), trust.answers.find((r) => r.url.endsWith("/validate")).body.sets.find((q) => q.set === "train_llm").worst]; // a cell's figure is the median of its runs
  const first = await map.locator("rect.heat title").first().textContent(), [, gpu, model, percent] = /^(.*), (.*): ([\d.,]+) % \(\d+\)$/.exec(first), errors = said.filter((r) => r.gpu === gpu && r.what.split(",")[0].trim() === model).map((r) => Math.abs(Math.log(r.predicted / r.measured))).sort((x, y) => x - y);
  check(Math.abs(100 * Math.expm1(errors[errors.length >> 1]) - Number(percent)) < 0.06 * Number(percent) + 0.5 && (await map.locator("text.strong").count()) >= (await map.locator("rect.heat").count()), `error map: '${first}', ${100 * Math.expm1(errors[errors.length >> 1])}`);
  const medians = new Map(); // large errors are not omitted; omissions are stated
  for (const r of said) { const k = `${r.gpu}, ${r.what.split(",")[0].trim()}`; medians.set(k, [...(medians.get(k) ?? []), Math.abs(Math.log(r.predicted / r.measured))]); }
  const titles = await map.locator("rect.heat title").allTextContents(), missed = [...medians].filter(([k, l]) => Math.expm1(l.sort((x, y) => x - y)[l.length >> 1]) > 0.3 && !titles.some((s) => s.startsWith(`${k}:`))).map(([k]) => k);
  check(missed.length === 0 && /Not shown, none off by more than/.test(await map.innerText()), `error map leaves out ${missed}`);
  check((await trust.locator("figure, .pair").filter({ hasText: "CSV" }).count()) >= 2, "Trust: its points cannot be taken away");
  await trust.context().close();
}
{ // Catalogue: every kind, search, a record with sources, price history, and back to the question
  for (const [kind, least] of [["gpus", 100], ["systems", 100], ["models", 150], ["prices", 1000]]) {
    const page = await open(`/?view=catalogue&kind=${kind}`);
    check(Number((await text(page, ".answer")).replaceAll(",", "").match(/\d+/)[0]) >= least && (await page.locator("tbody tr").count()) > 10, `Catalogue ${kind}: ${await text(page, ".answer")}`);
    check(/\d{4}/.test(await page.locator("tbody tr").first().innerText()), `Catalogue ${kind}: no date`);
    const sorts = page.locator("thead .sort"), column = async () => (await page.locator("tbody tr").evaluateAll((l) => l.slice(0, 8).map((r) => r.cells[2].textContent))).map((c) => parseFloat(c));
    if (kind === "gpus") { // a heading sorts; the source links to its publisher; all records are on the map
      await sorts.nth(1).click();
      const largest = await column();
      check(largest.every((v, i) => !i || v <= largest[i - 1]) && largest[0] > 250, `Catalogue: by memory: ${largest}`);
      await sorts.nth(1).click();
      const least = await column();
      check(least.every((v, i) => !i || v >= least[i - 1] || Number.isNaN(v) || Number.isNaN(least[i - 1])), `Catalogue: by memory, least first: ${least}`);
      check((await page.locator("tbody a[href^=http]").count()) > 10 && !/techpowerup-/.test(await text(page, "tbody")), `Catalogue: sources by record: ${(await text(page, "tbody")).slice(0, 200)}`);
      check((await page.locator("svg.chart .dot").count()) > 100, "Catalogue: no map");
    }
    await page.context().close();
  }
  const page = await open("/?view=catalogue&find=h100+sxm5");
  await page.locator("tbody .num").first().click();
  await page.locator(".more summary").click();
  await page.waitForSelector(".detail .doc table");
  await page.waitForSelector("svg.chart .dot");
  check(/80 GiB · 3\.35 TB\/s · 989 TFLOP\/s bf16 · 700 W\. A GPU rents for/.test(await text(page, ".answer")), `Catalogue: ${await text(page, ".answer")}`);
  check(/989\.4/.test(await text(page, ".detail")) && (await page.locator("svg.chart .dot").count()) > 10, "Catalogue: no figures or prices of the H100");
  await page.locator(".repair .chip").first().click();
  await settle(page);
  check(/^h100-sxm5/.test(await page.inputValue("#q-on")), `Catalogue: back in the question: ${page.url()}`);
  await page.context().close();
}
{ // Reports: a scenario as a form beside its text: question, system and workload can be changed without YAML; the rest is preserved
  const page = await open("/?view=reports&example=seed-003"), text_ = () => page.locator("textarea").inputValue(), kept = (await text_()).split("claims:")[1];
  check((await page.locator("textarea:visible").count()) === 0 && (await page.locator(".scenario input").count()) >= 9 && (await page.locator('.scenario .chip[aria-pressed="true"]').count()) === 3, `Reports: ${(await text(page, ".scenario")).slice(0, 300)}`);
  await page.locator(".scenario .chip", { hasText: "Does it fit?" }).click();
  await settle(page);
  check(/- \{ask: fits\}/.test(await text_()) && /Does it fit\?/.test(await text(page, ".result, .pair .doc")), "Reports: a question of the form is not asked");
  await page.locator(".scenario input").first().fill("2x rtx-3090");
  await page.locator(".scenario input").first().press("Tab");
  await settle(page);
  check(/- \{on: "2x rtx-3090", baseline: yes\}/.test(await text_()), `Reports: a system: ${(await text_()).slice(0, 600)}`);
  await page.locator('.scenario input[type="radio"]').nth(1).check();
  await settle(page);
  check((await text_()).match(/baseline: yes/g).length === 1 && !/- \{on: "2x rtx-3090", baseline/.test(await text_()), `Reports: another baseline: ${(await text_()).slice(0, 600)}`);
  await page.locator('.scenario label:has-text("batch") input').fill("8");
  await page.locator('.scenario label:has-text("batch") input').press("Tab");
  await settle(page);
  check(/workload: \{model: gpt2-124m, batch: 8, seq: 512/.test(await text_()) && (await text_()).split("claims:")[1] === kept && (await page.locator(".fault").count()) === 0, `Reports: the workload: ${(await text_()).slice(0, 700)}`);
  await page.locator(".pair .chip", { hasText: "Text" }).click();
  check((await page.locator("textarea:visible").count()) === 1 && (await page.locator(".scenario:visible").count()) === 0, "Reports: no text");
  await page.context().close();
}
{ // targets are typed in milliseconds; the address and the question keep seconds
  const page = await open("/?view=serve&ttft=0.8"), box = page.locator("#f-ttft");
  check((await box.inputValue()) === "800" && (await page.locator("#f-tpot").inputValue()) === "50" && /ms/.test(await text(page, ".field:has(#f-ttft)")), `Serve: targets of ${await box.inputValue()} and ${await page.locator("#f-tpot").inputValue()}`);
  const asked = page.waitForRequest((r) => r.url().endsWith("/serve") && /"ttft"/.test(r.postData()));
  await box.fill("250");
  await box.press("Tab");
  check(JSON.parse((await asked).postData()).ttft === "0.25 s" && /ttft=0.25/.test(page.url()), `Serve: 250 ms is asked as ${(await asked).postData()} at ${page.url()}`);
  await page.context().close();
}
{ // Buy: what the machine is sold for in the end is in the bill, as the command has it
  const page = await open("/?view=buy&resale=30"), a = page.answers.findLast((r) => r.url.endsWith("/cost")).body, b = a.options.find((o) => o.kind === "buy"), said = await page.locator(".answer .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)));
  const none = await open("/?view=buy"), full = await none.locator(".answer .num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)));
  check(Math.abs(b.resale / b.price - 0.3) < 1e-3 && Math.abs(full[1] - said[1] - b.resale) < 0.01 * b.resale && /Sold for \$/.test(await text(page, ".second")) && /30 %/.test(await text(page, ".slider")), `Buy: resale of ${b.resale}: ${full} without, ${said} with`);
  await page.context().close();
  await none.context().close();
}
{ // a drawer leads to where its figure comes from: the method's text at its section, a listed fact's publisher, a rent's price list
  const page = await open("/"), open_ = async (label) => { await page.evaluate((l) => { const b = [...document.querySelectorAll("main .num")].find((e) => e.getAttribute("aria-label").startsWith(l)); b.click(); }, label); return page.locator("#drawer dt", { hasText: "Source" }).locator("+ dd"); };
  const step = await open_("step"), link = await step.locator("a").first().getAttribute("href");
  check(/^\/METHOD\.md#/.test(link) && /5\. A training step/.test(decodeURIComponent(link)) && /Method 5/.test(await step.innerText()), `drawer of a step: ${link}`);
  check(/## 5\. A training step/.test(await (await fetch(base + "/METHOD.md")).text()), "the method is not served");
  await page.keyboard.press("Escape");
  const capacity = await open_("capacity");
  await capacity.locator("a[href^=http]").waitFor({ timeout: 20000 });
  check(/\d{4}-\d\d/.test(await capacity.innerText()), `drawer of the capacity: ${await capacity.innerText()}`);
  await page.keyboard.press("Escape");
  check(/^https?:/.test((await (await open_("cost")).locator("a").first().getAttribute("href")) ?? ""), "drawer of the cost: no link to the price");
  await page.context().close();
}
{ // Whole run: other sizes lie around the one that is asked for; one word for the share
  const page = await open("/?view=goodput"), sizes = (await page.locator("table").last().locator("tbody tr").evaluateAll((l) => l.map((r) => Number(r.cells[0].textContent.replace(/\D/g, "")))));
  check(sizes[0] === 8 && sizes.every((n, i) => !i || n === 4 * sizes[i - 1]) && sizes.length > 4 && !/effective/.test(await text(page, "main")), `Whole run of 8 GPUs at ${sizes}`);
  await page.context().close();
}
{ // Compare, served: time to the first token and energy too, the targets in the pictures
  const page = await open("/?view=compare&job=serve"), heads = await page.locator("thead th").allInnerTexts(), a = page.answers.find((r) => r.url.endsWith("/serve") && r.body.load === "open").body;
  check(heads.length === 7 && /p90/.test(heads[1]) && (await page.locator("figure svg path.limit").count()) === 2 && /target 500 ms/.test(await text(page, "figure svg")), `Compare, served: ${heads}`);
  check((await page.locator("tbody tr").first().locator(".num").evaluateAll((l) => l.map((e) => Number(e.dataset.value)))).includes(a.ttft_s.p90.value), "Compare, served: no time to the first token");
  await page.context().close();
}
{ // a figure of nothing or without end draws nothing for ever (a walk found a chart that counted decades from zero)
  for (const query of ["/?view=price", "/?view=buy", "/?view=serve"]) {
    const page = await open(query, { before: (p) => p.route("**/api/v1/{recommend,cost,serve}", async (route) => { const r = await route.fetch(), body = await r.text(); await route.fulfill({ response: r, body: body.replace(/"(value|lo|hi)":[\d.e+-]+/g, '"$1":0') }); }) });
    check((await page.locator("main h1").count()) === 1, `${query} of zeros: no page`);
    await page.context().close();
  }
}
{ // Audit: written and recomputed values, reasons expanded, the note's table as a table
  for (const [lang, wanted] of [["en", /1,979 TFLOP\/s → 989/], ["ko", /1,979 TFLOP\/s → 989/]]) {
    const page = await open(`/?view=audit&lang=${lang}`);
    const reasons = (await page.locator(".finding p").allInnerTexts()).filter((r) => r.length > 40), margin = await text(page, ".audit aside"); // said once, above the note
    check(reasons.length > 0 && reasons.every((r) => !margin.includes(r.slice(0, 40))), `Audit ${lang}: the margin says again '${reasons.find((r) => margin.includes(r.slice(0, 40)))}'`);
    check(wanted.test(await text(page, ".finding")) && (await page.locator(".audit aside").count()) >= 2 && (await page.locator(".audit .row").count()) >= 5 && (await page.locator("svg.strip rect").count()) >= 3, `Audit ${lang}: ${(await text(page, ".result")).slice(0, 300)}`);
    await page.context().close();
  }
}
await done("what a designer asked");
