#!/usr/bin/env python3
"""Prompts and tokens of a decoder on one GPU: compares `jeoul bench infer` with plain PyTorch in one table.

    bench/infer/gpu.py [--jeoul PATH] [--models gpt-305m,llama-3-8b] [--batches 1,8,32] [--prompt 512] [--answer 128] [--precision fp8] [--whole]

PyTorch: bf16, static KV cache, scaled_dot_product_attention, torch.compile, CUDA graphs. Each layer is compiled once and the whole pass is captured
as one graph, which compiles in seconds; --whole compiles the whole model with mode="reduce-overhead" instead (not compared here). --precision applies
to jeoul only: fp8 weights are compared with PyTorch's bf16.
First token: all prompts of the batch in one pass. Token: one per sample, mean over an answer, without waiting in between.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--jeoul", default=os.environ.get("JEOUL", "build/release/jeoul"))
parser.add_argument("--models", default="gpt-305m,llama-3-8b")
parser.add_argument("--batches", default="1,8,32")
parser.add_argument("--prompt", type=int, default=512)
parser.add_argument("--answer", type=int, default=128)
parser.add_argument("--precision", default="bf16")
parser.add_argument("--whole", action="store_true")
parser.add_argument("--no-torch", action="store_true")
args = parser.parse_args()

SHAPES = {  # layers, hidden, heads, key heads, ffn, vocabulary, learned positions (0: rotary, RMSNorm, SwiGLU)
	"gpt-305m": (16, 1024, 16, 16, 4096, 50257, 512),
	"gpt2-124m": (12, 768, 12, 12, 3072, 50257, 1024),
	"llama-3-8b": (32, 4096, 32, 8, 14336, 128256, 0),
}


def ours(model, batches, prompt):
	done = subprocess.run([args.jeoul, "bench", "infer", "--backend", "cuda", "--model", model, "--precision", args.precision, "--batch", batches, "--prompt", str(prompt),
		"--answer", str(args.answer), "--no-store", "--json"], capture_output=True, text=True, timeout=240)
	if done.returncode:
		print(done.stderr.strip(), file=sys.stderr)
		return {}
	rows = {}
	for r in json.loads(done.stdout)["records"]:
		rows[r["params"]["batch"]] = {m["name"]: m for m in r["metrics"]}
	return rows


def torch_rows(model, batches, prompt):
	import torch
	import torch.nn as nn
	import torch.nn.functional as F
	n_layers, hidden, heads, kv, ffn, vocab, positions = SHAPES[model]
	dim, most = hidden // heads, prompt + args.answer
	torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = True

	class Rms(nn.Module):
		def __init__(self):
			super().__init__()
			self.weight = nn.Parameter(torch.ones(hidden))

		def forward(self, x):
			return F.rms_norm(x, (hidden,), self.weight, 1e-5)

	class Block(nn.Module):
		def __init__(self):
			super().__init__()
			bias, norm = positions > 0, (lambda: nn.LayerNorm(hidden)) if positions else Rms
			self.norm1, self.norm2 = norm(), norm()
			self.qkv = nn.Linear(hidden, (heads + 2 * kv) * dim, bias=bias)
			self.out = nn.Linear(heads * dim, hidden, bias=bias)
			self.up = nn.Linear(hidden, ffn if positions else 2 * ffn, bias=bias)
			self.down = nn.Linear(ffn, hidden, bias=bias)

		def forward(self, x, keys, values, at, mask, turn):
			n, seq, _ = x.shape
			q, k, v = self.qkv(self.norm1(x)).split([heads * dim, kv * dim, kv * dim], -1)
			q, k, v = (t.view(n, seq, -1, dim).transpose(1, 2) for t in (q, k, v))
			if turn is not None:
				cos, sin = turn
				half = lambda t: torch.cat((-t[..., dim // 2:], t[..., :dim // 2]), -1)
				q, k = q * cos + half(q) * sin, k * cos + half(k) * sin
			keys.index_copy_(2, at, k)
			values.index_copy_(2, at, v)
			if mask is not None:
				k, v = keys, values
			if kv < heads:
				k, v = k.repeat_interleave(heads // kv, 1), v.repeat_interleave(heads // kv, 1)
			att = F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=mask is None)
			x = x + self.out(att.transpose(1, 2).reshape(n, seq, -1))
			h = self.up(self.norm2(x))
			if positions:
				return x + self.down(F.gelu(h, approximate="tanh"))
			gate, up = h.chunk(2, -1)
			return x + self.down(F.silu(gate) * up)

	class Decoder(nn.Module):
		def __init__(self):
			super().__init__()
			self.tokens = nn.Embedding(vocab, hidden)
			if positions:
				self.positions = nn.Embedding(positions, hidden)
			self.layers = nn.ModuleList(Block() for _ in range(n_layers))
			self.norm = nn.LayerNorm(hidden) if positions else Rms()
			self.logits = nn.Linear(hidden, vocab, bias=False)
			angle = torch.arange(most)[:, None] * 10000.0 ** (-torch.arange(0, dim, 2) / dim)
			self.register_buffer("cos", torch.cat((angle, angle), -1).cos(), persistent=False)
			self.register_buffer("sin", torch.cat((angle, angle), -1).sin(), persistent=False)
			self.register_buffer("causal", torch.ones(most, most, dtype=torch.bool).tril(), persistent=False)

		def forward(self, tokens, cache, at, decode):
			x = self.tokens(tokens)
			if positions:
				x = x + self.positions(at)
			turn = None if positions else (self.cos[at], self.sin[at])
			mask = self.causal[at][None, None] if decode else None
			for layer, (k, v) in zip(self.layers, cache):
				x = layer(x, k, v, at, mask, turn)
			return self.logits(self.norm(x[:, -1:])).argmax(-1)

	torch.set_grad_enabled(False)
	with torch.device("cuda"):
		torch.set_default_dtype(torch.bfloat16)
		net = Decoder().eval()
	if args.whole:
		call = torch.compile(net, mode="reduce-overhead")
	else:
		for layer in net.layers:
			layer.compile()
		call = net

	def recorded(step):
		"""The decoding step as one CUDA graph."""
		for _ in range(3):
			step()
		torch.cuda.synchronize()
		if args.whole:
			return step
		graph = torch.cuda.CUDAGraph()
		with torch.cuda.graph(graph):
			step()
		return graph.replay

	rows = {}
	for n in batches:
		cache = [(torch.zeros(n, kv, most, dim, device="cuda"), torch.zeros(n, kv, most, dim, device="cuda")) for _ in range(n_layers)]
		tokens = torch.randint(0, vocab, (n, prompt), device="cuda")
		first, at = torch.arange(prompt, device="cuda"), torch.full((1,), prompt, device="cuda")
		last = torch.zeros(n, 1, dtype=torch.long, device="cuda")

		def prefill():
			last.copy_(call(tokens, cache, first, False))

		def decode():
			last.copy_(call(last.clone(), cache, at, True))
			at.add_(1)

		once, again = recorded(prefill), recorded(decode)
		ttft, tpot = [], []
		for _ in range(6):
			torch.cuda.synchronize()
			begin_s = time.perf_counter()
			once()
			torch.cuda.synchronize()
			ttft.append(time.perf_counter() - begin_s)
			at.fill_(prompt)
			torch.cuda.synchronize()
			begin_s = time.perf_counter()
			for _ in range(args.answer - 1):
				again()
			torch.cuda.synchronize()
			tpot.append((time.perf_counter() - begin_s) / (args.answer - 1))
		rows[n] = (statistics.median(ttft), statistics.median(tpot))
		del once, again, cache
		torch.cuda.empty_cache()
	del net
	torch.cuda.empty_cache()
	return rows


def cell(value, scale, width=9):
	return ("%" + str(width) + "s") % ("-" if value is None else "%.3f" % (value * scale))


print("%-11s %5s %6s  %9s %9s %6s   %9s %9s %6s  %6s  %s" % ("", "batch", "prompt", "first ms", "torch", "ratio", "token ms", "torch", "ratio", "bandw.",
	"predicted first, token (ms)"))
batches = [int(b) for b in args.batches.split(",")]
for model in args.models.split(","):
	room = SHAPES[model][6] - args.answer if SHAPES[model][6] else args.prompt
	prompt = min(args.prompt, room)  # learned positions limit the length
	begin_s = time.time()
	mine = ours(model, args.batches, prompt)
	middle_s = time.time()
	theirs = {} if args.no_torch else torch_rows(model, batches, prompt)
	for n in batches:
		m, t = mine.get(n, {}), theirs.get(n, (None, None))
		value = lambda name: m[name]["median"] if name in m else None
		ratio = lambda a, b: cell(b / a if a and b else None, 1, 6)
		inside = ["%.3f (%.3f-%.3f)%s" % (p["median"] * 1e3, p["min"] * 1e3, p["max"] * 1e3, "" if p["min"] <= value(s) <= p["max"] else " outside")
			for p, s in ((m.get("predicted_" + s), s) for s in ("ttft_s", "tpot_s")) if p]
		print("%-11s %5d %6d  %s %s %s   %s %s %s  %6s  %s" % (model, n, prompt, cell(value("ttft_s"), 1e3), cell(t[0], 1e3), ratio(value("ttft_s"), t[0]),
			cell(value("tpot_s"), 1e3), cell(t[1], 1e3), ratio(value("tpot_s"), t[1]), cell(value("bandwidth_frac"), 1, 6), ", ".join(inside)), flush=True)
	print("  # %s: jeoul %.0f s, torch %.0f s" % (model, middle_s - begin_s, time.time() - middle_s), file=sys.stderr)
