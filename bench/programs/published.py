#!/usr/bin/env python3
"""Published steps of single GPUs whose code PyTorch's own libraries hold, as captured lists: published.py capture DIR [JOBS] | published.py score DIR JEOUL

Rows of data/validation: BERT for SQuAD and ResNet-50 of Lambda's table (its fp16 as apex O2 runs it), and networks that timm timed and torchvision has. capture: one list for each
network, mode, format, layout and batch, without a GPU (transformers, torchvision and PyTorch 2.4 or newer). score: predictions beside what was published; captures of PyTorch 2.11 are in
measured/published. timm's vision transformers, ConvNeXt and Swin are other code than torchvision's: they are scored by themselves.
"""
import collections
import concurrent.futures
import csv
import json
import math
import os
import statistics
import subprocess
import sys

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "validation")
TIMM = {"tv_resnet50": "resnet50", "tv_resnet101": "resnet101", "mobilenetv2_100": "mobilenet_v2", "mnasnet_100": "mnasnet1_0", "vit_base_patch16_224": "vit_b_16", "vit_base_patch32_224": "vit_b_32",
	"vit_large_patch16_224": "vit_l_16", "swin_tiny_patch4_window7_224": "swin_t", "swin_base_patch4_window7_224": "swin_b", "regnetx_032": "regnet_x_3_2gf", "regnety_016": "regnet_y_1_6gf",
	"regnety_080": "regnet_y_8gf", **{name: name for name in "resnet18 resnet34 resnet50 resnext50_32x4d wide_resnet50_2 densenet121 vgg11 vgg16 vgg19_bn convnext_tiny convnext_base".split()}}
OTHER_CODE = ("vit", "convnext", "swin")
FORMATS = {"amp fp16": "amp", "amp_bf16": "ampbf16", "bf16": "bf16"}


def table(name):
	with open(os.path.join(DATA, name + ".csv"), newline="") as file:
		return list(csv.DictReader(file))


def row(net, mode, form, batch, last, gpu, rate, source):
	return dict(net=net, mode=mode, form=form, batch=int(float(batch)), last=last, gpu=gpu, step_s=float(batch) / float(rate), source=source)


def rows():
	found = []
	for r in table("train_llm"):
		if r["codebase"] == "deeplearningexamples" and r["n_gpus"] == "1" and r["task"].startswith("BERT SQuAD") and r["gpu"] and float(r["micro_batch"] or 0):
			found.append(row(r["model"].lower(), "train", "fp16" if "fp16" in r["precision"] else "tf32", r["micro_batch"], 0, r["gpu"], r["samples_per_s"], "lambda"))
	for r in table("train_other"):
		if r["model"] == "resnet50" and r["n_gpus"] == "1" and r["gpu"] and float(r["micro_batch"] or 0):
			amp = "fp16" in r["precision"]
			found.append(row("resnet50", "train", "amp" if amp else "tf32", r["micro_batch"], int(amp), r["gpu"], r["throughput"], "lambda"))
	for mode, name in (("train", "vision_train"), ("forward", "vision_infer")):
		seen = set()
		for r in table(name):
			net, form, last = TIMM.get(r["model"].split(".")[0]), FORMATS.get(r["precision"]), int(r["channels_last"] == "y")
			key = (r["model"].split(".")[0], r["gpu"], last, form)
			if net and form and r["img_size"] == "224" and (r["compile"] or "eager") == "eager" and r.get("compiled") != "y" and key not in seen:
				seen.add(key)
				found.append(row(net, mode, form, r["batch"], last, r["gpu"], r["samples_per_s"], "timm"))
	return found


def name_of(r):
	return "-".join(str(r[k]) for k in ("net", "mode", "form", "batch", "last"))


def bert(net, half, batch):
	"""One step, if `half` with apex O2: 16-bit weights, fp32 masters and optimizer states."""
	import torch
	from transformers import BertConfig, BertForQuestionAnswering

	large = dict(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096) if "large" in net else {}
	config = BertConfig(**large)
	config._attn_implementation = "eager"
	model = BertForQuestionAnswering(config).to("cuda").train()
	model = model.half() if half else model
	weights = list(model.parameters())
	masters = [w.detach().float().requires_grad_() for w in weights] if half else weights
	optimizer = torch.optim.AdamW(masters, lr=1e-5, fused=True)
	ids, ones = torch.zeros(batch, 384, dtype=torch.long, device="cuda"), torch.ones(batch, 384, dtype=torch.long, device="cuda")
	at = torch.zeros(batch, dtype=torch.long, device="cuda")

	def step():
		loss = model(input_ids=ids, attention_mask=ones, token_type_ids=ids, start_positions=at, end_positions=at).loss
		(loss.float() * 128).backward()
		if half:
			for m in masters:
				m.grad = torch.empty_like(m) if m.grad is None else m.grad
			torch._foreach_copy_([m.grad for m in masters], [w.grad for w in weights])
		torch.nn.utils.clip_grad_norm_(masters, 1.0)
		optimizer.step()
		if half:
			torch._foreach_copy_([w.data for w in weights], [m.data for m in masters])
		for w in weights:
			w.grad = None

	return step


def picture(net, mode, form, batch, last):
	import torch
	import torchvision

	form_of = {"amp": torch.float16, "ampbf16": torch.bfloat16}.get(form)
	layout = dict(memory_format=torch.channels_last) if last else {}
	model = getattr(torchvision.models, net)(weights=None).to("cuda")
	model = (model.to(torch.bfloat16) if form == "bf16" else model).to(**layout)
	x = torch.zeros(batch, 3, 224, 224, device="cuda", dtype=torch.bfloat16 if form == "bf16" else torch.float32).to(**layout)
	cast = lambda: torch.autocast("cuda", dtype=form_of or torch.float16, enabled=form_of is not None)
	if mode == "forward":
		model.eval()

		def step():
			with torch.no_grad(), cast():
				model(x)

		return step
	optimizer, y = torch.optim.SGD(model.train().parameters(), lr=0.1, momentum=0.9), torch.zeros(batch, dtype=torch.long, device="cuda")
	scaler = torch.amp.GradScaler("cuda", enabled=form == "amp")

	def step():
		with cast():
			loss = torch.nn.functional.cross_entropy(model(x), y)
		scaler.scale(loss).backward()
		scaler.step(optimizer)
		scaler.update()
		optimizer.zero_grad(set_to_none=True)

	return step


def child(folder, name):
	import torch

	import capture_all
	import jeoul

	net, mode, form, batch, last = name.rsplit("-", 4)
	recording = jeoul.capture(title=net)
	with recording as program:
		torch.backends.cuda.matmul.allow_tf32 = True
		step = bert(net, form == "fp16", int(batch)) if net.startswith("bert") else picture(net, mode, form, int(batch), last == "1")
		for i in range(capture_all.STEPS):
			if i == capture_all.STEPS - 1 and mode == "forward":
				capture_all.begin(recording, program)
			step()
	program.save(os.path.join(folder, name + ".jprog"))


def capture(folder, jobs):
	os.makedirs(folder, exist_ok=True)
	names = [n for n in sorted({name_of(r) for r in rows()}) if not os.path.exists(os.path.join(folder, n + ".jprog"))]

	def one(name):
		env = dict(os.environ, OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="")
		done = subprocess.run([sys.executable, __file__, "child", folder, name], capture_output=True, text=True, env=env, timeout=300)
		return name, done.returncode, done.stderr.strip().splitlines()[-1:] if done.returncode else []

	with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
		for name, code, why in pool.map(one, names):
			if code:
				print(name, "failed:", *why)


def show(title, found):
	if found:
		off = sorted(abs(x) for _, x, _ in found)
		print(f"{title:32} {len(found):4} {statistics.median(off):.3f} / {off[int(0.9 * len(off))]:.3f} bias {statistics.median(x for _, x, _ in found):+.2f} inside {100 * statistics.mean(i for *_, i in found):3.0f} %")


def score(folder, jeoul):
	def one(r):
		path = os.path.join(folder, name_of(r) + ".jprog")
		if not os.path.exists(path):
			return None
		done = subprocess.run([jeoul, "predict", path, "--on", r["gpu"], "--json"], capture_output=True, text=True)
		if done.returncode:
			sys.exit(f"{path}: {done.stderr.strip()}")
		step = json.loads(done.stdout)["step_s"]
		return r, math.log(step["value"] / r["step_s"]), step["lo"] <= r["step_s"] <= step["hi"]

	with concurrent.futures.ThreadPoolExecutor(2) as pool:
		found = [x for x in pool.map(one, rows()) if x]
	show("all", found)
	same = [x for x in found if x[0]["source"] != "timm" or not any(k in x[0]["net"] for k in OTHER_CODE)]
	show("same code", same)
	for key in ("source", "gpu", "net", "form", "mode", "last"):
		groups = collections.defaultdict(list)
		for x in same:
			groups[x[0][key]].append(x)
		for value in sorted(groups, key=str):
			show(f"  {key} {value}", groups[value])


if __name__ == "__main__":
	verb = sys.argv[1] if len(sys.argv) > 1 else ""
	if verb == "capture" and len(sys.argv) in (3, 4):
		capture(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else max(1, (os.cpu_count() or 2) - 1))
	elif verb == "score" and len(sys.argv) == 4:
		score(sys.argv[2], sys.argv[3])
	elif verb == "child":
		child(sys.argv[2], sys.argv[3])
	else:
		sys.exit(__doc__)
