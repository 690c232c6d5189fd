#!/usr/bin/env python3
"""Draws as lines for listed.c: listed.py list.json > list.tsv; then, after `ninja -C build/release bench_listed`:

	build/release/bench_listed list.tsv DIR        # DIR/ID.jprog, no capture used
	score.py list.json measured.jsonl DIR --jeoul build/release/jeoul --on h200-sxm
"""
import json
import sys

BIASED = "gpt2 opt bert roberta electra distilbert gpt_neox phi starcoder2".split()
# properties of the family's configuration that the draw does not contain
FACTS = {"gemma2": dict(local=0.5, tied=1), "gemma3": dict(local=5 / 6, tied=1, qk_norm=1), "qwen3": dict(qk_norm=1), "qwen3_moe": dict(qk_norm=1), "gpt2": dict(tied=1), "opt": dict(tied=1),
	**{family: dict(causal=0, tied=1) for family in ("bert", "roberta", "electra", "distilbert")}}


def facts(r):
	positions = {"gpt2": max(1024, r["seq"]), "opt": max(2048, r["seq"]) + 2, "roberta": max(512, r["seq"]) + 2}.get(r["family"], max(512, r["seq"]))
	return dict(FACTS.get(r["family"], {}), bias=int(r["family"] in BIASED), positions=positions)


for r in json.load(open(sys.argv[1])):
	if r["kind"] == "transformers" and "layers" in r and "seq" in r and "target" not in r:
		print("\t".join([r["id"], *(f"{k}={v}" for k, v in {**facts(r), **r}.items() if isinstance(v, (int, float, str)))]))
