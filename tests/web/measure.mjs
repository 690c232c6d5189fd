// Measures a report in a browser and checks it; shared by all browsers under test.
import assert from "node:assert/strict";

// Measures a view in the page. Collapsed sections are opened first.
export function measure() {
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
		hidden: [...document.querySelectorAll(".wide")].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.innerText.slice(0, 60)),
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

export function judge(v, file, width) {
	const at = `${file} at ${width}`;
	assert.ok(v.wide <= 0, `${at}: ${v.wide} px too wide`);
	assert.deepEqual(v.hidden, [], `${at}: a table that hides its last columns`);
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

// Documents inside the live page: marks as high as letters, one drawing per chart, no overflow.
export function told() {
	document.querySelectorAll(".doc details").forEach((d) => { d.open = true; });
	const high = (e) => e.getBoundingClientRect().height;
	return {
		large: [...document.querySelectorAll(".doc svg.o, .doc svg.m")].filter((e) => high(e) > 24 || (high(e) > 0 && high(e) < 4)).length,
		drawn: [...document.querySelectorAll(".doc figure")].filter((f) => [...f.querySelectorAll(":scope > svg")].filter(high).length !== 1).length,
		raw: [...document.querySelectorAll("main h2, main text, main figcaption, main label > span")].map((e) => e.textContent).filter((t) => /\b[a-z]+_[a-z]+/i.test(t)),
		cut: [...document.querySelectorAll("svg.chart")].flatMap((svg) => { const p = svg.getBoundingClientRect(); return [...svg.querySelectorAll("text")].filter((t) => { const r = t.getBoundingClientRect(); return r.width && (r.left < p.left - 2 || r.right > p.right + 2); }).map((t) => t.textContent); }),
	};
}
export const untold = (v) => [v.large && `${v.large} marks of another size than letters`, v.drawn && `${v.drawn} charts twice or not at all`, ...v.raw.map((t) => `a name of a field: ${t}`), ...v.cut.map((t) => `cut: ${t}`)].filter(Boolean);
