// The question carries over: every view evaluates its system and model, in any notation. Usage: test_question.mjs BASE [SHOTS]
import { check, done, open, settle } from "./chromium.mjs";

const answerOf = (page, command) => page.answers.findLast((a) => a.url.endsWith(command))?.body;
const faults = async (page) => (await page.locator(".fault").allInnerTexts()).join(" ");

// --- scaling: parts of one node, then whole nodes; a system of several nodes by nodes
for (const [on, upto, counts] of [["4x dgx-h100", 64, [8, 16, 32, 64]], ["dgx-h100", 32, [1, 2, 4, 8, 16, 32]], ["4x DGX H100", 16, [8, 16]], ["2x(8x h100-sxm5) over ib-hdr", 32, [8, 16, 32]],
  ["10x rtx-3090 via pcie4-no-p2p", 64, [1, 2, 4, 8, 10, 20, 40, 60]], ["8x h100-sxm5", 4, [1, 2, 4]], ["4x a100-sxm4-80gb", 16, [1, 2, 4, 8, 16]]]) {
  const page = await open(`/?view=scaling&on=${encodeURIComponent(on)}&upto=${upto}`);
  check(String(answerOf(page, "/predict")?.sweep?.map((r) => r.n_gpus)) === String(counts), `scaling of ${on} up to ${upto}: ${answerOf(page, "/predict")?.sweep?.map((r) => r.n_gpus)} ${await faults(page)}`);
  await page.context().close();
}

// --- every view takes model and system from the question, also after clicks and from older URLs
const text = async (page, what) => (await page.locator(what).allInnerTexts()).join(" ");
{
  const page = await open("/?model=llama-3-70b&on=4x+dgx-h100&vs=8x+h200-sxm%7C8x+b200");
  for (const [view, command] of [["serve", "serve"], ["compare", "predict"]]) {
    await page.locator(`#nav a[href*="view=${view}"]`).click();
    await settle(page);
    const asked = page.answers.filter((a) => a.url.endsWith(`/${command}`)).map((a) => a.body), mine = asked.findLast((a) => a.system === "4x dgx-h100");
    check(mine?.model === "llama-3-70b", `${view} after Ask: ${asked.map((a) => `${a.model} on ${a.system}`)}`);
  }
  check(/4x dgx-h100/.test(await text(page, "tbody")) && (await page.locator("tbody tr").count()) === 3, `Compare without the asked system: ${await text(page, "tbody th")}`);
  await page.context().close();
}
for (const query of ["model=gemma-2b&on=rtx-4090", "smodel=gemma-2b&son=rtx-4090"]) {
  const page = await open(`/?view=serve&${query}`), a = answerOf(page, "/serve");
  check((await page.inputValue("#q-model")) === "gemma-2b" && (await page.inputValue("#q-on")) === "rtx-4090" && !(await faults(page)), `serve ${query}: ${await page.inputValue("#q-model")}, ${a?.model} on ${a?.system}`);
  await page.context().close();
}

// --- figures and fields are fully visible, and shown once
{
  const page = await open("/?view=goodput&model=llama-3.1-405b&on=2048x+dgx-h100&tokens=15600000000000"), box = page.locator("#f-tokens"), useful = await text(page, ".answer .num");
  check(Number(await box.inputValue()) === 15.6e12 && (await box.inputValue()).length <= 9, `the box of tokens shows ${await box.inputValue()}`);
  const built = await page.locator(".build input").evaluateAll((l) => l.map((e) => e.value));
  check(String(built) === "1,dgx-h100,2048", `the builder shows ${built}`);
  const lead = await page.locator(".doc .lead").textContent();
  check(lead.replaceAll("\u00a0", " ").includes(useful.replaceAll("\u00a0", " ").replace(/ \(.*/, "")), `the sentence says ${useful}, the document ${lead.slice(0, 120)}`);
  await page.context().close();
}
{
  const page = await open("/?view=catalogue"), rows = await page.locator("tbody th").allInnerTexts();
  check(rows.some((name) => /RTX|GB?\d{3}\b/.test(name)), `the first GPUs: ${rows}`);
  await page.context().close();
}
for (const [id, charts] of [["rebellions-atom-max", 0], ["h100-sxm5", 1]]) { // a record without prices is no error
  const refused = [], page = await open(`/?view=catalogue&record=${id}`, { before: (p) => p.on("response", (r) => { if (r.status() >= 400) refused.push(`${r.status()} ${r.url()}`); }) });
  await page.waitForTimeout(1500);
  check(!refused.length && (await page.locator("figure svg.chart").count()) === charts, `${id}: ${refused}, ${await page.locator("figure svg.chart").count()} charts of prices`);
  await page.context().close();
}
{ // the points called cheapest and fastest are those of the chart
  const page = await open("/?view=price"), points = page.answers.find((a) => a.url.endsWith("/recommend")).body.front;
  for (const [title, key] of [["Cheapest", "cost_usd"], ["Fastest", "wall_s"]]) {
    const best = points.reduce((a, b) => (b[key].value < a[key].value ? b : a)), card = (await page.locator(".card", { hasText: title }).allInnerTexts()).join(" ");
    check(card.includes(`x ${best.gpu}`), `${title} is ${best.system} at ${best[key].value}, the card says ${card.slice(0, 160)}`);
  }
  await page.context().close();
}
{ // the legend has the points' colour
  const page = await open("/?view=trust&set=collectives&filter=H100"), colour = (what, key) => page.locator(what).first().evaluate((e, k) => getComputedStyle(e)[k], key);
  check((await colour("figcaption span", "color")) === (await colour("svg .dot.soft", "fill")), `the legend is ${await colour("figcaption span", "color")}, the points ${await colour("svg .dot.soft", "fill")}`);
  await page.context().close();
}

await done("question");
