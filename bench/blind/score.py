#!/usr/bin/env python3
"""Compares measured runs with predictions: score.py JEOUL MEASURED.csv [SYSTEM] [--host HOST.csv] [-v]

Converts each run to a config.json and options of `jeoul predict`. Prints median and p90 of
ln(predicted/measured)| of the step time and of the allocated memory, and the number of runs inside the 80 % interval. With --host (host.py),
`predict` gets the machine's own launch time.
"""
import csv
import json
import math
import subprocess
import sys
import tempfile


def config(r):
	n = lambda key: int(r[key])
	common = dict(vocab_size=n("vocab"), tie_word_embeddings=False)
	if r["kind"] == "vit":
		return dict(architectures=["ViTForImageClassification"], model_type="vit", num_hidden_layers=n("layers"), hidden_size=n("hidden"), num_attention_heads=n("heads"),
			intermediate_size=n("ffn"), image_size=n("image"), patch_size=n("patch"))
	if r["kind"] == "llama":
		return dict(common, architectures=["LlamaForCausalLM"], model_type="llama", num_hidden_layers=n("layers"), hidden_size=n("hidden"), num_attention_heads=n("heads"),
			num_key_value_heads=n("kv_heads"), intermediate_size=n("ffn"), max_position_embeddings=n("seq"))
	return dict(common, architectures=["GPT2LMHeadModel"], model_type="gpt2", n_layer=n("layers"), n_embd=n("hidden"), n_head=n("heads"), n_inner=n("ffn"), n_positions=n("seq"),
		resid_pdrop=float(r["dropout"]))


def predict(jeoul, r, system, launch=None):
	with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
		json.dump(config(r), file)
		file.flush()
		args = [jeoul, "predict", file.name, "--on", system, "--batch", r["batch"], *(["--input", "synthetic"] if r["kind"] == "vit" else ["--seq", r["seq"]]), "--precision", r["precision"].split("-")[0], "--framework", r["mode"], "--json"]
		if r["precision"].endswith("-pure"):
			args += ["--states", "bf16"]
		if r["optimizer"] == "fused":
			args += ["--optimizer", "fused"]
		if launch:
			args += ["--launch", f"{launch[r['mode']] * 1e6:.3f} us"]
		return json.loads(subprocess.run(args, capture_output=True, text=True, check=True).stdout)


def launches(jeoul, path, system):
	"""Host time per launch by mode: the value with which predictions of the tiny, launch-bound networks match their times."""
	found = {}
	with open(path) as file:
		rows = list(csv.DictReader(file))
	for mode in ("eager", "compiled"):
		low, high = 1e-6, 1e-3
		for _ in range(30):
			middle = math.sqrt(low * high)
			off = sum(math.log(predict(jeoul, r, system, {mode: middle})["step_s"]["value"] / float(r["step_s"])) for r in rows if r["mode"] == mode)
			low, high = (middle, high) if off < 0 else (low, middle)
		found[mode] = middle
	return found


def quantile(values, q):
	values = sorted(values)
	return values[min(len(values) - 1, int(q * len(values)))]


def main():
	jeoul, path = sys.argv[1:3]
	system = sys.argv[3] if len(sys.argv) > 3 and not sys.argv[3].startswith("-") else "h200-sxm"
	launch = launches(jeoul, sys.argv[sys.argv.index("--host") + 1], system) if "--host" in sys.argv else None
	if launch:
		print("host time of a launch: " + ", ".join(f"{mode} {1e6 * s:.1f} us" for mode, s in launch.items()))
	step, memory, inside, inside_memory, n = [], [], 0, 0, 0
	with open(path) as file:
		rows = [r for r in csv.DictReader(file) if r.get("step_s") and r["step_s"] != "step_s" and r["kind"] in ("gpt", "llama", "bert", "vit")]
	for r in rows:
		p = predict(jeoul, r, system, launch)
		s, measured = p["step_s"], float(r["step_s"])
		step.append(math.log(s["value"] / measured))
		inside += s["lo"] <= measured <= s["hi"]
		if r.get("allocated_B"):
			memory.append(math.log((p["memory_B"]["total"] - p["memory_B"]["context"] - p["memory_B"]["buffers"]) / float(r["allocated_B"])))
		if "-v" in sys.argv:
			print(f"{math.exp(step[-1]):5.2f}x {'in ' if s['lo'] <= measured <= s['hi'] else 'OUT'} {1e3 * measured:8.2f} ms, {1e3 * s['value']:8.2f} predicted ({1e3 * s['lo']:.4g}-{1e3 * s['hi']:.4g});"
				f" memory {math.exp(memory[-1]) if memory else math.nan:4.2f}x; {r['kind']} {r['layers']}x{r['hidden']}/{r['heads']} v{r['vocab']} s{r['seq']} b{r['batch']} {r['precision']} {r['mode']} {r['optimizer']} drop {r['dropout']}")
	for name, ln in (("step", step), ("memory", memory)):
		if ln:
			print(f"{name}: {len(ln)} runs, median |ln| {quantile([abs(x) for x in ln], 0.5):.3f}, p90 {quantile([abs(x) for x in ln], 0.9):.3f}, bias {quantile(ln, 0.5):+.3f}")
	print(f"inside the 80 % interval: {inside} of {len(step)} ({100 * inside / max(1, len(step)):.0f} %)")


if __name__ == "__main__":
	main()
