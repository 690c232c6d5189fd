#!/usr/bin/env python3
"""Times drawn programs on GPU 0: measure.py LIST OUT [--profile N] [--seconds S] [--limit S], or measure.py LIST --precompile I/N

Writes a JSON line for each program as soon as it is done, and before every tenth a line with figures of the host. Programs already in OUT are skipped,
so a run that was cut goes on where it ended. A worker runs them one after the other; when it dies (a device error, a hang), the program at
fault is written down as failed and a fresh worker goes on. --profile: afterwards, one step of N of the timed programs (spread over the list; all: every one) under the
profiler, so that its hooks disturb no timing. Compiled programs: first run --precompile in N processes; it fills PyTorch's cache and times nothing.

step_s: median of groups of steps, synchronised at the ends of a group only. host_s: least time until step() returns after a
synchronisation. allocated_B, reserved_B: most during the timed steps. static_B: allocated between steps. left_B: allocated before the program was built.
"""
import argparse
import gc
import json
import os
import signal
import statistics
import subprocess
import sys
import time
import traceback

import zoo

CPU = os.environ.get("JEOUL_ZOO_DEVICE") == "cpu"
STUCK_S = 60  # a worker without output for the limit plus this time is killed


class TooLong(Exception):
	pass


def done(path):
	"""Existing lines of OUT: id -> kinds of lines."""
	found = {}
	if os.path.exists(path):
		with open(path) as file:
			for line in file:
				try:
					row = json.loads(line)
				except ValueError:
					continue
				found.setdefault(row.get("id"), set()).add("profile" if "profile" in row else "step")
	return found


def write(path, row):
	with open(path, "a") as file:
		file.write(json.dumps(row) + "\n")


def sync():
	if not CPU:
		import torch

		torch.cuda.synchronize()


def group_s(step, n):
	sync()
	from_s = time.perf_counter()
	for _ in range(n):
		step()
	sync()
	return (time.perf_counter() - from_s) / n


def host_s(step):
	sync()
	from_s = time.perf_counter()
	step()
	took_s = time.perf_counter() - from_s
	sync()
	return took_s


def timed(program):
	"""Five groups of at least two steps each; fewer if a step is long."""
	group_s(program.step, 1)
	group_s(program.step, 2)
	n = max(2, min(30, int(0.25 / max(1e-6, group_s(program.step, 1)))))
	times, from_s = [], time.perf_counter()
	while len(times) < 5 and (len(times) < 1 or time.perf_counter() - from_s < 2.5):
		times.append(group_s(program.step, n))
	if len(times) == 5 and max(times) > 1.1 * min(times):  # disturbed: measure once more
		times += [group_s(program.step, n) for _ in range(4)]
	return dict(step_s=statistics.median(times), least_s=min(times), most_s=max(times), steps=n * len(times), host_s=min(host_s(program.step) for _ in range(3)))


def forget():
	import torch

	gc.collect()
	if "torch._dynamo" in sys.modules:
		torch._dynamo.reset()
	if not CPU:
		clear = getattr(torch._C, "_cuda_clearCublasWorkspaces", None)
		if clear:
			clear()
		torch.cuda.empty_cache()


def measure(r):
	import torch

	row, program = {}, None
	try:
		if not CPU:
			row["left_B"] = torch.cuda.memory_allocated()
		from_s = time.perf_counter()
		program = zoo.build(r)
		sync()
		row["build_s"] = round(time.perf_counter() - from_s, 3)
		from_s = time.perf_counter()
		program.step()
		sync()
		row["first_s"] = round(time.perf_counter() - from_s, 3)
		program.step()
		if not CPU:
			sync()
			torch.cuda.reset_peak_memory_stats()
		row.update(timed(program))
		if not CPU:
			row.update(allocated_B=torch.cuda.max_memory_allocated(), reserved_B=torch.cuda.max_memory_reserved(), static_B=torch.cuda.memory_allocated())
		row["params"] = sum(p.numel() for p in program.model.parameters())
	finally:
		program = None
	return row


def trace_one(r):
	import kernels

	program = zoo.build(r)
	for _ in range(2):
		program.step()
	sync()
	return dict(profile=kernels.profile(program.step))


def guarded(job, r, limit_s):
	"""Runs job(r) within limit_s; a failure is a result too."""
	def late(*_):
		raise TooLong(f"over {limit_s} s")

	signal.signal(signal.SIGALRM, late)
	signal.alarm(limit_s)
	try:
		return job(r)
	except Exception as error:
		last = traceback.extract_tb(error.__traceback__)[-1]
		return dict(error=f"{type(error).__name__}: {' '.join(str(error).split())[:300]} ({os.path.basename(last.filename)}:{last.lineno})")
	finally:
		signal.alarm(0)


def broken(row):
	"""Errors after which the process's CUDA context is lost."""
	text = row.get("error", "")
	return "CUDA error" in text or "device-side assert" in text or "CUBLAS_STATUS_EXECUTION_FAILED" in text


HOST_EVERY = 10  # programs between two timings of the host, which changes while others use the machine


def worker(args, programs, job, mark):
	import host
	import torch

	until_s = args.until
	for i, r in enumerate(programs):
		if mark in done(args.out).get(r["id"], ()):
			continue
		if mark == "step" and i % HOST_EVERY == 0:
			write(args.out, dict(host=host.figures()))
		if time.time() > until_s:
			print("out of time", flush=True)
			return 3
		begin_s = time.perf_counter()
		row = guarded(job, r, args.limit * (4 if r.get("compile") else 1))
		if mark == "profile" and "profile" not in row:
			row = {"profile": row}
		row = dict(id=r["id"], **row, took_s=round(time.perf_counter() - begin_s, 2))
		write(args.out, row)
		print(r["id"], r["mode"], r["precision"], f"{1e3 * row['step_s']:.3f} ms, {row.get('allocated_B', 0) / 1e9:.2f} GB" if "step_s" in row else row.get("error") or row["profile"].get("launches", row["profile"]), f"[{row['took_s']} s]", flush=True)
		if broken(row):
			return 4
		forget()
		if not CPU and torch.cuda.memory_allocated() > 2e9:  # a failed program left tensors allocated
			return 4
	return 0


def chosen(programs, out, want):
	"""Selects `want` of the timed programs for profiling, evenly spread."""
	rows = {}
	with open(out) as file:
		for line in file:
			row = json.loads(line)
			if "step_s" in row:
				rows[row["id"]] = row
	timed_ones = [r for r in programs if r["id"] in rows]
	n = len(timed_ones) if want == "all" else min(len(timed_ones), int(want))
	return [timed_ones[i * len(timed_ones) // n] for i in range(n)]


def watch(child, path, quiet_s):
	"""Waits for a worker; kills it after quiet_s without output."""
	size, at_s = -1, time.time()
	while child.poll() is None:
		time.sleep(0.2)
		now = os.path.getsize(path) if os.path.exists(path) else 0
		if now != size:
			size, at_s = now, time.time()
		if time.time() - at_s > quiet_s:
			child.kill()
	return child.returncode


def supervise(args, programs, mark):
	"""Starts workers until every program has a result; gives up after three in a row without any."""
	n_barren = 0
	while n_barren < 3:
		left = [r for r in programs if mark not in done(args.out).get(r["id"], ())]
		if not left or time.time() > args.until:
			return
		quiet_s = args.limit * (4 if any(r.get("compile") for r in left) else 1) + STUCK_S
		child = subprocess.Popen([sys.executable, "-u", os.path.abspath(__file__), args.list, args.out, "--worker", mark, "--limit", str(args.limit), "--until", str(args.until), "--ids", ",".join(r["id"] for r in left)])
		rc = watch(child, args.out, quiet_s)
		still = [r for r in left if mark not in done(args.out).get(r["id"], ())]
		n_barren = n_barren + 1 if len(still) == len(left) else 0
		if rc == 3:
			return
		if rc not in (0, 4) and still:
			error = f"worker ended with {rc}"
			write(args.out, dict(id=still[0]["id"], **({"profile": {"error": error}} if mark == "profile" else {"error": error})))
			print(still[0]["id"], error, flush=True)


def compile_one(r):
	zoo.build(r).step()
	return {}


def precompile(programs, part):
	i, n = (int(x) for x in part.split("/"))
	for r in [p for p in programs if p.get("compile")][i::n]:
		from_s = time.perf_counter()
		row = guarded(compile_one, r, 540)
		print(r["id"], row.get("error", "compiled"), f"[{time.perf_counter() - from_s:.0f} s]", flush=True)
		forget()


def arguments():
	parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
	parser.add_argument("list")
	parser.add_argument("out", nargs="?")
	parser.add_argument("--profile", metavar="N")
	parser.add_argument("--precompile", metavar="I/N")
	parser.add_argument("--seconds", type=float, default=570, help="begin no program after this long")
	parser.add_argument("--limit", type=int, default=40, help="seconds for one program, four times as many for a compiled one")
	parser.add_argument("--worker", help=argparse.SUPPRESS)
	parser.add_argument("--until", type=float, help=argparse.SUPPRESS)
	parser.add_argument("--ids", help=argparse.SUPPRESS)
	args = parser.parse_args()
	args.until = args.until or time.time() + args.seconds
	if not args.out and not args.precompile:
		parser.error("OUT is missing")
	return args


def main():
	args = arguments()
	with open(args.list) as file:
		programs = json.load(file)
	if args.precompile:
		return precompile(programs, args.precompile)
	if args.worker:
		mine = [r for r in programs if r["id"] in set(args.ids.split(","))]
		return sys.exit(worker(args, mine, trace_one if args.worker == "profile" else measure, args.worker))
	supervise(args, programs, "step")
	if args.profile and os.path.exists(args.out):
		supervise(args, chosen(programs, args.out, args.profile), "profile")


if __name__ == "__main__":
	main()
