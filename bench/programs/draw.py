#!/usr/bin/env python3
"""Draws programs: draw.py SEED N [--kind transformers,torchvision,plain] [--family all|NAME,…] [--compiled] [--tiny] > list.json

SEED in hexadecimal; by the rule of blind runs it is the beginning of the commit that froze the parameters. Families take turns in a
shuffled order, so N programs show as many families as N allows; everything else is drawn at random. A program that would take long or not
fit one H200 has its batch halved, or is drawn again. --tiny takes the smallest of everything, to try the code on a CPU.
"""
import argparse
import json
import random
import sys

import rows
import zoo

SHARE = {"transformers": 0.45, "torchvision": 0.35, "plain": 0.20}


class Least(random.Random):
	"""Every choice the first of its list; chances stay chances."""

	def choice(self, options):
		return options[0]

	def randint(self, low, high):
		return low


def draw_one(pick, chance, family, compiled):
	"""pick: sizes; chance: how the loop is written."""
	for _ in range(1000):
		r = family.draw(pick)
		r.update(rows.common(chance, family, compiled))
		if family.settle:
			family.settle(r)
		if compiled and r.get("layers", 0) > 12:
			r["layers"] = 12  # compiling takes minutes otherwise
		least = 2 if family.kind == "torchvision" else 1  # batch norm needs two
		while r["batch"] > least and not rows.fits(r, family.cost(r)):
			r["batch"] //= 2
		if rows.fits(r, family.cost(r)):
			return r
	raise SystemExit(f"{family.name}: no draw of 1,000 fits the limits of rows.py")


def turns(pick, families, n):
	"""n families, each once before any twice."""
	out = []
	while len(out) < n:
		lap = list(families)
		pick.shuffle(lap)
		out += lap
	return out[:n]


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("seed")
	parser.add_argument("n", type=int)
	parser.add_argument("--kind", default=",".join(zoo.KINDS))
	parser.add_argument("--family", default="")
	parser.add_argument("--compiled", action="store_true")
	parser.add_argument("--tiny", action="store_true")
	args = parser.parse_args()
	try:
		chance = random.Random(int(args.seed, 16))
	except ValueError:
		raise SystemExit(f"{args.seed}: the seed is a hexadecimal number, e.g. e6a36d4a") from None
	pick = Least(1) if args.tiny else chance
	kinds = args.kind.split(",")
	if args.family == "all":
		args.family = ",".join(zoo.FAMILIES)
	wrong = [k for k in kinds if k not in zoo.KINDS] + [f for f in args.family.split(",") if f and f not in zoo.FAMILIES]
	if wrong:
		raise SystemExit(f"{wrong[0]}: no such kind or family; kinds: {', '.join(zoo.KINDS)}; families: {', '.join(zoo.FAMILIES)}")
	names, total = [], sum(SHARE[k] for k in kinds)
	for i, kind in enumerate(kinds):
		families = [f.name for f in zoo.FAMILIES.values() if f.kind == kind and (not args.compiled or "compiles" in f.traits)]
		names += turns(chance, families, args.n - len(names) if i == len(kinds) - 1 else round(args.n * SHARE[kind] / total))
	if args.family:
		names = turns(chance, args.family.split(","), args.n)
	chance.shuffle(names)
	out = []
	for i, name in enumerate(names):
		family = zoo.FAMILIES[name]
		r = draw_one(pick, chance, family, args.compiled)
		out.append(dict(id=f"{args.seed}-{'c' if args.compiled else ''}{i:03d}-{name}", kind=family.kind, family=name, **r, units=zoo.units(dict(r, family=name))))
	sys.stdout.write("[\n" + ",\n".join(json.dumps(r) for r in out) + "\n]\n")


if __name__ == "__main__":
	main()
