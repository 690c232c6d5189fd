#!/usr/bin/env python3
"""Converts a blind run to rows of data/validation/train_own.csv: bench/blind/join.py 13 thirteenth HOST. Use only after its score is recorded.

HOST is the number of the machine; hosts are left out as a whole. Vision networks and failed runs are omitted."""
import csv
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
OWN = os.path.join(HERE, "..", "..", "data", "validation", "train_own.csv")
PRECISION = {"bf16": ("bf16", "autocast"), "fp16": ("fp16", "autocast"), "bf16-pure": ("bf16", "bf16"), "tf32": ("tf32", ""),
	     "fp32": ("fp32 (TF32 off)", "")}
NAME = {"gpt": "GPT", "llama": "Llama"}


def row(run, nth, host):
	precision, states = PRECISION[run["precision"]]
	return {
		"source_url": "bench/trace_pytorch/steps.py", "source_note": f"own run, {nth} blind run", "confidence": "measured",
		"group": f"own|{run['kind']}|host {host}", "gpu": "H200 SXM 141GB", "n_gpus": 1, "nodes": 1,
		"framework": "PyTorch 2.11 " + ("compile" if run["mode"] == "compiled" else "eager"), "task": "pretrain, every token",
		"model": NAME[run["kind"]], "layers": run["layers"], "hidden": run["hidden"], "heads": run["heads"],
		"kv_heads": run["kv_heads"], "ffn": run["ffn"], "seq_len": run["seq"], "vocab": run["vocab"], "tp": 1, "pp": 1, "dp": 1,
		"micro_batch": run["batch"], "global_batch": run["batch"], "precision": precision, "states": states, "recompute": "none",
		"flash_attn": "y" if run["attention"] == "sdpa" else "n", "optimizer": run["optimizer"], "dropout": run["dropout"],
		"tied": "n", "mem_gib_per_gpu": f"{float(run['allocated_B']) / 2**30:.4g}", "primary_metric": "s_per_iter",
		"primary_value": run["step_s"], "remark": "memory: most allocated at once",
		"split_group": f"jeoul own runs, host {host}|H200 SXM 141GB",
	}


def main():
	number, nth, host = sys.argv[1:4]
	with open(OWN, newline="") as f:
		names = next(csv.reader(f))
	with open(os.path.join(HERE, "measured", number + ".csv"), newline="") as f:
		runs = [r for r in csv.DictReader(f) if r["kind"] in NAME and r["step_s"] and not r["error"]]
	with open(OWN, "a", newline="") as f:
		csv.DictWriter(f, names, lineterminator="\n").writerows(row(r, nth, host) for r in runs)
	subprocess.run([os.path.join(HERE, "..", "..", "scripts", "normalise")], check=True)
	print(f"{len(runs)} rows")


main()
