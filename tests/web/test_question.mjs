// The question goes with the person: every view weighs the system and the model that were asked, however they are written. Usage: test_question.mjs BASE [SHOTS]
import { check, done, open } from "./chromium.mjs";

const answerOf = (page, command) => page.answers.findLast((a) => a.url.endsWith(command))?.body;
const faults = async (page) => (await page.locator(".fault").allInnerTexts()).join(" ");

// --- scaling: parts of one node, then whole nodes of its kind; a system of several nodes by nodes
for (const [on, upto, counts] of [["4x dgx-h100", 64, [8, 16, 32, 64]], ["dgx-h100", 32, [1, 2, 4, 8, 16, 32]], ["4x DGX H100", 16, [8, 16]], ["2x(8x h100-sxm5) over ib-hdr", 32, [8, 16, 32]],
  ["10x rtx-3090 via pcie4-no-p2p", 64, [1, 2, 4, 8, 10, 20, 40, 60]], ["8x h100-sxm5", 4, [1, 2, 4]], ["4x a100-sxm4-80gb", 16, [1, 2, 4, 8, 16]]]) {
  const page = await open(`/?view=scaling&on=${encodeURIComponent(on)}&upto=${upto}`);
  check(String(answerOf(page, "/predict")?.sweep?.map((r) => r.n_gpus)) === String(counts), `scaling of ${on} up to ${upto}: ${answerOf(page, "/predict")?.sweep?.map((r) => r.n_gpus)} ${await faults(page)}`);
  await page.context().close();
}

await done("question");
