#!/usr/bin/env python3
"""catalog.py JEOUL: judges published healthy figures by the catalog alone, unchanged and slowed by 25 %.

Rows: matrix products and copies of data/validation, all-reduces of 8 GPUs. Prints per kind the number of judged figures, healthy ones called low
(false alarms), and slowed ones detected. docs/METHOD.md marks rows used for fitting."""
import csv, json, math, os, subprocess, sys, tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SLOW = 0.75
IDS = {"A100 PCIe 80GB": "a100-pcie-80gb", "A100 SXM 80GB": "a100-sxm4-80gb", "A100 SXM 40GB": "a100-sxm4-40gb", "B200 SXM": "b200", "H100 SXM 80GB": "h100-sxm5",
       "H200 SXM 141GB": "h200-sxm", "L40S": "l40s", "P100 PCIe 16GB": "p100-pcie-16gb", "RTX 3090 Ti": "rtx-3090-ti", "RTX 4090": "rtx-4090",
       "T4": "t4", "V100 PCIe 32GB": "v100-pcie-32gb", "GB200": "gb200", "B300 SXM": "b300", "MI300X": "mi300x", "AMD MI300X": "mi300x", "AMD MI325X": "mi325x", "GH200 SXM": "gh200",
       "RTX PRO 6000 Blackwell": "rtx-pro-6000-blackwell", "RTX PRO 6000 Blackwell Server": "rtx-pro-6000-blackwell-server", "H100 PCIe 80GB": "h100-pcie", "V100 SXM2 16GB": "v100-sxm2-16gb",
       "a100_sxm": "a100-sxm4-80gb", "h100_sxm": "h100-sxm5", "h200_sxm": "h200-sxm", "b200_sxm": "b200", "l40s": "l40s", "b300_sxm": "b300", "gb200": "gb200", "h100_pcie": "h100-pcie", "a100_pcie": "a100-pcie-80gb"}
DTYPES = {"bfloat16": "bf16", "bf16": "bf16", "fp16": "fp16", "float16": "fp16", "half": "fp16", "fp32 (TF32 off)": "fp32"}  # fp8 rows include quantizing


def rows(name):
	with open(os.path.join(ROOT, "data", "validation", name), newline="") as f:
		yield from csv.DictReader(f)


def products():
	for name in ("gemm_membw.csv", "gemm_own.csv"):
		for r in rows(name):
			if r["kind"] == "gemm" and r["dtype"] in DTYPES and r["batch"] in ("", "1"):
				yield r["gpu"], DTYPES[r["dtype"]], int(r["m"]), int(r["n"]), int(r["k"]), float(r["value"]) * 1e12, r["split_group"].split("|")[0]
	for r in rows("gemm_ops.csv"):
		if r["dtype"] in ("bfloat16", "float16"):
			m, n, k = int(r["m"]), int(r["n"]), int(r["k"])
			yield r["gpu"], DTYPES[r["dtype"]], m, n, k, 2 * m * n * k / float(r["latency_ms"]) * 1e3, "ops|" + r["engine"]


def cases():
	for gpu, dtype, m, n, k, v, src in products():
		if gpu in IDS:
			yield IDS[gpu], "gemm", {"m": m, "n": n, "k": k, "dtype": dtype, "device": 0}, "gemm_flopps", v, src
	for r in rows("gemm_membw.csv"):
		if r["kind"] in ("membw_local_copy", "elementwise_add", "elementwise_mul") and r["gpu"] in IDS and r["unit"] == "GB/s":
			b = float(r["bytes"] or 1 << 30)
			copy = r["kind"] == "membw_local_copy"
			yield IDS[r["gpu"]], "memory", {"size_B": b / (2 if copy else 3), "test": "copy" if copy else "triad", "device": 0}, "mem_Bps", float(r["value"]) * 1e9, r["split_group"].split("|")[0]
	for r in rows("collectives.csv"):
		if r["gpu"] in IDS and r["collective"] == "all_reduce" and r["n_nodes"] == "1" and r["n_gpus"] == "8" and float(r["bytes"] or 0) >= 16 << 20:
			b = float(r["bytes"])
			alg = float(r["algbw_GBps"]) * 1e9 if r["algbw_GBps"] else float(r["busbw_GBps"]) * 1e9 / 1.75 if r["busbw_GBps"] else b / (float(r["latency_us"]) * 1e-6)
			yield "8x " + IDS[r["gpu"]], "allreduce", {"size_B": b, "n_ranks": 8, "gpu": r["gpu"], "n_nodes": 1}, "algbw_Bps", alg, r["split_group"].split("|")[0]


def judge(jeoul, system, items):
	"""Verdicts of (kind, params, metric, value) on one system."""
	out = []
	for at in range(0, len(items), 400):
		part = items[at : at + 400]
		with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as f:
			for i, (kind, params, metric, value) in enumerate(part):
				f.write(json.dumps({"record_version": 1, "id": "01M7EZ%04d" % i + "0" * 16, "time_s": 1.7e9 + i, "kind": kind, "backend": "cuda" if kind != "allreduce" else "nccl", "origin": "imported",
						    "params": params, "metrics": [{"name": metric, "median": value}]}) + "\n")
			f.flush()
			p = subprocess.run([jeoul, "check", f.name, "--on", system, "--json"], capture_output=True, text=True)
		if not p.stdout.startswith("{"):
			print(system, p.stderr[:300], file=sys.stderr)
			return None
		out += json.loads(p.stdout)["results"]
	return out


def main():
	jeoul, systems, found = sys.argv[1], {}, []
	for system, kind, params, metric, value, src in cases():
		systems.setdefault(system, []).append((kind, params, metric, value, src))
	for system, items in systems.items():
		healthy = judge(jeoul, system, [i[:4] for i in items])
		slow = judge(jeoul, system, [(k, p, m, v * SLOW) for k, p, m, v, _ in items])
		if healthy and slow and len(healthy) == len(items) == len(slow):
			found += [(system, i, h, s) for i, h, s in zip(items, healthy, slow)]
	def settled(system, i):
		if i[0] == "gemm":
			return all(i[1][x] >= 4096 and i[1][x] % 64 == 0 for x in "mnk") and i[1]["dtype"] in ("bf16", "fp16")
		return i[0] == "memory" or (i[1]["size_B"] >= 1 << 28 and not any(x in system for x in ("rtx", "l40s")))

	def table(name, rows):
		if not rows:
			return
		count = lambda j, verdicts: sum(r[j]["verdict"] in verdicts for r in rows)
		can = [r for r in rows if r[2]["verdict"] not in ("unjudged", "first")]
		r = sorted(math.log(r[2]["value"] / r[2]["expected"]) for r in rows)
		mean = sum(r) / len(r)
		sd = math.sqrt(sum((x - mean) ** 2 for x in r) / max(1, len(r) - 1))
		print("%-34s %4d rows, judged %4d, healthy called bad %2d, 25 %% slower called low %5.1f %% (%d of %d) · residual sd %.3f, %+.2f to %+.2f" % (name, len(rows), len(can),
		      count(2, ("low", "high", "impossible")), 100 * count(3, ("low",)) / len(rows), count(3, ("low",)), len(rows), sd, r[0], r[-1]))

	for kind in ("gemm", "memory", "allreduce"):
		table(kind + ", settled", [f for f in found if f[1][0] == kind and settled(f[0], f[1])])
		table(kind + ", others", [f for f in found if f[1][0] == kind and not settled(f[0], f[1])])
	for s, i, h, l in found:
		if h["verdict"] in ("low", "high", "impossible") or (settled(s, i) and l["verdict"] != "low"):
			print("  %s %s %s %s: healthy %s %.4g (%.4g to %.4g, low below %.4g), slower %s, %s" % (s, i[0], i[1], i[4], h["verdict"], h["value"], h["expected_lo"], h["expected_hi"], h["low_below"], l["verdict"], h["would_notice_frac"]))


main()
