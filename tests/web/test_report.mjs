// The golden reports and briefs in Chromium, in both languages: desktop, phone, dark mode, print. No console errors, no
// horizontal scrolling, no clipped charts, text for every mark and chart, links to sources, hostile titles.
// Run by tests/web/run; needs playwright-core and Debian's chromium. A folder as second argument gets screenshots.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";
import { judge, measure } from "./measure.mjs";

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

// First desktop screen: every question with its answer is visible without scrolling.
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
	// print: everything expanded, and a brief on one sheet
	const page = await browser.newPage({ viewport: { width: 794, height: 1123 } });
	await open(page, file);
	await page.emulateMedia({ media: "print" });
	const folded = await page.evaluate(() => [...document.querySelectorAll("details > table, details > p, details > .wide, details > ul")].filter((e) => !e.parentElement.matches(".data") && !e.getBoundingClientRect().height).length);
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
