#!/usr/bin/env python3
"""Single operators, forward and backward, as programs: operators.py SEED measure OUT | operators.py SEED capture DIR [I/N] | operators.py SEED list

A whole step has hundreds of operators, which hides wrong costs of single ones. `measure` writes a JSON line per operator on GPU 0: launches, kernel
seconds (median of five), host seconds per call. `capture` writes DIR/ID.jprog without a GPU. Shapes are typical of networks; score.py scores them
with --operators.
"""
import collections
import json
import os
import random
import statistics
import sys
import time

import torch
import torch.nn.functional as F

DEVICE = os.environ.get("JEOUL_ZOO_DEVICE", "cuda")
FORMATS = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def rand(r, *shape, grad=False):
	x = torch.randn(*shape, device=DEVICE, dtype=FORMATS[r["format"]])
	if r.get("layout") == "channels_last" and len(shape) == 4:
		x = x.to(memory_format=torch.channels_last)
	return x.requires_grad_(grad and r["pass"] == "train")


def conv(r):
	n = len(r["size"])
	op = [F.conv1d, F.conv2d, F.conv3d][n - 1]
	x = rand(r, r["batch"], r["cin"], *r["size"], grad=True)
	w = rand(r, r["cout"], r["cin"] // r["groups"], *r["kernel"], grad=True)
	return lambda: op(x, w, stride=r["stride"], padding=[0 if k == 16 else k // 2 for k in r["kernel"]], groups=r["groups"])


def conv_transpose(r):
	x, w = rand(r, r["batch"], r["cin"], *r["size"], grad=True), rand(r, r["cin"], r["cout"], 2, 2, grad=True)
	return lambda: F.conv_transpose2d(x, w, stride=2)


def batch_norm(r):
	x = rand(r, r["batch"], r["cin"], *r["size"], grad=True)
	w, b = (torch.ones(r["cin"], device=DEVICE, requires_grad=r["pass"] == "train") for _ in range(2))
	mean, var = torch.zeros(r["cin"], device=DEVICE), torch.ones(r["cin"], device=DEVICE)
	return lambda: F.batch_norm(x, mean, var, w, b, training=r["pass"] == "train")


def group_norm(r):
	x = rand(r, r["batch"], r["cin"], *r["size"], grad=True)
	w, b = rand(r, r["cin"], grad=True), rand(r, r["cin"], grad=True)
	return lambda: F.group_norm(x, 32, w, b)


def layer_norm(r):
	x, w, b = rand(r, r["rows"], r["width"], grad=True), rand(r, r["width"], grad=True), rand(r, r["width"], grad=True)
	return lambda: F.layer_norm(x, (r["width"],), w, b)


def rms_norm(r):
	x, w = rand(r, r["rows"], r["width"], grad=True), rand(r, r["width"], grad=True)

	def step():
		y = x.float()
		return w * (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype)
	return step


def rows_op(op):
	def make(r):
		x = rand(r, r["rows"], r["width"], grad=True)
		return lambda: op(x)
	return make


def image_op(op):
	def make(r):
		x = rand(r, r["batch"], r["cin"], *r["size"], grad=True)
		return lambda: op(x)
	return make


def two(op):
	def make(r):
		x, y = rand(r, r["rows"], r["width"], grad=True), rand(r, r["rows"], r["width"], grad=True)
		return lambda: op(x, y)
	return make


def column(op):
	def make(r):
		x, y = rand(r, r["rows"], r["width"], grad=True), rand(r, r["width"], grad=True)
		return lambda: op(x, y)
	return make


def cross_entropy(r):
	x, t = rand(r, r["rows"], r["width"], grad=True), torch.randint(0, r["width"], (r["rows"],), device=DEVICE)
	return lambda: F.cross_entropy(x.float(), t)


def embedding(r):
	w, t = rand(r, r["vocab"], r["width"], grad=True), torch.randint(0, r["vocab"], (r["rows"],), device=DEVICE)
	return lambda: F.embedding(t, w)


def embedding_bag(r):
	w, t = rand(r, r["vocab"], r["width"], grad=True), torch.randint(0, r["vocab"], (r["rows"], 8), device=DEVICE)
	return lambda: F.embedding_bag(t, w, mode="sum")


def indexed(op):
	def make(r):
		x = rand(r, r["rows"], r["width"], grad=True)
		i = torch.randint(0, r["nodes"], (r["rows"],), device=DEVICE)
		y = torch.zeros(r["nodes"], r["width"], device=DEVICE, dtype=x.dtype)
		return lambda: op(x, i, y)
	return make


def gather_rows(r):
	x = rand(r, r["nodes"], r["width"], grad=True)
	i = torch.randint(0, r["nodes"], (r["rows"],), device=DEVICE)
	return lambda: x[i] if r["how"] == "index" else x.index_select(0, i)


def nonzero(r):
	x = torch.randint(0, 2, (r["rows"], r["width"]), device=DEVICE).bool()
	return lambda: x.nonzero()


def linear(r):
	x, w, b = rand(r, r["m"], r["k"], grad=True), rand(r, r["n"], r["k"], grad=True), rand(r, r["n"], grad=True)
	return lambda: F.linear(x, w, b if r["bias"] else None)


def bmm(r):
	x, y = rand(r, r["b"], r["m"], r["k"], grad=True), rand(r, r["b"], r["k"], r["n"], grad=True)
	return lambda: x @ y


def sdpa(r):
	q = rand(r, r["b"], r["heads"], r["s"], r["d"], grad=True)
	k, v = (rand(r, r["b"], r["heads"], r["t"], r["d"], grad=True) for _ in range(2))
	mask = torch.ones(r["b"], 1, r["s"], r["t"], dtype=torch.bool, device=DEVICE) if r["mask"] else None
	return lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=r["causal"])


def rnn(r):
	kind = dict(lstm=torch.nn.LSTM, gru=torch.nn.GRU, rnn=torch.nn.RNN)[r["kind"]]
	net = kind(r["width"], r["hidden"], num_layers=r["layers"], batch_first=True, bidirectional=r["both"]).to(DEVICE, FORMATS[r["format"]])
	x = rand(r, r["b"], r["s"], r["width"], grad=True)
	net.train(r["pass"] == "train")
	return lambda: net(x)[0]


def optimizer(r):
	sizes = [r["width"] * r["width"]] * r["tensors"] + [r["width"]] * r["tensors"]
	ps = [torch.nn.Parameter(torch.zeros(n, device=DEVICE)) for n in sizes]
	for p in ps:
		p.grad = torch.zeros_like(p)
	o = dict(adamw=lambda: torch.optim.AdamW(ps), fused=lambda: torch.optim.AdamW(ps, fused=True), adam=lambda: torch.optim.Adam(ps), sgd=lambda: torch.optim.SGD(ps, lr=0.1, momentum=0.9),
		rmsprop=lambda: torch.optim.RMSprop(ps), adagrad=lambda: torch.optim.Adagrad(ps))[r["kind"]]()
	if r["clip"]:
		return lambda: (torch.nn.utils.clip_grad_norm_(ps, 1.0), o.step())[1]
	return o.step


def permuted(r):
	x = rand(r, r["b"], r["s"], r["heads"], r["d"], grad=True)
	return lambda: x.permute(*r["order"]).contiguous()


def cat(r):
	xs = [rand(r, r["rows"], r["width"], grad=True) for _ in range(r["parts"])]
	return lambda: torch.cat(xs, dim=r["dim"])


def pooled(op):
	return image_op(op)


def roi_align(r):
	import torchvision

	x = rand(r, 2, 256, 100, 100, grad=True)
	boxes = torch.rand(r["rows"], 5, device=DEVICE) * 50 + torch.tensor([0, 0, 0, 40, 40], device=DEVICE)
	boxes[:, 0] = 0
	return lambda: torchvision.ops.roi_align(x, boxes.to(x.dtype), 7, 0.25, 2)


def nms(r):
	import torchvision

	boxes = torch.rand(r["rows"], 4, device=DEVICE) * 100
	boxes[:, 2:] += boxes[:, :2]
	score = torch.rand(r["rows"], device=DEVICE)
	return lambda: torchvision.ops.nms(boxes, score, 0.5)


MAKE = dict(conv=conv, conv_transpose=conv_transpose, batch_norm=batch_norm, group_norm=group_norm, layer_norm=layer_norm, rms_norm=rms_norm, cross_entropy=cross_entropy, embedding=embedding,
	embedding_bag=embedding_bag, gather_rows=gather_rows, nonzero=nonzero, linear=linear, bmm=bmm, sdpa=sdpa, rnn=rnn, optimizer=optimizer, permuted=permuted, cat=cat, roi_align=roi_align, nms=nms,
	index_add=indexed(lambda x, i, y: y.index_add(0, i, x)), scatter_add=indexed(lambda x, i, y: y.scatter_add(0, i[:, None].expand_as(x), x)),
	scatter_amax=indexed(lambda x, i, y: y.scatter_reduce(0, i[:, None].expand_as(x), x, "amax")), index_put=indexed(lambda x, i, y: y.index_put((i,), x, accumulate=True)),
	softmax=rows_op(lambda x: F.softmax(x, -1)), log_softmax=rows_op(lambda x: F.log_softmax(x, -1)), gelu=rows_op(F.gelu), silu=rows_op(F.silu), relu=rows_op(F.relu), tanh=rows_op(torch.tanh),
	exp=rows_op(torch.exp), to_float=rows_op(lambda x: x.float()), to_half=rows_op(lambda x: x.to(torch.bfloat16)), dropout=rows_op(lambda x: F.dropout(x, 0.1)), sum_rows=rows_op(lambda x: x.sum(-1)),
	sum_columns=rows_op(lambda x: x.sum(0)), mean_all=rows_op(lambda x: x.mean()), amax=rows_op(lambda x: x.amax(-1)), cumsum=rows_op(lambda x: x.cumsum(-1)), topk=rows_op(lambda x: x.topk(8, -1)[0]),
	sort=rows_op(lambda x: x.sort(-1)[0]), argmax=rows_op(lambda x: x.detach().argmax(-1)), transpose=rows_op(lambda x: x.t().contiguous()), var=rows_op(lambda x: x.var(-1)), norm=rows_op(lambda x: x.norm()),
	add=two(torch.add), mul=two(torch.mul), where=two(lambda x, y: torch.where(x > 0, x, y)), minimum=two(torch.minimum), add_row=column(torch.add), mul_row=column(torch.mul), chunk_mul=rows_op(lambda x: x.chunk(2, -1)[0] * x.chunk(2, -1)[1]),
	half_slice=rows_op(lambda x: torch.cat((-x[:, x.shape[1] // 2:], x[:, : x.shape[1] // 2]), -1)), masked_fill=rows_op(lambda x: x.masked_fill(x > 1, 0.0)),
	max_pool=image_op(lambda x: F.max_pool2d(x, 3, 2, 1)), avg_pool=image_op(lambda x: F.avg_pool2d(x, 2)), adaptive_pool=image_op(lambda x: F.adaptive_avg_pool2d(x, 1)),
	bilinear=image_op(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)), nearest=image_op(lambda x: F.interpolate(x, scale_factor=2, mode="nearest")),
	pad=image_op(lambda x: F.pad(x, (1, 1, 1, 1))), roll=image_op(lambda x: torch.roll(x, (3, 3), (2, 3))), pixel_shuffle=image_op(lambda x: F.pixel_shuffle(x, 2)), instance_norm=image_op(lambda x: F.instance_norm(x)))
ROWS = ["softmax", "log_softmax", "gelu", "silu", "relu", "tanh", "exp", "to_float", "to_half", "dropout", "sum_rows", "sum_columns", "mean_all", "amax", "cumsum", "topk", "sort", "argmax", "transpose", "var", "norm",
	"add", "mul", "where", "minimum", "add_row", "mul_row", "chunk_mul", "half_slice", "masked_fill", "layer_norm", "rms_norm", "cross_entropy"]
IMAGES = ["max_pool", "avg_pool", "adaptive_pool", "bilinear", "nearest", "pad", "roll", "pixel_shuffle", "instance_norm", "batch_norm", "group_norm"]


def draw_conv(p):
	kind = p.choice(["plain", "plain", "plain", "one", "one", "first", "depthwise", "group", "three", "one_d", "patch"])
	side = p.choice([7, 8, 14, 16, 28, 32, 56, 64, 112])
	c = p.choice([32, 64, 96, 128, 192, 256, 384, 512, 1024]) if side <= 32 else p.choice([16, 32, 64, 96, 128])
	batch = max(1, min(256, int(2 ** p.uniform(24, 27) / (c * side * side)))) if p.random() < 0.6 else p.choice([1, 4, 16, 32])
	r = dict(batch=batch, cin=c, cout=p.choice([c, c, 2 * c, max(16, c // 2), 4 * c if side <= 14 and c <= 512 else c]), size=[side, side], kernel=[3, 3], stride=p.choice([1, 1, 1, 2]), groups=1)
	if kind == "one":
		r.update(kernel=[1, 1])
	elif kind == "first":
		r.update(cin=3, cout=64, size=[224, 224], kernel=[7, 7], stride=2, batch=p.choice([1, 8, 32, 64]))
	elif kind == "patch":
		r.update(cin=3, cout=p.choice([384, 768]), size=[224, 224], kernel=[16, 16], stride=16, batch=p.choice([8, 64]))
	elif kind == "depthwise":
		r.update(cout=c, groups=c, kernel=p.choice([[3, 3], [5, 5], [7, 7]]))
	elif kind == "group":
		r.update(cout=c, groups=p.choice([8, 32]))
	elif kind == "three":
		r.update(batch=p.choice([2, 4, 8]), cin=64, cout=p.choice([64, 128]), size=[p.choice([4, 8, 16]), 28, 28], kernel=[3, 3, 3])
	elif kind == "one_d":
		r.update(batch=16, cin=p.choice([80, 256, 512]), cout=512, size=[p.choice([512, 1500, 3000])], kernel=[p.choice([3, 5, 10])], stride=p.choice([1, 2]))
	return dict(op="conv", **r)


def draw_rows(p, op):
	rows, width = 2 ** p.randint(6, 15), p.choice([64, 128, 256, 512, 768, 1024, 1280, 2048, 4096, 5120, 8192])
	if op in ("cross_entropy", "log_softmax"):
		width = p.choice([1000, 4096, 32000, 50257, 128256])
	while rows * width > 2 ** 28:
		rows //= 2
	return dict(op=op, rows=rows, width=width)


def draw_image(p, op):
	side = p.choice([7, 14, 28, 56, 112])
	c = p.choice([32, 64, 128, 256, 512, 1024])
	while c * side * side > 2 ** 21:
		c //= 2
	return dict(op=op, batch=p.choice([1, 4, 16, 32, 64]), cin=c, size=[side, side])


def draw_other(p, op):
	two = lambda a, b: 2 ** p.randint(a, b)
	if op == "conv_transpose":
		return dict(op=op, batch=p.choice([2, 8, 16]), cin=p.choice([128, 256, 512]), cout=p.choice([64, 128, 256]), size=[p.choice([16, 32, 64])] * 2)
	if op in ("embedding", "embedding_bag"):
		return dict(op=op, vocab=p.choice([1000, 30522, 50257, 128256]), width=p.choice([16, 64, 768, 2048, 4096]), rows=two(8, 15))
	if op in ("index_add", "scatter_add", "scatter_amax", "index_put", "gather_rows"):
		nodes = two(10, 17)
		return dict(op=op, nodes=nodes, rows=nodes * p.choice([1, 4, 8, 16]), width=p.choice([16, 64, 128, 256]), how=p.choice(["index", "select"]))
	if op == "nonzero":
		return dict(op=op, rows=two(6, 12), width=two(4, 12))
	if op == "linear":
		return dict(op=op, m=two(0, 14), k=p.choice([64, 256, 512, 768, 1024, 2048, 4096, 8192]), n=p.choice([64, 256, 1000, 1024, 2304, 3072, 4096, 11008, 50257]), bias=p.random() < 0.5)
	if op == "bmm":
		return dict(op=op, b=two(2, 9), m=two(4, 11), k=p.choice([32, 64, 128, 512]), n=two(4, 11))
	if op == "sdpa":
		s = two(6, 12)
		return dict(op=op, b=p.choice([1, 2, 8, 16]), heads=p.choice([4, 8, 12, 16, 32]), s=s, t=p.choice([s, s, s, 77]), d=p.choice([32, 64, 64, 80, 96, 128, 128, 256, 512]), mask=p.random() < 0.3, causal=False) | (dict(mask=False, causal=True) if p.random() < 0.3 else {})
	if op == "rnn":
		return dict(op=op, kind=p.choice(["lstm", "lstm", "gru", "rnn"]), b=p.choice([1, 8, 32, 128]), s=p.choice([16, 64, 128, 256, 512]), width=p.choice([64, 128, 256, 512]), hidden=p.choice([64, 128, 256, 512, 1024]), layers=p.choice([1, 2, 3]), both=p.random() < 0.4)
	if op == "optimizer":
		return dict(op=op, kind=p.choice(["adamw", "adamw", "fused", "adam", "sgd", "rmsprop", "adagrad"]), tensors=p.choice([4, 20, 60, 150, 300]), width=p.choice([64, 256, 1024]), clip=p.random() < 0.4)
	if op == "permuted":
		return dict(op=op, b=p.choice([4, 16, 64]), s=p.choice([49, 196, 512, 1024]), heads=p.choice([8, 12, 16]), d=p.choice([32, 64, 128]), order=p.choice([[0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 2, 1], [2, 0, 1, 3]]))
	if op == "cat":
		return dict(op=op, rows=two(8, 14), width=p.choice([64, 256, 1024]), parts=p.choice([2, 3, 6]), dim=p.choice([0, 1]))
	return dict(op=op, rows=p.choice([256, 1000, 2000, 4096]))


OTHER = dict(conv_transpose=6, embedding=12, embedding_bag=6, index_add=8, scatter_add=8, scatter_amax=6, index_put=6, gather_rows=12, nonzero=4, linear=40, bmm=24, sdpa=48, rnn=36, optimizer=24, permuted=14, cat=10, roi_align=4, nms=4)


def draw(seed):
	p, out = random.Random(seed), []
	for _ in range(150):
		out.append(draw_conv(p))
	for op in ROWS:
		out += [draw_rows(p, op) for _ in range(4)]
	for op in IMAGES:
		out += [draw_image(p, op) for _ in range(8 if "norm" in op else 4)]
	for op, n in OTHER.items():
		out += [draw_other(p, op) for _ in range(n)]
	for i, r in enumerate(out):
		vision = r["op"] in IMAGES or r["op"] == "conv"
		r["format"] = p.choice(["fp16", "bf16", "tf32", "fp16"] if vision else ["bf16", "bf16", "fp32", "fp16"])
		r["pass"] = p.choice(["train", "train", "forward"])
		if r["op"] in ("argmax", "nonzero", "nms", "optimizer"):
			r["pass"] = "forward"
		if r["op"] in ("nms", "roi_align", "optimizer"):
			r["format"] = "fp32"
		if vision and len(r["size"]) == 2 and p.random() < 0.15:
			r["layout"] = "channels_last"
		if r["op"] == "conv" and "tf32" == r["format"] and p.random() < 0.3:
			r["format"] = "fp32"
		r["id"] = f"{i:03d}-{r['op']}"
	return out


def build(r):
	torch.backends.cudnn.allow_tf32 = r["format"] != "fp32" or r["op"] != "conv"
	torch.backends.cuda.matmul.allow_tf32 = r["format"] == "tf32"
	call = MAKE[r["op"]](r)
	if r["pass"] != "train":
		def forward():
			with torch.no_grad():
				return call()
		return forward
	y = call()
	dy = torch.ones_like(y)  # contiguous, like the gradient from a layer above

	def train():
		call().backward(dy)
	return train


def host_s(step):
	torch.cuda.synchronize()
	begin = time.perf_counter()
	for _ in range(10):
		step()
	took = (time.perf_counter() - begin) / 10
	torch.cuda.synchronize()
	return took


def profiled(steps, n=5):
	"""[(id, step)] -> id -> [[(name, ns), …] for each of n repetitions]; separates them by host-clock windows with a synchronisation at each end."""
	marks = []
	with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]) as prof:
		for name, step in steps:
			for _ in range(n):
				with torch.profiler.record_function("jeoul-op " + name):
					step()
					torch.cuda.synchronize()
	events = list(prof.profiler.kineto_results.events())
	device = sorted(((e.start_ns(), e.duration_ns(), e.name()) for e in events if e.device_type() != torch.autograd.DeviceType.CPU and e.duration_ns() > 0 and not e.name().startswith(("jeoul-op", "Optimizer."))))
	marks = sorted((e.start_ns(), e.start_ns() + e.duration_ns(), e.name()[9:]) for e in events if e.device_type() == torch.autograd.DeviceType.CPU and e.name().startswith("jeoul-op "))
	out, at = collections.defaultdict(list), 0
	for begin, end, name in marks:
		while at < len(device) and device[at][0] < begin:
			at += 1
		rows = []
		while at < len(device) and device[at][0] < end:
			rows.append((device[at][2], device[at][1]))
			at += 1
		out[name].append(rows)
	return out


def measure(rows, path):
	with open(path, "a") as file:
		for i in range(0, len(rows), 20):
			steps, host = [], {}
			for r in rows[i : i + 20]:
				try:
					step = build(r)
					for _ in range(3):
						step()
					torch.cuda.synchronize()
					host[r["id"]] = min(host_s(step) for _ in range(2))
					steps.append((r["id"], step))
				except Exception as error:
					file.write(json.dumps(dict(id=r["id"], error=f"{type(error).__name__}: {str(error)[:200]}")) + "\n")
			for name, runs in profiled(steps).items():
				busy = [sum(ns for _, ns in run) for run in runs]
				middle = runs[busy.index(sorted(busy)[len(busy) // 2])]
				launches = [sum(not n.startswith("Mem") for n, _ in run) for run in runs]
				file.write(json.dumps(dict(id=name, kernels_s=statistics.median(busy) * 1e-9, launches=int(statistics.median(launches)), memory=sum(n.startswith("Mem") for n, _ in middle), host_s=host[name],
					kernels=[[n[:70], ns * 1e-9] for n, ns in middle[:60]])) + "\n")
			file.flush()
			steps.clear()
			torch.cuda.empty_cache()


def capture(rows, folder):
	import jeoul

	os.makedirs(folder, exist_ok=True)
	for r in rows:
		try:
			recording = jeoul.capture(title=r["id"])
			with recording as program:
				step = build(r)
				step()
				for owner in (recording, program, getattr(getattr(recording, "session", None), "state", None)):
					if hasattr(owner, "begin"):
						owner.begin()
						break
				step()
			program.save(os.path.join(folder, r["id"] + ".jprog"))
		except Exception as error:
			print(r["id"], type(error).__name__, str(error)[:200], flush=True)


def main():
	rows = draw(sys.argv[1])
	if sys.argv[2] == "list":
		print(json.dumps(rows))
	elif sys.argv[2] == "measure":
		measure(rows, sys.argv[3])
	else:
		part, parts = (int(x) for x in (sys.argv[4] if len(sys.argv) > 4 else "0/1").split("/"))
		capture(rows[part::parts], sys.argv[3])


if __name__ == "__main__":
	main()
