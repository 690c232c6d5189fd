"""The table of families: name -> row. build(r) makes what a draw names: an object whose step() is one pass of its loop.

Model code comes from the libraries' own classes; only loops and the networks of nets.py are ours. A blind run, the parameters committed first:

	draw.py SEED 100 > list.json                               # SEED: the beginning of that commit
	measure.py list.json measured.jsonl --profile 35           # on the GPU; about eight minutes
	capture_all.py list.json captures                          # anywhere, no GPU
	score.py list.json measured.jsonl captures --jeoul build/release/jeoul --on h200-sxm --csv score.csv
	compare.py measured.jsonl captures                         # which operators launch what
"""
import hub_other
import plain
import vision

FAMILIES = {f.name: f for f in [*hub_other.FAMILIES, *vision.FAMILIES, *plain.FAMILIES]}
KINDS = ["transformers", "torchvision", "plain"]


def build(r):
	"""A new program; equal draws give equal programs."""
	import torch

	torch.manual_seed(0)
	return FAMILIES[r["family"]].build(r)


def units(r):
	return {name: n * r.get("accumulate", 1) for name, n in FAMILIES[r["family"]].units(r).items()}
