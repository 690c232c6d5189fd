#!/usr/bin/env python3
"""Holds captured calls against the profiler's kernels, operator by operator: compare.py MEASURED DIR [ID…] [--top N]

For each profiled program (measure.py --profile) with a capture: calls in the file, launches and seconds that the profiler saw under the same operator. A chain of operators
(linear>addmm) counts for the outermost one that the capture lists. Without ID: all programs added up. What the capture lists and the profiler saw nothing of launches no kernel,
or ran under another name; what stands under "not in the capture" is missing there.
"""
import argparse
import collections
import json
import os

# operators that captures write under a name of jeoul, with their names in the profiler
ALIASES = {"scaled_dot_product_attention": "sdpa", "lstm": "rnn", "gru": "rnn", "rnn_tanh": "rnn", "_cudnn_rnn": "rnn", "_cudnn_rnn_backward": "rnn_backward", "native_dropout": "dropout",
	"native_dropout_backward": "dropout_backward", "_fused_dropout": "dropout", "_masked_scale": "dropout_backward"}


def alias(name):
	if name.startswith("_scaled_dot_product") and name.endswith("_backward"):
		return "sdpa_backward"
	if name.startswith("_scaled_dot_product"):
		return "sdpa"
	return ALIASES.get(name, name)


def calls_of(path):
	"""Operator (without overload) -> number of calls in one capture."""
	names, counts = {}, collections.Counter()
	with open(path) as file:
		for line in file:
			if line.startswith("o "):
				_, number, name, *_ = line.split(" ", 3)
				names[number] = name.split(".")[1]
			elif line.startswith("k "):
				counts[names[line.split(" ", 2)[1]]] += 1
			elif line.startswith("c "):
				counts["collective"] += 1
	return counts


def place(chain, listed):
	"""The outermost operator of a chain that the capture lists; otherwise the chain itself."""
	chain, _, memory = chain.partition(" Mem")
	parts = chain.removeprefix("b ").split(">")
	for name in parts:
		if name in listed:
			return name
		if alias(name) in listed:
			return alias(name)
	if memory and "copy" in listed:
		return "copy"
	return "not in the capture: " + chain


def compare(profile, calls):
	table = collections.defaultdict(lambda: [0, 0, 0.0])
	for name, n in calls.items():
		table[name][0] += n
	for chain, (n, s) in profile["ops"].items():
		row = table[place(chain, calls)]
		row[1] += n
		row[2] += s
	return table


def show(title, table, top):
	total = [sum(row[i] for row in table.values()) for i in range(3)]
	print(f"{title}: {total[0]} calls, {total[1]} launches, copies and fills, {1e3 * total[2]:.3f} ms")
	print(f"{'calls':>8} {'launches':>8} {'a call':>7} {'ms':>10}  operator")
	for name, (calls, launches, s) in sorted(table.items(), key=lambda x: -x[1][2])[:top]:
		print(f"{calls:8} {launches:8} {launches / calls if calls else float('nan'):7.2f} {1e3 * s:10.3f}  {name}")


def main():
	parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
	parser.add_argument("measured")
	parser.add_argument("dir")
	parser.add_argument("ids", nargs="*")
	parser.add_argument("--top", type=int, default=60)
	args = parser.parse_args()
	whole, n = collections.defaultdict(lambda: [0, 0, 0.0]), 0
	with open(args.measured) as file:
		rows = [json.loads(line) for line in file]
	for row in rows:
		path = os.path.join(args.dir, f"{row.get('id')}.jprog")
		if "ops" not in row.get("profile", {}) or not os.path.exists(path) or args.ids and row["id"] not in args.ids:
			continue
		table = compare(row["profile"], calls_of(path))
		n += 1
		if args.ids:
			show(row["id"], table, args.top)
		for name, values in table.items():
			whole[name] = [a + b for a, b in zip(whole[name], values)]
	if not n:
		raise SystemExit("no program has both a profile and a capture: run measure.py --profile and capture_all.py first")
	if not args.ids:
		show(f"{n} programs", whole, args.top)


if __name__ == "__main__":
	main()
