#!/usr/bin/env python3
"""Finds the products that the library splits along k with a separate summing kernel, and their times: cuts.py OUT.csv

Linear layers of a transformer (hidden size, width, tokens): forward, input gradient, weight gradient, in bf16, tf32 and fp32. A waiting kernel
between products separates them in the profiler's list. The second of two runs counts.
"""
import csv
import sys

import torch

HIDDEN = (256, 384, 512, 768, 1024, 1536, 2048, 4096)
TOKENS = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
MOST_FLOP = {"bf16": 4e12, "tf32": 2e12, "fp32": 4e11}  # per product; larger ones behave like their neighbours


def widths(hidden):
	ffn = -(-hidden * 8 // 3 // 128) * 128
	return [(hidden, hidden), (hidden, 3 * hidden), (hidden, 3 * hidden // 2), (hidden, 4 * hidden), (4 * hidden, hidden), (hidden, ffn), (ffn, hidden)]


def products(precision):
	dtype = torch.bfloat16 if precision == "bf16" else torch.float32
	torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
	for hidden in HIDDEN:
		for k, n in widths(hidden):
			for tokens in TOKENS:
				if 2 * tokens * k * n > MOST_FLOP[precision]:
					continue
				x, w, g = (torch.randn(*shape, device="cuda").to(dtype) for shape in ((tokens, k), (n, k), (tokens, n)))
				yield "forward", (tokens, n, k), lambda: torch.nn.functional.linear(x, w)
				yield "input gradient", (tokens, k, n), lambda: g @ w
				yield "weight gradient", (n, k, tokens), lambda: g.t() @ x


def seen(precision):
	"""[(pass, shape, [(kernel, microseconds)])]"""
	asked = []
	with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
		for name, shape, run in products(precision):
			run()
			torch.cuda._sleep(10)
			run()
			torch.cuda._sleep(10)
			asked.append((name, shape))
		torch.cuda.synchronize()
	parts = [[]]
	for event in sorted((e for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start):
		if "spin_kernel" in event.name:
			parts.append([])
		elif not any(word in event.name for word in ("Memset", "Memcpy", "distribution", "copy")):
			parts[-1].append((event.name, event.time_range.elapsed_us()))
	assert len(parts) == 2 * len(asked) + 1, (len(parts), len(asked))
	return [(*what, parts[2 * i + 1]) for i, what in enumerate(asked)]


def main():
	with open(sys.argv[1], "w", newline="") as file:
		out = csv.writer(file)
		out.writerow(["precision", "pass", "m", "n", "k", "kernels", "us", "sum_us", "kernel"])
		for precision in ("bf16", "tf32", "fp32"):
			for name, shape, kernels in seen(precision):
				summed = [us for kernel, us in kernels if "splitK" in kernel and "reduce" in kernel]
				out.writerow([precision, name, *shape, len(kernels), f"{sum(us for _, us in kernels):.1f}", f"{sum(summed):.1f}", kernels[0][0][:100] if kernels else ""])
			file.flush()


if __name__ == "__main__":
	main()
