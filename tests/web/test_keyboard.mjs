// Keyboard and touch: one first-level heading per view, focus never on body, click targets of at least 24 px.
// Usage: test_keyboard.mjs BASE
import { check, done, open, settle, views } from "./chromium.mjs";

const focused = (page) => page.evaluate(() => { const e = document.activeElement; return e === document.body ? "body" : e.getAttribute("aria-label") ?? e.id ?? e.textContent; });
for (const view of views)
  for (const [lang, width] of [["en", 1440], ["ko", 390]]) {
    const page = await open(`/?view=${view}&lang=${lang}`, { width }), name = `${view} ${lang} ${width}`;
    const heads = await page.locator("main h1").allInnerTexts();
    check(heads.length === 1 && heads[0].trim().length > 0, `${name}: ${heads.length} h1`);
    // links in text may have the line's height (WCAG 2.5.8); chart marks have a table
    const small = await page.evaluate(() => [...document.querySelectorAll("a, button, input:not(.sr), select, summary")].filter((e) => e.checkVisibility() && !e.closest("p, dd, .doc, .skip") && !e.classList.contains("skip")).map((e) => [e.textContent.slice(0, 30) || e.id, e.getBoundingClientRect()]).filter(([, r]) => r.width && (r.height < 23.5 || r.width < 23.5)).map(([n, r]) => `${n} ${r.width.toFixed(0)}×${r.height.toFixed(0)}`));
    check(small.length === 0, `${name}: ${small.length} targets under 24 px: ${small.slice(0, 6)}`);
    await page.context().close();
  }
{ // navigation links, a chip that makes it fit, advice, a point
  const page = await open("/");
  for (const n of [1, 4, 0]) {
    await page.locator("nav a").nth(n).focus();
    await page.keyboard.press("Enter");
    await settle(page);
    check(await page.evaluate(() => document.activeElement.getAttribute("aria-current")) === "page", `link ${n}: focus on ${await focused(page)}`);
  }
  await page.locator("p.second .chip, p.repair .chip").first().focus();
  await page.keyboard.press("Enter");
  await settle(page);
  check(await focused(page) !== "body", "a chip of the answer: focus on body");
  await page.context().close();
  const whatif = await open("/?view=whatif&model=gpt-305m&on=8x+rtx-3090&batch=4");
  await whatif.locator(".advice button.chip").first().focus();
  await whatif.keyboard.press("Enter");
  await settle(whatif);
  check(await focused(whatif) !== "body", "advice: focus on body");
  await whatif.context().close();
  const price = await open("/?view=price"), dot = price.locator(".dot[tabindex]").nth(2), label = await dot.getAttribute("aria-label");
  await dot.focus();
  await price.keyboard.press("Enter");
  await price.waitForTimeout(200);
  check(await focused(price) === label, `a dot: focus on ${await focused(price)}`);
  await price.context().close();
}
await done("the keyboard");
