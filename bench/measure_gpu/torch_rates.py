#!/usr/bin/env python3
"""PyTorch's rates on GPU 0: a bf16 product of size 8192 and a device-to-device copy. Prints one line of JSON."""
import json
import statistics
import time

import torch


def median_s(run, n_each, n=20):
	"""Median over n samples of the mean of n_each runs, by events, after as many warm-up runs."""
	times = []
	for i in range(n + 5):
		a, b = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
		a.record()
		for _ in range(n_each):
			run()
		b.record()
		b.synchronize()
		if i >= 5:
			times.append(a.elapsed_time(b) * 1e-3 / n_each)
	return statistics.median(times)


def main():
	torch.manual_seed(1)
	n = 8192
	x = torch.rand(n, n, device="cuda").mul_(2).sub_(1).bfloat16()
	y = torch.rand(n, n, device="cuda").mul_(2).sub_(1).bfloat16()
	out = torch.empty(n, n, device="cuda", dtype=torch.bfloat16)
	gemm_s = median_s(lambda: torch.mm(x, y, out=out), 4)
	size_B = 4 << 30
	src = torch.randint(0, 1 << 30, (size_B // 4,), device="cuda", dtype=torch.int32)
	dst = torch.empty_like(src)
	copy_s = median_s(lambda: dst.copy_(src), 2)
	print(json.dumps({"torch": torch.__version__, "gpu": torch.cuda.get_device_name(0), "gemm_flopps": 2.0 * n**3 / gemm_s,
		"copy_Bps": 2.0 * size_B / copy_s, "time_s": time.time()}))


if __name__ == "__main__":
	main()
