#!/usr/bin/env python3
"""Times whole training steps of plain PyTorch networks on GPU 0: steps.py RUNS.csv OUT.csv [--part I/N]

RUNS.csv has a run a line (columns: models.py). OUT.csv gets the same columns and step_s (median of the steps, device synchronised at both
ends of a group), launches a step, peak allocated and reserved bytes, or the error. With --part several processes share the list, so that
compiling overlaps; a lock file lets only one of them time at a moment.
"""
import csv
import fcntl
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


def timed(run, lock):
	run.step()  # compiles
	torch.cuda.synchronize()
	fcntl.flock(lock, fcntl.LOCK_EX)
	try:
		for _ in range(3):
			run.step()
		torch.cuda.synchronize()
		torch.cuda.reset_peak_memory_stats()
		from_s = time.perf_counter()
		run.step()
		torch.cuda.synchronize()
		once_s = time.perf_counter() - from_s
		n = max(2, min(40, int(0.35 / once_s)))
		# others compile meanwhile, and the first steps of what they compiled are on the same GPU: what they disturb is timed again
		step_s = float("inf")
		for _ in range(4):
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
		allocated, reserved = torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
		return step_s, allocated, reserved, launches(run)
	finally:
		fcntl.flock(lock, fcntl.LOCK_UN)


def launches(run):
	with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as prof:
		run.step()
		torch.cuda.synchronize()
	return sum(1 for e in prof.events() if e.device_type == torch.autograd.DeviceType.CUDA and "Memcpy" not in e.name and "Memset" not in e.name)


def main():
	runs_path, out_path = sys.argv[1:3]
	part, parts = (int(x) for x in sys.argv[4].split("/")) if len(sys.argv) > 4 else (0, 1)
	with open(runs_path) as file:
		rows = [{k: number(v) for k, v in row.items() if v != ""} for row in csv.DictReader(file)]
	columns = list(dict.fromkeys(k for row in rows for k in row)) + ["step_s", "launches", "allocated_B", "reserved_B", "error"]
	lock = open("/tmp/gpu-timing.lock", "w")
	with open(out_path, "w", newline="") as file:
		out = csv.DictWriter(file, columns)
		out.writeheader()
		for row in rows[part::parts]:
			result = dict(row)
			try:
				run = Run(row)
				step_s, result["allocated_B"], result["reserved_B"], result["launches"] = timed(run, lock)
				result["step_s"] = f"{step_s:.6g}"
			except Exception as error:  # a run that does not fit is a result too
				result["error"] = " ".join(str(error).split())[:120]
			out.writerow(result)
			file.flush()
			print(result, flush=True)
			run = None
			gc.collect()
			torch._dynamo.reset()
			torch.cuda.empty_cache()


if __name__ == "__main__":
	main()
