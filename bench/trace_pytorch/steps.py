#!/usr/bin/env python3
"""Times whole training steps of plain PyTorch networks on GPU 0: steps.py RUNS.csv OUT.csv, or steps.py RUNS.csv --compile I/N

RUNS.csv has a run a line (columns: models.py). OUT.csv gets the same columns and step_s (median of the steps, device synchronised at both
ends of a group), launches a step, peak allocated and reserved bytes, or the error. Nothing else may run meanwhile: a step that waits for its
host takes up to twice as long beside others that compile. So --compile comes first, in N processes: it leaves in PyTorch's cache what
compiled runs need, and times nothing.
"""
import csv
import gc
import statistics
import sys
import time

import torch

from models import Run


def number(text):
	try:
		return int(text)
	except ValueError:
		try:
			return float(text)
		except ValueError:
			return text


def timed(run):
	for _ in range(4):
		run.step()  # the first one compiles
	torch.cuda.synchronize()
	torch.cuda.reset_peak_memory_stats()
	from_s = time.perf_counter()
	run.step()
	torch.cuda.synchronize()
	n = max(2, min(40, int(0.35 / (time.perf_counter() - from_s))))
	step_s = float("inf")
	for _ in range(4):  # repeat measurements disturbed by another machine on the same host
		times = []
		for _ in range(5):
			from_s = time.perf_counter()
			for _ in range(n):
				run.step()
			torch.cuda.synchronize()
			times.append((time.perf_counter() - from_s) / n)
		step_s = min(step_s, statistics.median(times))
		if max(times) < 1.05 * min(times) and statistics.median(times) < 1.02 * step_s:
			break
	return step_s, torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved(), launches(run)


def launches(run):
	with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
		run.step()
		torch.cuda.synchronize()
	return sum(1 for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA and "Memcpy" not in e.name and "Memset" not in e.name)


def forget():
	gc.collect()
	torch._dynamo.reset()
	torch.cuda.empty_cache()


def compile_part(rows, part, parts):
	for row in [r for r in rows if r["mode"] == "compiled"][part::parts]:
		run = None
		try:
			run = Run(row)
			run.step()
		except Exception as error:  # reported when it is timed
			print(error, flush=True)
		run = None
		forget()


def main():
	with open(sys.argv[1]) as file:
		rows = [{k: number(v) for k, v in row.items() if v != ""} for row in csv.DictReader(file)]
	if sys.argv[2] == "--compile":
		compile_part(rows, *(int(x) for x in sys.argv[3].split("/")))
		return
	columns = list(dict.fromkeys(k for row in rows for k in row)) + ["step_s", "launches", "allocated_B", "reserved_B", "error"]
	with open(sys.argv[2], "w", newline="") as file:
		out = csv.DictWriter(file, columns)
		out.writeheader()
		for row in rows:
			result = dict(row)
			try:
				run = Run(row)
				step_s, result["allocated_B"], result["reserved_B"], result["launches"] = timed(run)
				result["step_s"] = f"{step_s:.6g}"
			except Exception as error:  # a run that does not fit is a result too
				result["error"] = " ".join(str(error).split())[:120]
			out.writerow(result)
			file.flush()
			print(result, flush=True)
			run = None
			forget()


if __name__ == "__main__":
	main()
