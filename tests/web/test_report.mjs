// The golden reports and briefs in a real Chromium, in both languages: on a desk, on a phone, in the dark, on paper. No console error, no
// sideways scroll, no chart that is cut, words for every mark and chart, sources that can be followed, hostile titles.
// Run by tests/web/run; needs playwright-core and Debian's chromium. With a folder as second argument: screenshots go there.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(process.env.PLAYWRIGHT_AT + "/");
const { chromium } = require("playwright-core");
const folder = resolve(process.argv[2]);
const shots = process.argv[3];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
const pages = (pdf) => (pdf.toString("latin1").match(/\/Type\s*\/Page[^s]/g) || []).length;
let checked = 0;

async function open(page, file) {
	const troubles = [];
	page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") troubles.push(m.text()); });
	page.on("pageerror", (e) => troubles.push(String(e)));
	page.on("dialog", (d) => { troubles.push("a dialog: " + d.message()); d.dismiss(); });
	page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) troubles.push("asked for " + r.url()); });
	await page.goto("file://" + resolve(folder, file));
	return troubles;
}

// All that a view shows, measured in the page. Evidence is opened first: what is folded is looked at too.
function measure() {
	document.querySelectorAll("details").forEach((d) => { d.open = true; });
	const words = (id) => ((document.getElementById(id) || {}).textContent || "").trim().length;
	const seen = (e) => e.getBoundingClientRect().width > 0;
	const cut = [], small = [];
	for (const svg of [...document.querySelectorAll("figure > svg")].filter(seen)) {
		const paper = svg.getBoundingClientRect(), name = svg.querySelector("title").textContent;
		if (paper.left < -0.5 || paper.right > document.documentElement.clientWidth + 0.5) cut.push(name + ": the chart");
		for (const text of svg.querySelectorAll("text")) {
			const r = text.getBoundingClientRect();
			if (r.width && (r.left < paper.left - 1.5 || r.right > paper.right + 1.5 || r.top < paper.top - 1.5 || r.bottom > paper.bottom + 1.5))
				cut.push(name + ": " + text.textContent);
			if (r.width && r.height < 9) small.push(text.textContent + " " + r.height);
		}
	}
	return {
		wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
		charts: [...document.querySelectorAll("figure > svg")].map((s) => s.getAttribute("aria-labelledby").split(" ").map(words)),
		drawn: [...document.querySelectorAll("figure")].map((f) => [...f.querySelectorAll(":scope > svg")].filter(seen).length),
		marks: [...document.querySelectorAll("svg.o, svg.m")].map((s) => s.getAttribute("aria-label") || ""),
		unmarked: [...document.querySelectorAll("section.ask [data-origin]:not([data-origin=given])")].filter((e) => !e.querySelector("svg.o") &&
			!e.parentElement.querySelector("svg.o")).length,
		sources: [...document.querySelectorAll("a.out")].map((a) => a.getAttribute("href")),
		within: [...document.querySelectorAll("a[href^='#']")].filter((a) => !document.getElementById(a.getAttribute("href").slice(1))).length,
		lang: document.documentElement.lang,
		bare: [...document.querySelectorAll("[data-origin]")].filter((e) => !e.dataset.unit || e.dataset.value === undefined).length,
		inked: getComputedStyle(document.body).color !== getComputedStyle(document.body).backgroundColor,
		emoji: /[\u{1F300}-\u{1FAFF}✅❌⚠❓]/u.test(document.body.innerText), cut, small,
	};
}

function judge(v, file, width) {
	const at = `${file} at ${width}`;
	assert.ok(v.wide <= 0, `${at}: ${v.wide} px too wide`);
	assert.ok(v.charts.every((c) => c.length === 2 && c.every((n) => n > 3)), `${at}: a chart without words`);
	assert.ok(v.drawn.every((n) => n === 1), `${at}: a chart twice or not at all`);
	assert.deepEqual(v.cut.slice(0, 3), [], `${at}: cut`);
	assert.deepEqual(v.small.slice(0, 3), [], `${at}: letters that nobody can read`);
	const known = v.lang === "ko" ? /^(실측|공개 측정|사양·가격표|추정|좋음|주의|나쁨|모름)$/ : /^(measured|published|listed|estimated|good|warning|bad|unknown)$/;
	assert.deepEqual(v.marks.filter((m) => !known.test(m)).slice(0, 3), [], `${at}: a mark without its word`);
	assert.equal(v.unmarked, 0, `${at}: a figure of an answer without its mark`);
	for (const href of v.sources) assert.match(new URL(href).protocol, /^https?:$/, `${at}: ${href}`);
	assert.equal(v.within, 0, `${at}: a link to nothing`);
	assert.equal(v.bare, 0, at);
	assert.ok(!v.emoji, `${at}: an emoji`);
	assert.ok(["ko", "en"].includes(v.lang) && v.inked, at);
}

// The first screen of a desk answers: every question with its sentence stands above the fold.
const answered = () => [...document.querySelectorAll("section.ask p")].map((p) => ({ low: p.getBoundingClientRect().bottom, text: p.innerText }));

for (const file of readdirSync(folder).filter((f) => f.endsWith(".html")).sort()) {
	for (const [width, colorScheme] of [[390, "light"], [390, "dark"], [1440, "light"], [1440, "dark"]]) {
		if (!shots && (width === 390) !== (colorScheme === "dark")) continue;
		const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
		const troubles = await open(page, file);
		const first = await page.evaluate(answered);
		if (shots) await page.screenshot({ path: `${shots}/${file}.${width}.${colorScheme}.png`, fullPage: true });
		judge(await page.evaluate(measure), file, width);
		assert.deepEqual(troubles, [], file);
		if (width === 1440 && /^(brief|seed)-/.test(file))
			for (const a of first) assert.ok(a.low <= 900 && /\d/.test(a.text), `${file}: not on the first screen: ${a.text}`);
		checked++;
		await page.close();
	}
	// on paper: everything unfolded, and a brief on one sheet
	const page = await browser.newPage({ viewport: { width: 794, height: 1123 } });
	await open(page, file);
	await page.emulateMedia({ media: "print" });
	const folded = await page.evaluate(() => [...document.querySelectorAll("details > table, details > p, details > .wide, details > ul")].filter((e) => !e.getBoundingClientRect().height).length);
	assert.equal(folded, 0, `${file}: folded on paper`);
	if (shots) await page.screenshot({ path: `${shots}/${file}.print.png`, fullPage: true });
	const pdf = await page.pdf({ preferCSSPageSize: true });
	assert.ok(pdf.length > 10000 && pdf.subarray(0, 5).toString() === "%PDF-", file);
	if (file.startsWith("brief-")) assert.equal(pages(pdf), 1, `${file}: ${pages(pdf)} sheets`);
	checked++;
	await page.close();
}
await browser.close();
assert.ok(checked >= 4, "nothing was looked at");
console.log(`${checked} views`);
