// Pictures of the page for README and docs/LOOK.md; a sheet shows all views. Usage: pictures.mjs BASE FOLDER
import { writeFileSync } from "node:fs";
import { base, browser, settle, views } from "./chromium.mjs";
const folder = process.argv[3];
async function shot(query, { width = 1440, height = 900, dark = false, scale = 1, path } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: dark ? "dark" : "light", locale: "en-US", deviceScaleFactor: scale, reducedMotion: "reduce" }), page = await context.newPage();
  page.reading = [];
  await page.goto(base + query);
  await settle(page);
  const picture = await page.screenshot({ path });
  await context.close();
  return picture;
}
for (const [name, query] of [["web-ask", "/?lang=en"], ["web-whatif", "/?view=whatif&model=gpt-305m&on=8x+rtx-3090&batch=4"], ["web-trust", "/?view=trust"], ["web-price-ko", "/?view=price&lang=ko&cur=KRW"], ["web-scaling-ko", "/?view=scaling&lang=ko"], ["web-compare", "/?view=compare"]]) await shot(query, { scale: 0.75, height: 1000, path: `${folder}/${name}.png` });
// A sheet: small pictures side by side, captured again.
async function sheet(name, width, items) {
  const context = await browser.newContext({ viewport: { width, height: 100 } }), page = await context.newPage();
  await page.setContent(`<body style="margin:8px;display:flex;flex-wrap:wrap;gap:8px;background:#888">${items.map((p) => `<img src="data:image/png;base64,${p.toString("base64")}">`).join("")}`);
  await page.waitForFunction(() => [...document.images].every((i) => i.complete));
  writeFileSync(`${folder}/look/${name}.png`, await page.screenshot({ fullPage: true }));
  await context.close();
}
const all = async (query, how) => { const list = []; for (const v of views) list.push(await shot(`/?view=${v}${query}`, how)); return list; };
await sheet("page", 1650, await all("&lang=ko&cur=KRW", { scale: 0.375 }));
await sheet("page-phone", 1450, await all("&lang=en", { width: 390, height: 844, dark: true, scale: 0.5 }));
await browser.close();
