#!/usr/bin/env python3
"""Compares the predicted launches of a step with those seen by a profiler: compare.py JEOUL RUNS.csv TRACE.csv [SYSTEM]

TRACE.csv is the output of trace.py RUNS.csv on a GPU. For each run prints the ratios prediction / profiler of launches (without the driver's copies
and fills), bytes of streaming kernels (without products and attention; eager runs), and device time by kind.
"""
import csv
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "blind"))
from score import config  # noqa: E402

PRODUCTS = ("gemm", "cutlass", "nvjet", "xmma", "cublas")


def predicted(jeoul, r, system):
	with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
		json.dump(config(r), file)
		file.flush()
		args = [jeoul, "predict", file.name, "--on", system, "--batch", r["batch"], "--seq", r["seq"], "--precision", r["precision"].split("-")[0], "--framework", r["mode"],
			"--flash", "yes" if r["attention"] == "sdpa" else "no", "--kernels", "--json"]
		if r["precision"].endswith("-pure"):
			args += ["--states", "bf16"]
		if r["optimizer"] == "fused":
			args += ["--optimizer", "fused"]
		return json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout)


def kind(row):
	name, operator = row["kernel"].lower(), row["operator"].lower()
	if "foreach" in operator or "fused_adam" in operator or "multi_tensor" in name:
		return "optimizer"
	if "attention" in operator or "flash" in name or "fmha" in name or "sdpa" in name:
		return "attention"
	return "product" if any(word in name for word in PRODUCTS) else "stream"


def seen(rows, index):
	launches, us, moved = {}, {}, 0
	for row in rows:
		if row["run"] != str(index):
			continue
		if row["what"] == "kernel":
			if "Memset" not in row["kernel"] and "Memcpy" not in row["kernel"]:
				launches[kind(row)] = launches.get(kind(row), 0) + int(row["launches"])
			us[kind(row)] = us.get(kind(row), 0) + float(row["us"])
		elif row["what"] == "bytes" and not any(word in row["operator"] for word in ("mm", "attention")):
			moved += int(row["moved_B"])
	return launches, us, moved


def main():
	jeoul, runs, trace = sys.argv[1:4]
	system = sys.argv[4] if len(sys.argv) > 4 else "h200-sxm"
	with open(runs) as file:
		runs = list(csv.DictReader(file))
	with open(trace) as file:
		rows = list(csv.DictReader(file))
	print("run                        launches: said  seen  ratio   bytes: said   seen  ratio   time: product attention stream optimizer")
	for index, r in enumerate(runs):
		if r["kind"] not in ("gpt", "llama"):
			continue
		r = dict(r, kv_heads=r["kv_heads"] or r["heads"], dropout=r["dropout"] or "0")
		said, (launches, us, moved) = predicted(jeoul, r, system), seen(rows, index)
		times = {}
		for k in said["kernels"]:
			name = "optimizer" if k["block"] == "optimizer" else k["kind"]
			times[name] = times.get(name, 0) + 1e6 * k["device_s"]
		n = sum(launches.values())
		bytes_text = f"{said['stream_B'] / 1e9:10.2f} {moved / 1e9:6.2f} {said['stream_B'] / moved:6.2f}" if moved else " " * 24
		print(f"{r['kind']:6} {r['precision']:9} {r['mode']:9} {said['launches']:12.0f} {n:5d} {said['launches'] / n:6.2f} {bytes_text}     "
			+ " ".join(f"{times.get(k, 0) / us[k] if us.get(k) else float('nan'):9.2f}" for k in ("product", "attention", "stream", "optimizer")))


if __name__ == "__main__":
	main()
