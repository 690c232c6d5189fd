#!/usr/bin/env python3
"""Times single operators of PyTorch on GPU 0, the host kept out by CUDA graphs: ops.py OUT.csv

Each line: op, dtype, variant, a b c d e f (the operator's sizes, see `sizes`), seconds of one call, bytes and FLOP of its definition.
Operands come from memory, not from L2: enough copies go round. gemm: a=m b=n c=k, variant nt (forward), nn (input gradient), tn (weight
gradient). sdpa: a=batch b=heads c=kv_heads d=seq e=head_dim f=causal; sdpa-dropout: the same, a tenth of the scores dropped. conv: a=batch b=c_in c=c_out d=image e=kernel f=stride. Others: a=rows
b=columns. adamw: a=parameters b=tensors. launch: seconds of the host for one call, a tiny tensor.
"""
import csv
import random
import sys
import time

import torch
import torch.nn.functional as F

DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16, "tf32": torch.float32, "fp32": torch.float32}
ENOUGH_B = 300e6


def set_dtype(name):
	torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name == "tf32"
	return DTYPES[name]


def graph_s(calls):
	"""Seconds per call: all `calls` (one per copy of the operands) in a graph, replayed for 0.1 s."""
	stream = torch.cuda.Stream()
	with torch.cuda.stream(stream):
		for call in calls[:2]:
			call()
	torch.cuda.synchronize()
	graph = torch.cuda.CUDAGraph()
	with torch.cuda.graph(graph):
		for call in calls:
			call()
	graph.replay()
	torch.cuda.synchronize()
	from_s = time.perf_counter()
	graph.replay()
	torch.cuda.synchronize()
	n = max(2, int(0.06 / max(time.perf_counter() - from_s, 1e-5)))
	start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
	start.record()
	for _ in range(n):
		graph.replay()
	end.record()
	torch.cuda.synchronize()
	return start.elapsed_time(end) * 1e-3 / n / len(calls)


def copies(make, size_B):
	return [make() for _ in range(max(2, min(24, int(ENOUGH_B / max(size_B, 1)) + 1)))]


def gemm(dtype, variant, m, n, k):
	t = set_dtype(dtype)
	shapes = {"nt": ((m, k), (n, k)), "nn": ((m, n), (n, k)), "tn": ((m, n), (m, k))}[variant]
	size_B = sum(x * y for x, y in shapes) * t.itemsize
	sets = copies(lambda: [torch.randn(s, device="cuda", dtype=t) for s in shapes], size_B)
	run = {"nt": lambda a, b: a @ b.T, "nn": lambda a, b: a @ b, "tn": lambda a, b: a.T @ b}[variant]
	out = {"nt": m * n, "nn": m * k, "tn": n * k}[variant]
	return graph_s([lambda s=s: run(*s) for s in sets]), size_B + out * t.itemsize, 2 * m * n * k


def sdpa(dtype, variant, batch, heads, kv, seq, dim, causal, dropout=0.0):
	t = set_dtype(dtype)
	shape = lambda h: (batch, h, seq, dim)
	size_B = batch * seq * dim * (2 * heads + 2 * kv) * t.itemsize
	def make():
		q, k, v = (torch.randn(shape(h), device="cuda", dtype=t, requires_grad=True) for h in (heads, kv, kv))
		return q, k, v, torch.randn(shape(heads), device="cuda", dtype=t)
	sets = copies(make, size_B)[:6]
	forward = lambda q, k, v, g: F.scaled_dot_product_attention(q, k, v, is_causal=bool(causal), dropout_p=dropout, enable_gqa=heads != kv)
	flop = 4 * batch * heads * seq * seq * dim
	fwd_s = graph_s([lambda s=s: forward(*s) for s in sets])
	if variant == "fwd":
		return fwd_s, size_B, flop
	both_s = graph_s([lambda s=s: torch.autograd.grad(forward(*s), s[:3], s[3]) for s in sets])
	return both_s - fwd_s, 2 * size_B, 2.5 * flop


def rowwise(op, dtype, variant, rows, cols):
	"""Element-wise and row-wise kernels by their aten operators, forward or backward."""
	t = set_dtype(dtype)
	x_B = rows * cols * t.itemsize
	new = lambda kind=None: torch.randn(rows, cols, device="cuda", dtype=kind or t)
	weight = torch.ones(cols, device="cuda", dtype=t)
	A = torch.ops.aten
	if op == "layernorm":
		mean = lambda x: A.native_layer_norm(x, [cols], weight, weight, 1e-5)[1:]
		fwd = (lambda: (new(),), lambda x: A.native_layer_norm(x, [cols], weight, weight, 1e-5), 2 * x_B)
		def back():
			x = new()
			return (new(), x, *mean(x))
		bwd = (back, lambda g, x, m, r: A.native_layer_norm_backward(g, x, [cols], m, r, weight, weight, [True] * 3), 3 * x_B)
	elif op == "rmsnorm":
		fwd = (lambda: (new(),), lambda x: F.rms_norm(x, [cols], weight), 2 * x_B)
		def back():
			return (new().requires_grad_(), new())
		w = weight.clone().requires_grad_()
		bwd = (back, lambda x, g: torch.autograd.grad(F.rms_norm(x, [cols], w), (x, w), g), 5 * x_B)  # includes the forward pass
	elif op in ("gelu", "silu"):
		f, b = (A.gelu, A.gelu_backward) if op == "gelu" else (A.silu, A.silu_backward)
		fwd, bwd = (lambda: (new(),), f, 2 * x_B), (lambda: (new(), new()), b, 3 * x_B)
	elif op in ("add", "mul"):
		f = A.add if op == "add" else A.mul
		fwd = bwd = (lambda: (new(), new()), f, 3 * x_B)
	elif op == "cast":  # to or from fp32
		fwd = (lambda: (new(torch.float32),), lambda x: x.to(torch.bfloat16), rows * cols * 6)
		bwd = (lambda: (new(torch.bfloat16),), lambda x: x.float(), rows * cols * 6)
	elif op == "sum":  # bias gradient
		fwd = bwd = (lambda: (new(),), lambda x: x.sum(0), x_B)
	elif op == "softmax":
		fwd = (lambda: (new(),), lambda x: A._softmax(x, -1, False), 2 * x_B)
		bwd = (lambda: (new(), new()), lambda g, y: A._softmax_backward_data(g, y, -1, t), 3 * x_B)
	elif op == "logsoftmax":
		fwd = (lambda: (new(),), lambda x: A._log_softmax(x, -1, False), 2 * x_B)
		bwd = (lambda: (new(), new()), lambda g, y: A._log_softmax_backward_data(g, y, -1, t), 3 * x_B)
	elif op == "dropout":
		fwd = (lambda: (new(),), lambda x: A.native_dropout(x, 0.1, True), 2 * x_B + rows * cols)
		bwd = (lambda: (new(), new() > 0), lambda g, m: A.native_dropout_backward(g, m, 1.1), 2 * x_B + rows * cols)
	make, call, moved_B = fwd if variant == "fwd" else bwd
	sets = copies(make, moved_B)
	return graph_s([lambda s=s: call(*s) for s in sets]), moved_B, 0


def embedding(dtype, variant, rows, cols):
	t, vocab = set_dtype(dtype), 50304
	table = torch.randn(vocab, cols, device="cuda", dtype=t)
	def make():
		return torch.randint(0, vocab, (rows,), device="cuda"), torch.randn(rows, cols, device="cuda", dtype=t)
	sets = copies(make, rows * cols * t.itemsize)
	if variant == "fwd":
		return graph_s([lambda s=s: F.embedding(s[0], table) for s in sets]), 2 * rows * cols * t.itemsize, 0
	call = lambda s: torch.ops.aten.embedding_dense_backward(s[1], s[0], vocab, -1, False)
	for s in sets[:2]:
		call(s)
	torch.cuda.synchronize()
	start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
	start.record()
	for _ in range(10):
		for s in sets:
			call(s)
	end.record()
	torch.cuda.synchronize()
	return start.elapsed_time(end) * 1e-4 / len(sets), (2 * rows + vocab) * cols * t.itemsize, 0


def adamw(dtype, variant, n_params, n_tensors):
	t = set_dtype(dtype)
	params = [torch.randn(n_params // n_tensors, device="cuda", dtype=t).requires_grad_() for _ in range(n_tensors)]
	for p in params:
		p.grad = torch.randn_like(p)
	opt = torch.optim.AdamW(params, lr=1e-4, **({"fused": True} if variant == "fused" else {"foreach": variant == "foreach"}))
	opt.step()
	torch.cuda.synchronize()
	best = []
	for _ in range(5):
		from_s = time.perf_counter()
		for _ in range(4):
			opt.step()
		torch.cuda.synchronize()
		best.append((time.perf_counter() - from_s) / 4)
	return sorted(best)[2], n_params * 7 * t.itemsize, 0


def conv(dtype, variant, batch, c_in, c_out, image, kernel, stride):
	t = set_dtype(dtype)
	direction, layout = variant.split("-")
	fmt = torch.channels_last if layout == "nhwc" else torch.contiguous_format
	out = (image + 2 * (kernel // 2) - kernel) // stride + 1
	x_B, y_B = batch * c_in * image * image * t.itemsize, batch * c_out * out * out * t.itemsize
	def make():
		return (torch.randn(batch, c_in, image, image, device="cuda", dtype=t).to(memory_format=fmt),
			torch.randn(batch, c_out, out, out, device="cuda", dtype=t).to(memory_format=fmt))
	w = torch.randn(c_out, c_in, kernel, kernel, device="cuda", dtype=t).to(memory_format=fmt)
	sets = copies(make, x_B + y_B)[:8]
	if direction == "fwd":
		call = lambda x, y: F.conv2d(x, w, None, stride, kernel // 2)
	else:
		mask = [direction == "dgrad", direction == "wgrad", False]
		call = lambda x, y: torch.ops.aten.convolution_backward(y, x, w, None, [stride] * 2, [kernel // 2] * 2, [1, 1], False, [0, 0], 1, mask)
	return graph_s([lambda s=s: call(*s) for s in sets]), x_B + y_B, 2 * batch * out * out * c_in * c_out * kernel * kernel


def launch(what):
	x = torch.ones(4, device="cuda")
	lin = torch.nn.Linear(16, 16, device="cuda")
	y = torch.ones(16, 16, device="cuda")
	norm = torch.nn.LayerNorm(16, device="cuda")
	def train():
		norm(lin(y)).sum().backward()
	call = {"add": lambda: x + x, "linear": lambda: lin(y), "layernorm": lambda: norm(y), "train": train}[what]
	for _ in range(200):
		call()
	torch.cuda.synchronize()
	from_s = time.perf_counter()
	for _ in range(2000):
		call()
	host_s = (time.perf_counter() - from_s) / 2000
	torch.cuda.synchronize()
	return host_s, 0, 0


def plan():
	pick = random.Random(20260101)
	widths = [512, 768, 1024, 1280, 1600, 2048, 3072, 4096, 5120, 6144, 8192]
	for dtype, n_shapes in (("bf16", 110), ("fp16", 24), ("tf32", 60), ("fp32", 40)):
		for _ in range(n_shapes):
			h, rows = pick.choice(widths[:8 if dtype in ("fp32",) else 11]), 2 ** pick.randint(9, 15)
			n = pick.choice([h, 3 * h, 4 * h, 4 * h, 11008, 50257, 50304, 32000, 128256, 30522, 1000])
			if rows * n > 2 ** 31 or (dtype == "fp32" and rows * n * h > 2 ** 40):
				rows = 2048
			yield "gemm", dtype, pick.choice(["nt", "nn", "tn"]), (rows, n, h)
	for dtype in ("bf16", "fp16", "tf32", "fp32"):
		for batch, heads, kv, seq, dim, causal in ((32, 16, 16, 512, 64, 1), (4, 16, 16, 512, 64, 1), (8, 12, 12, 1024, 64, 1), (8, 32, 8, 2048, 128, 1), (2, 32, 32, 4096, 128, 1),
				(64, 12, 12, 197, 64, 0), (32, 16, 16, 128, 64, 0), (16, 16, 16, 384, 64, 0), (1, 32, 8, 8192, 128, 1), (16, 25, 25, 1024, 64, 1), (8, 16, 16, 1024, 80, 1)):
			for variant in ("fwd", "bwd"):
				yield "sdpa", dtype, variant, (batch, heads, kv, seq, dim, causal)
	for batch, heads, kv, seq, dim, causal in (*((1, 16, 16, 8192, dim, 1) for dim in (64, 80, 96, 128)), *((1, 8, 8, 32768, dim, 1) for dim in (64, 96, 128)), (1, 8, 2, 32768, 64, 1),
			*((16, 16, 16, 1024, dim, 1) for dim in (64, 80, 96, 128)), (64, 16, 16, 512, 64, 1), (64, 12, 12, 197, 64, 0), (32, 16, 16, 512, 64, 0), (1, 4, 4, 8192, 64, 1), (2, 16, 16, 4096, 64, 1),
			(2, 16, 16, 4096, 64, 0), (2, 16, 16, 4096, 128, 0)):
		for op in ("sdpa", "sdpa-dropout"):
			for variant in ("fwd", "bwd"):
				yield op, "bf16", variant, (batch, heads, kv, seq, dim, causal)
	for rows, cols in ((2048, 1024), (16384, 1024), (16384, 4096), (8192, 768), (65536, 2048), (512, 768)):
		for op in ("layernorm", "rmsnorm", "gelu", "silu", "add", "mul", "cast", "sum", "softmax", "dropout"):
			for dtype in ("bf16", "fp32"):
				for variant in ("fwd", "bwd"):
					yield op, dtype, variant, (rows, cols)
	for rows, cols in ((2048, 50257), (16384, 50257), (8192, 32000), (4096, 128256)):
		for dtype in ("bf16", "fp32"):
			for variant in ("fwd", "bwd"):
				yield "logsoftmax", dtype, variant, (rows, cols)
	for rows, cols in ((2048, 1024), (16384, 1024), (16384, 4096)):
		for dtype in ("bf16", "fp32"):
			for variant in ("fwd", "bwd"):
				yield "embedding", dtype, variant, (rows, cols)
	for n, tensors in ((int(3e7), 150), (int(3e8), 200), (int(1e9), 300), (int(2.5e7), 161)):
		for dtype in ("fp32", "bf16"):
			for variant in ("fused", "foreach"):
				yield "adamw", dtype, variant, (n, tensors)
	for dtype in ("bf16", "fp16", "tf32", "fp32"):
		for batch in (32, 128):
			for shape in ((3, 64, 224, 7, 2), (64, 64, 56, 1, 1), (64, 64, 56, 3, 1), (64, 256, 56, 1, 1), (128, 128, 28, 3, 1), (256, 256, 14, 3, 1), (256, 1024, 14, 1, 1),
					(512, 512, 7, 3, 1), (2048, 512, 7, 1, 1), (256, 512, 56, 1, 2)):
				for layout in ("nchw", "nhwc"):
					for direction in ("fwd", "dgrad", "wgrad"):
						yield "conv", dtype, f"{direction}-{layout}", (batch, *shape)
	for what in ("add", "linear", "layernorm", "train"):
		yield "launch", "fp32", what, ()


def main():
	rowops = {"layernorm", "rmsnorm", "gelu", "silu", "add", "mul", "cast", "sum", "softmax", "dropout", "logsoftmax"}
	calls = {"gemm": gemm, "sdpa": sdpa, "sdpa-dropout": lambda *args: sdpa(*args, dropout=0.1), "embedding": embedding, "adamw": adamw, "conv": conv}
	with open(sys.argv[1], "w", newline="") as file:
		out = csv.writer(file)
		out.writerow(["gpu", "framework", "op", "dtype", "variant", "a", "b", "c", "d", "e", "f", "time_s", "moved_B", "flop"])
		name = [torch.cuda.get_device_name(), f"PyTorch {torch.__version__.split('+')[0]}"]
		for op, dtype, variant, sizes in plan():
			try:
				if op == "launch":
					result = launch(variant)
				elif op in rowops:
					result = rowwise(op, dtype, variant, *sizes)
				else:
					result = calls[op](dtype, variant, *sizes)
			except Exception as error:
				print(op, dtype, variant, sizes, " ".join(str(error).split())[:150], flush=True)
				torch.cuda.synchronize()
				continue
			finally:
				torch.cuda.empty_cache()
			out.writerow(name + [op, dtype, variant, *sizes, *[""] * (6 - len(sizes)), f"{result[0]:.5g}", f"{result[1]:.6g}", f"{result[2]:.6g}"])
			file.flush()


if __name__ == "__main__":
	main()
