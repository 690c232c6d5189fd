"""Rows of the table of families, and the choices common to all families. Plain Python, so that drawing needs no PyTorch."""
from dataclasses import dataclass, field
from typing import Callable

PRECISIONS = {"text": ["amp-bf16", "amp-bf16", "bf16", "bf16", "bf16", "amp-fp16", "tf32", "fp32"], "vision": ["amp-bf16", "amp-bf16", "amp-fp16", "amp-fp16", "tf32", "fp32", "fp32"],
	"single": ["amp-bf16", "tf32", "fp32", "fp32"]}
OPTIMIZERS = {"text": ["adamw", "adamw", "adamw", "adamw-fused", "adam"], "vision": ["sgd", "sgd", "adamw", "adam", "rmsprop"], "single": ["adamw", "adam", "adam", "sgd"]}
# sustained FLOP/s and bytes/s of an H200 in eager code, low on purpose: they only bound the running time
RATE = {"amp-bf16": 3e14, "amp-fp16": 3e14, "bf16": 3.5e14, "tf32": 1.6e14, "fp32": 4e13}
STREAM_BPS = 2.5e12
LIMIT_S, LIMIT_B = 0.30, 100e9


@dataclass
class Cost:
	"""Of a forward pass of one micro-batch; act_B: activations kept for backward, in the row's precision."""
	params: float
	flop: float
	act_B: float
	other_B: float = 0.0
	launches: float = 0.0


@dataclass
class Family:
	name: str
	kind: str  # transformers, torchvision, plain
	draw: Callable  # (pick) -> dict of the family's parameters, including the batch
	cost: Callable  # (r) -> Cost
	units: Callable  # (r) -> {"samples": 8, …} per micro-batch; the first is the batch
	build: Callable  # (r) -> an object with step()
	habits: str = "text"
	traits: set = field(default_factory=set)  # compiles, checkpoints, no-bf16, no-fp16, train-only
	settle: Callable = None  # (r) replaces choices that the family does not support


def power(pick, low, high):
	"""A power of two from low to high."""
	return 2 ** pick.randint(low.bit_length() - 1, high.bit_length() - 1)


def common(pick, family, compiled):
	"""How the loop around the model is written."""
	t = family.traits
	mode = "train" if "train-only" in t else pick.choice(["train", "train", "train", "forward"])
	precision = pick.choice([p for p in PRECISIONS[family.habits] if not (p == "bf16" and "no-bf16" in t) and not (p == "amp-fp16" and "no-fp16" in t)])
	if mode == "forward":
		r = dict(mode=mode, precision="bf16" if precision == "amp-fp16" and family.habits == "text" and "no-bf16" not in t else precision, no_grad=pick.choice(["no_grad", "no_grad", "inference"]))
	else:
		r = dict(mode=mode, precision=precision, optimizer=pick.choice(OPTIMIZERS[family.habits]))
		if pick.random() < (0.4 if family.habits == "text" else 0.1):
			r["clip"] = 1.0
		if "checkpoints" in t and pick.random() < 0.15:
			r["checkpoint"] = 1
		if pick.random() < 0.08:
			r["accumulate"] = pick.choice([2, 4])
		if pick.random() < 0.15:
			r["read_loss"] = 1
	if pick.random() < 0.2:
		r["input"] = pick.choice(["pinned", "pageable"])
	if compiled:
		r["compile"] = 1
		r.pop("checkpoint", None)
	return r


def memory_B(r, cost):
	if r["mode"] == "forward":
		return cost.params * (2 if r["precision"] == "bf16" else 6) + 0.15 * cost.act_B + cost.other_B
	wide = 2 if r["precision"] == "bf16" else 4
	states = {"sgd": 1, "sgd-plain": 0, "rmsprop": 1}.get(r["optimizer"], 2)
	kept = cost.act_B * (0.2 if r.get("checkpoint") else 1)
	# foreach updates need a temporary copy of the weights
	return cost.params * (wide * (3 + states) + (2 if r["precision"].startswith("amp") else 0)) + kept + cost.other_B


def step_s(r, cost):
	"""An upper bound of the step time, so that measurements end in time; not a prediction."""
	passes = 1 if r["mode"] == "forward" else 4 if r.get("checkpoint") else 3
	once = passes * (cost.flop / RATE[r["precision"]] + 2.5 * cost.act_B / STREAM_BPS) + passes * cost.launches * 8e-6
	return once * r.get("accumulate", 1) + (0 if r["mode"] == "forward" else 40 * cost.params / STREAM_BPS)


def fits(r, cost, limit_s=LIMIT_S, limit_B=LIMIT_B):
	return memory_B(r, cost) <= limit_B and step_s(r, cost) <= limit_s
