#!/usr/bin/env python3
"""Times training steps of vision networks in plain PyTorch on GPU 0: networks.py SEED N > vision_own.csv

Networks as they were published, one process, one after the other; batch, format and layout drawn from the seed. Columns are those of
data/validation/vision_train.csv. "fp32" has TF32 switched off; amp is autocast with fp32 weights.
"""
import contextlib
import csv
import gc
import random
import statistics
import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

from models import Transformer

COLUMNS = ["source_url", "source_note", "confidence", "group", "gpu", "n_gpus", "framework", "torch", "cuda", "precision", "layout", "compile", "task", "model", "family",
	"img_size", "batch", "params_m", "gmacs", "macts", "gmacs_source", "step_ms", "samples_per_s", "primary_metric", "primary_value", "remark", "split_group"]


def conv(c_in, c_out, k, stride=1, groups=1, act=True):
	return nn.Sequential(nn.Conv2d(c_in, c_out, k, stride, k // 2, groups=groups, bias=False), nn.BatchNorm2d(c_out), *([nn.ReLU(True)] if act else []))


class Residual(nn.Module):
	def __init__(self, c_in, c_out, stride, body, act=True):
		super().__init__()
		self.body, self.act = body, act
		self.skip = None if stride == 1 and c_in == c_out else conv(c_in, c_out, 1, stride, act=False)

	def forward(self, x):
		y = self.body(x) + (x if self.skip is None else self.skip(x))
		return F.relu(y, True) if self.act else y


class Pooled(nn.Module):
	def __init__(self, body, c):
		super().__init__()
		self.body, self.head = body, nn.Linear(c, 1000)

	def forward(self, x):
		return self.head(self.body(x).mean((2, 3)))


def resnet(depths, wide):
	layers, c_in = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
	for i, n in enumerate(depths):
		c = 64 << i
		for j in range(n):
			stride, out = 2 if i and j == 0 else 1, 4 * c if wide else c
			body = (nn.Sequential(conv(c_in, c, 1), conv(c, c, 3, stride), conv(c, out, 1, act=False)) if wide
				else nn.Sequential(conv(c_in, c, 3, stride), conv(c, out, 3, act=False)))
			layers.append(Residual(c_in, out, stride, body))
			c_in = out
	return Pooled(nn.Sequential(*layers), c_in)


def vgg16():
	layers, c_in = [], 3
	for c, n in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
		for _ in range(n):
			layers += [nn.Conv2d(c_in, c, 3, padding=1), nn.ReLU(True)]
			c_in = c
		layers.append(nn.MaxPool2d(2))
	return nn.Sequential(*layers, nn.Flatten(), nn.Linear(25088, 4096), nn.ReLU(True), nn.Linear(4096, 4096), nn.ReLU(True), nn.Linear(4096, 1000))


class Inverted(nn.Module):
	def __init__(self, c_in, c_out, stride, grow):
		super().__init__()
		c = c_in * grow
		self.body = nn.Sequential(*([conv(c_in, c, 1)] if grow > 1 else []), conv(c, c, 3, stride, c), conv(c, c_out, 1, act=False))
		self.same = stride == 1 and c_in == c_out

	def forward(self, x):
		return x + self.body(x) if self.same else self.body(x)


def mobilenetv2():
	layers, c_in = [conv(3, 32, 3, 2)], 32
	for grow, c, n, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
		for j in range(n):
			layers.append(Inverted(c_in, c, stride if j == 0 else 1, grow))
			c_in = c
	return Pooled(nn.Sequential(*layers, conv(320, 1280, 1)), 1280)


class Dense(nn.Module):
	def __init__(self, c_in):
		super().__init__()
		self.body = nn.Sequential(nn.BatchNorm2d(c_in), nn.ReLU(True), nn.Conv2d(c_in, 128, 1, bias=False), nn.BatchNorm2d(128), nn.ReLU(True), nn.Conv2d(128, 32, 3, padding=1, bias=False))

	def forward(self, x):
		return torch.cat((x, self.body(x)), 1)


def densenet121():
	layers, c = [conv(3, 64, 7, 2), nn.MaxPool2d(3, 2, 1)], 64
	for i, n in enumerate((6, 12, 24, 16)):
		for _ in range(n):
			layers.append(Dense(c))
			c += 32
		if i < 3:
			layers += [nn.BatchNorm2d(c), nn.ReLU(True), nn.Conv2d(c, c // 2, 1, bias=False), nn.AvgPool2d(2)]
			c //= 2
	return Pooled(nn.Sequential(*layers, nn.BatchNorm2d(c), nn.ReLU(True)), c)


def vit(hidden, heads, layers, patch):
	return Transformer(dict(kind="vit", layers=layers, hidden=hidden, heads=heads, kv_heads=heads, ffn=4 * hidden, vocab=1000, seq=(224 // patch) ** 2 + 1, image=224, patch=patch, dropout=0, attention="sdpa"))


# name: family, vendor, millions of parameters, 1e9 multiply-adds and 1e6 outputs of products at 224, largest number of images per step
NETS = {
	"resnet18": ("resnet", lambda: resnet((2, 2, 2, 2), False), 11.69, 1.82, 2.48, 1024), "resnet34": ("resnet", lambda: resnet((3, 4, 6, 3), False), 21.80, 3.67, 3.74, 512),
	"resnet50": ("resnet", lambda: resnet((3, 4, 6, 3), True), 25.56, 4.11, 11.11, 512), "resnet101": ("resnet", lambda: resnet((3, 4, 23, 3), True), 44.55, 7.83, 16.23, 256),
	"resnet152": ("resnet", lambda: resnet((3, 8, 36, 3), True), 60.19, 11.56, 22.56, 256), "vgg16": ("vgg", vgg16, 138.36, 15.47, 13.56, 256),
	"mobilenetv2_100": ("mobilenetv", mobilenetv2, 3.50, 0.31, 6.68, 512), "densenet121": ("densenet", densenet121, 7.98, 2.87, 6.90, 256),
	"vit_tiny_patch16_224": ("vit", lambda: vit(192, 3, 12, 16), 5.72, 1.26, 5.97, 512), "vit_small_patch16_224": ("vit", lambda: vit(384, 6, 12, 16), 22.05, 4.61, 11.95, 512),
	"vit_base_patch32_224": ("vit", lambda: vit(768, 12, 12, 32), 88.22, 4.41, 5.01, 512), "vit_base_patch16_224": ("vit", lambda: vit(768, 12, 12, 16), 86.57, 17.58, 23.90, 256),
	"vit_large_patch16_224": ("vit", lambda: vit(1024, 16, 24, 16), 304.33, 61.60, 63.52, 128),
}


def measure(make, is_vit, batch, precision, layout):
	torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision != "fp32 (TF32 off)"
	with torch.device("cuda"):
		model = make()
	data, target = torch.randn(batch, 3, 224, 224, device="cuda"), torch.randint(0, 1000, (batch,), device="cuda")
	if layout == "nhwc":
		model, data = model.to(memory_format=torch.channels_last), data.to(memory_format=torch.channels_last)
	opt = torch.optim.AdamW(model.parameters(), lr=1e-4) if is_vit else torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
	half = {"amp bf16": torch.bfloat16, "amp fp16": torch.float16}.get(precision)
	scaler = torch.amp.GradScaler("cuda", enabled=precision == "amp fp16")

	def step():
		with torch.autocast("cuda", dtype=half) if half else contextlib.nullcontext():
			loss = model(data, target) if is_vit else F.cross_entropy(model(data), target)
		scaler.scale(loss).backward()
		scaler.step(opt)
		scaler.update()
		opt.zero_grad(set_to_none=True)

	def group(n):
		torch.cuda.synchronize()
		from_s = time.perf_counter()
		for _ in range(n):
			step()
		torch.cuda.synchronize()
		return (time.perf_counter() - from_s) / n

	group(3)
	n = max(2, min(30, int(0.25 / group(2))))
	return statistics.median(group(n) for _ in range(5))


def main():
	pick, n = random.Random(int(sys.argv[1], 16)), int(sys.argv[2])
	out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
	out.writeheader()
	for _ in range(n):
		name = pick.choice(list(NETS))
		family, make, params_m, gmacs, macts, most = NETS[name]
		batch, precision, layout = 2 ** pick.randint(3, most.bit_length() - 1), pick.choice(["amp bf16", "amp bf16", "amp fp16", "tf32", "fp32 (TF32 off)"]), pick.choice(["nchw", "nhwc"])
		optimizer = "AdamW" if family == "vit" else "SGD"
		try:
			step_s = measure(make, family == "vit", batch, precision, layout)
		except Exception as error:
			print(name, batch, precision, str(error)[:100], file=sys.stderr)
			continue
		finally:
			gc.collect()
			torch.cuda.empty_cache()
		out.writerow(dict(source_url="bench/trace_pytorch/networks.py", source_note="own run", confidence="measured", group="own|" + family, gpu="H200 SXM 141GB", n_gpus=1, framework="PyTorch",
			torch=torch.__version__.split("+")[0], cuda=torch.version.cuda, precision=precision, layout=layout, compile="eager", task=f"train (fwd+bwd+{optimizer} step)", model=name,
			family=family, img_size=224, batch=batch, params_m=params_m, gmacs=gmacs, macts=macts, gmacs_source="as published", step_ms=f"{1e3 * step_s:.5g}",
			samples_per_s=f"{batch / step_s:.6g}", primary_metric="samples_per_s", primary_value=f"{batch / step_s:.6g}", remark="", split_group="jeoul own networks|H200 SXM 141GB"))
		sys.stdout.flush()


main()
