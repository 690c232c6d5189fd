#!/usr/bin/env python3
"""Draws random training runs: draw.py SEED [N [long]] > runs.csv

"long" draws decoders of 8,192 to 65,536 tokens, where attention dominates. Kinds, sizes, precisions, batch and sequence are random from a fixed
space; runs that exceed 120 GB are drawn again. Blind protocol: parameters are frozen and committed first, and the seed is the start of that commit's
id.
"""
import csv
import random
import sys

COLUMNS = ["kind", "layers", "hidden", "heads", "kv_heads", "ffn", "vocab", "seq", "batch", "precision", "mode", "attention", "dropout", "optimizer", "image", "patch"]


LENGTHS = {"usual": [128, 256, 512, 1024, 2048, 4096], "long": [8192, 16384, 32768, 65536]}


def draw(pick, space):
	kind = pick.choice(["gpt", "gpt", "llama", "llama", *(["vit"] if space == "usual" else [])])
	dim = pick.choice([64, 64, 80, 96, 128])
	heads = pick.choice([4, 8, 12, 16, 20, 24, 32])
	hidden, layers = dim * heads, pick.choice([4, 6, 8, 12, 16, 20, 24, 32])
	mode = pick.choice(["eager", "eager", "eager", "compiled"])
	if mode == "compiled":
		layers = min(layers, 12)  # compilation takes minutes otherwise
	precision = pick.choice(["bf16", "bf16", "bf16", "fp16", "bf16-pure", "tf32", "fp32"])
	grouped = kind == "llama" and precision in ("bf16", "fp16", "bf16-pure") and heads % 4 == 0 and pick.random() < 0.5
	ffn = int(hidden * 8 / 3 / 128 + 1) * 128 if kind == "llama" else 4 * hidden
	seq = pick.choice(LENGTHS[space])
	if kind == "vit":
		image, patch = pick.choice([160, 224, 224, 256, 384]), pick.choice([16, 16, 32])
		return dict(kind=kind, layers=layers, hidden=hidden, heads=heads, kv_heads=heads, ffn=4 * hidden, vocab=1000, seq=(image // patch) ** 2 + 1, batch=2 ** pick.randint(3, 9),
			precision=precision.split("-")[0], mode=mode, attention="sdpa", dropout=0, optimizer=pick.choice(["foreach", "foreach", "fused"]), image=image, patch=patch)
	return dict(kind=kind, layers=layers, hidden=hidden, heads=heads, kv_heads=heads // 4 if grouped else heads, ffn=ffn,
		vocab=pick.choice([32000, 50257, 50304, 30522, 128256, 10000]), seq=seq, batch=2 ** pick.randint(0, 7 if space == "usual" else 2), precision=precision, mode=mode, attention="sdpa",
		dropout=pick.choice([0, 0, 0.1]) if kind != "llama" else 0, optimizer=pick.choice(["foreach", "foreach", "fused"]))


def memory_B(r):
	e, params = r["batch"] * r["seq"], 12 * r["layers"] * r["hidden"] ** 2 + 2 * r["vocab"] * r["hidden"]
	return 16 * params + e * (r["layers"] * r["hidden"] * (70 if r["precision"] in ("tf32", "fp32") else 44) + (13 * r["vocab"] if r["kind"] != "vit" else 0))


def flop(r):
	return 6 * r["batch"] * r["seq"] * (12 * r["layers"] * r["hidden"] ** 2 + (r["vocab"] * r["hidden"] if r["kind"] != "vit" else 0) + (r["layers"] * r["seq"] * r["hidden"] if r["seq"] > 4096 else 0))


def main():
	pick, n = random.Random(int(sys.argv[1], 16)), int(sys.argv[2]) if len(sys.argv) > 2 else 40
	space = sys.argv[3] if len(sys.argv) > 3 else "usual"
	out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
	out.writeheader()
	while n > 0:
		r = draw(pick, space)
		if memory_B(r) < 110e9 and 5e10 < flop(r) < (4e14 if r["precision"] not in ("fp32", "tf32") else 6e13):
			out.writerow(r)
			n -= 1


main()
