#!/usr/bin/env python3
"""Measures the cost of a kernel launch on this host: host.py OUT.csv

Times steps of networks so small that the GPU always waits (eager and compiled), like steps.py. `score.py --host OUT.csv` derives from them the host's
launch time, the only property of the machine that cannot be known in advance, and predicts with it (`jeoul predict --launch`).
"""
import csv
import sys

sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/trace_pytorch")
from models import Run  # noqa: E402
from steps import timed  # noqa: E402

COLUMNS = ["kind", "layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "seq", "batch", "precision", "mode", "attention", "dropout", "optimizer", "step_s"]


def main():
	with open(sys.argv[1], "w", newline="") as file:
		out = csv.DictWriter(file, COLUMNS)
		out.writeheader()
		for kind in ("gpt", "llama"):
			for mode in ("eager", "compiled"):
				run = dict(kind=kind, layers=8, hidden=256, heads=4, kv_heads=4, ffn=1024, vocab=1024, seq=64, batch=1, precision="bf16", mode=mode, attention="sdpa", dropout=0, optimizer="foreach")
				run["step_s"] = f"{timed(Run(run))[0]:.6g}"
				out.writerow(run)


main()
