#!/usr/bin/env python3
"""Faults put into one NVIDIA GPU, and what `jeoul check` says: gpu.py OUT.jsonl [--jeoul PATH] [--healthy N] [--seconds S]

Three quiet runs are this machine's history. Then quiet runs, clocks locked to 90, 80, 70 and 50 % (nvidia-smi -lgc, given back at the end), a neighbour that multiplies on the GPU, and
copies beside the run. Each run is judged twice: against the history, and by a store without one (the catalog alone). A line of OUT for each figure: fault, basis, what, value, ratio to
the quiet median, verdict, would_notice, cause. Needs root for the clocks; processes it starts end with it.
"""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BENCHES = (["gemm", "--dtype", "bf16", "--size", "8192"], ["gemm", "--dtype", "fp16", "--size", "4096"], ["gemm", "--dtype", "tf32", "--size", "8192"], ["gemm", "--dtype", "fp32", "--size", "4096"],
	["gemm", "--dtype", "fp8", "--size", "8192"], ["memory"], ["link"])
NEIGHBOUR = """
import torch
a = torch.randn(4096, 4096, device="cuda", dtype=torch.bfloat16)
print("on", flush=True)
while True:
	for _ in range(50):
		a @ a
	torch.cuda.synchronize()
"""
COPIES = """
import torch
a, b = torch.empty(1 << 28).pin_memory(), torch.empty(1 << 28, device="cuda")
print("on", flush=True)
while True:
	b.copy_(a, non_blocking=True)
	torch.cuda.synchronize()
"""


def shell(*words, **options):
	return subprocess.run(words, capture_output=True, text=True, **options)


def bench(store):
	for words in BENCHES:
		done = shell(args.jeoul, "bench", *words, "--backend", "cuda", "--time", "3 s", env=dict(os.environ, JEOUL_STORE=store))
		if done.returncode:
			print(" ".join(words), done.stderr.strip(), file=sys.stderr)


def exported(store):
	lines = shell(args.jeoul, "store", "export", env=dict(os.environ, JEOUL_STORE=store)).stdout.splitlines()
	return {json.loads(line)["id"]: line for line in lines if line.startswith("{") and "id" in json.loads(line)}


def check(store):
	out = shell(args.jeoul, "check", "--json", env=dict(os.environ, JEOUL_STORE=store))
	return json.loads(out.stdout)["results"] if out.stdout.strip() else []


def judged(history, work):
	"""Both answers for a new run: (basis, results)."""
	store, bare = os.path.join(work, "run.db"), os.path.join(work, "bare.db")
	for path in (store, bare):
		for tail in ("", "-wal", "-shm"):
			if os.path.exists(path + tail):
				os.remove(path + tail)
	known = exported(history)
	shutil.copy(history, store)
	bench(store)
	fresh = [line for name, line in exported(store).items() if name not in known]
	subprocess.run([args.jeoul, "store", "import", "-"], input="\n".join(fresh) + "\n", text=True, capture_output=True, env=dict(os.environ, JEOUL_STORE=bare))
	return (("history", check(store)), ("catalog", check(bare)))


def key(r):
	return f"{r['kind']} {r['what']} {r['metric']}"


def main():
	out = open(args.out, "w")
	work = tempfile.mkdtemp()
	history = os.path.join(work, "history.db")
	top_mhz = int(shell("nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits").stdout.split()[0])
	from_s, quiet = time.time(), {}
	for _ in range(3):
		bench(history)
		for r in check(history):
			quiet.setdefault(key(r), []).append(r["value"])
	faults = [("quiet", None)] * args.healthy + [(f"clock {share} %", share) for share in (90, 80, 70, 50)] + [("neighbour", NEIGHBOUR), ("copies", COPIES)]
	for name, what in (f for f in faults if args.only in f[0]):
		if time.time() - from_s > args.seconds:
			print("out of time before", name)
			break
		child = None
		if isinstance(what, int):
			print(shell("nvidia-smi", "-lgc", str(top_mhz * what // 100)).stdout.strip())
		elif what:
			child = subprocess.Popen([sys.executable, "-c", what], stdout=subprocess.PIPE, text=True)
			child.stdout.readline()
		try:
			answers = judged(history, work)
		finally:
			if isinstance(what, int):
				shell("nvidia-smi", "-rgc")
			if child:
				child.kill()
				child.wait()
		for basis, results in answers:
			for r in results:
				usual = statistics.median(quiet[key(r)]) if key(r) in quiet else None
				row = dict(fault=name, basis=basis, what=key(r), value=r["value"], ratio=r["value"] / usual if usual else None, verdict=r["verdict"], expected_lo=r["expected_lo"],
					expected=r["expected"], would_notice=r["would_notice_frac"], cause=r["cause"], neighbour=r["neighbour"])
				out.write(json.dumps(row) + "\n")
				print(f"{name:12} {basis:8} {key(r):60} {r['value']:.4g} {row['ratio'] or 0:.3f} {r['verdict']} {r['cause'] or ''} {r['neighbour'] or ''}", flush=True)
	out.close()
	shutil.rmtree(work)


parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("out")
parser.add_argument("--jeoul", default="build/release/jeoul")
parser.add_argument("--healthy", type=int, default=4)
parser.add_argument("--only", default="", help="faults whose name holds this")
parser.add_argument("--seconds", type=float, default=500)
args = parser.parse_args()
args.jeoul = os.path.abspath(args.jeoul)
if __name__ == "__main__":
	main()
