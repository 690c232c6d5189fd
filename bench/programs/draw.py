#!/usr/bin/env python3
"""Draws programs: draw.py SEED N [--kind transformers,torchvision,plain] [--family all|NAME,…] [--compiled] [--tiny] > list.json

SEED is hexadecimal; in blind runs it is the start of the id of the commit that froze the parameters. Families alternate in shuffled order, so that N
programs cover as many families as possible; all other properties are random. A program that would run too long or exceed an H200 gets half the batch,
or is drawn again. --tiny selects the smallest sizes, to test the code on a CPU.
"""
import argparse
import json
import random
import sys

import rows
import zoo

SHARE = {"transformers": 0.45, "torchvision": 0.35, "plain": 0.20}


class Least(random.Random):
	"""Selects the first item of each list; random events stay random."""

	def choice(self, options):
		return options[0]

	def randint(self, low, high):
		return low


def draw_one(pick, chance, family, compiled):
	"""pick: selects sizes; chance: selects how the loop is written."""
	for _ in range(1000):
		r = family.draw(pick)
		r.update(rows.common(chance, family, compiled))
		if family.settle:
			family.settle(r)
		if compiled and r.get("layers", 0) > 12:
			r["layers"] = 12  # compilation takes minutes otherwise
		least = 2 if family.kind == "torchvision" else 1  # batch norm needs two samples
		while r["batch"] > least and not rows.fits(r, family.cost(r)):
			r["batch"] //= 2
		if rows.fits(r, family.cost(r)):
			return r
	raise SystemExit(f"{family.name}: no draw of 1,000 fits the limits of rows.py")


def turns(pick, families, n):
	"""n families; each occurs once before any is repeated."""
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
