// The golden reports in a real Chromium: no console error, no horizontal scroll, alternative texts, printing, hostile titles.
// Run by tests/web/run; needs playwright-core and Debian's chromium.
import { readdirSync } from "node:fs";
import { resolve } from "node:path";
import { createRequire } from "node:module";
import assert from "node:assert/strict";

const require = createRequire(process.env.PLAYWRIGHT_AT + "/");
const { chromium } = require("playwright-core");
const folder = resolve(process.argv[2]);
const shots = process.argv[3];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
let checked = 0;

async function look(page, file) {
	const troubles = [];
	page.on("console", (m) => { if (m.type() === "error" || m.type() === "warning") troubles.push(m.text()); });
	page.on("pageerror", (e) => troubles.push(String(e)));
	page.on("dialog", (d) => { troubles.push("a dialog: " + d.message()); d.dismiss(); });
	page.on("request", (r) => { if (!/^(file|data):/.test(r.url())) troubles.push("asked for " + r.url()); });
	await page.goto("file://" + resolve(folder, file));
	const seen = await page.evaluate(() => ({
		wide: document.documentElement.scrollWidth - document.documentElement.clientWidth,
		charts: [...document.querySelectorAll("svg")].map((s) => s.getAttribute("aria-labelledby")
			.split(" ").map((id) => (document.getElementById(id) || {}).textContent || "").map((t) => t.trim().length)),
		lang: document.documentElement.lang,
		bare: [...document.querySelectorAll("[data-origin]")].filter((e) => !e.dataset.unit || e.dataset.value === undefined).length,
		inked: getComputedStyle(document.body).color !== getComputedStyle(document.body).backgroundColor,
	}));
	assert.deepEqual(troubles, [], file);
	assert.ok(seen.wide <= 0, `${file}: ${seen.wide} px too wide at ${page.viewportSize().width}`);
	assert.ok(seen.charts.every((c) => c.length === 2 && c.every((n) => n > 3)), `${file}: a chart without words`);
	assert.equal(seen.bare, 0, file);
	assert.ok(["ko", "en"].includes(seen.lang) && seen.inked, file);
	checked++;
}

for (const file of readdirSync(folder).filter((f) => f.endsWith(".html")).sort())
	for (const [width, schemes] of [[390, shots ? ["light", "dark"] : ["dark"]], [1440, shots ? ["light", "dark"] : ["light"]]])
		for (const colorScheme of schemes) {
			const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
			await look(page, file);
			if (shots) await page.screenshot({ path: `${shots}/${file}.${width}.${colorScheme}.png`, fullPage: true });
			if (width === 1440 && colorScheme === "light") {
				const pdf = await page.pdf({ preferCSSPageSize: true });
				assert.ok(pdf.length > 10000 && pdf.subarray(0, 5).toString() === "%PDF-", file);
			}
			await page.close();
		}
await browser.close();
assert.ok(checked >= 4, "nothing was looked at");
console.log(`${checked} views`);
