#!/usr/bin/env python3
"""GPT-305M in PyTorch on GPU 0, as `jeoul bench train` has it: the same weights and tokens (tests/fixtures/train/reference.py), AdamW,
bf16 by autocast over fp32 weights, or tf32. Prints samples/s, peak memory and, with --losses, the losses of the first steps.
--model llama-3.2-1b: RMSNorm, rotary positions, grouped heads, SwiGLU, tied logits; random weights, no --losses.

  gpu.py [--model gpt-305m] --precision bf16 --batch 4 --mode eager|compiled [--steps 30] [--losses]
"""
import argparse
import importlib.util
import os
import statistics
import time

import torch
import torch.nn.functional as F

HERE = os.path.dirname(os.path.abspath(__file__))
C = dict(layers=16, hidden=1024, heads=16, ffn=4096, vocab=50257, positions=512)


def reference():
	path = os.path.join(HERE, "..", "..", "tests", "fixtures", "train", "reference.py")
	spec = importlib.util.spec_from_file_location("reference", path)
	module = importlib.util.module_from_spec(spec)
	spec.loader.exec_module(module)
	return module


class Block(torch.nn.Module):
	def __init__(self):
		super().__init__()
		h = C["hidden"]
		self.norm1, self.norm2 = torch.nn.LayerNorm(h), torch.nn.LayerNorm(h)
		self.qkv, self.out = torch.nn.Linear(h, 3 * h), torch.nn.Linear(h, h)
		self.up, self.down = torch.nn.Linear(h, C["ffn"]), torch.nn.Linear(C["ffn"], h)

	def forward(self, x):
		n, seq, h = x.shape
		q, k, v = (t.view(n, seq, C["heads"], -1).transpose(1, 2) for t in self.qkv(self.norm1(x)).chunk(3, -1))
		att = F.scaled_dot_product_attention(q, k, v, is_causal=True)
		x = x + self.out(att.transpose(1, 2).reshape(n, seq, h))
		return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class Gpt(torch.nn.Module):
	def __init__(self):
		super().__init__()
		self.tokens = torch.nn.Embedding(C["vocab"], C["hidden"])
		self.positions = torch.nn.Embedding(C["positions"], C["hidden"])
		self.layers = torch.nn.ModuleList(Block() for _ in range(C["layers"]))
		self.normf = torch.nn.LayerNorm(C["hidden"])
		self.logits = torch.nn.Linear(C["hidden"], C["vocab"], bias=False)

	def forward(self, tokens, targets):
		x = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
		for layer in self.layers:
			x = layer(x)
		return F.cross_entropy(self.logits(self.normf(x)).view(-1, C["vocab"]), targets.view(-1))


L = dict(layers=16, hidden=2048, heads=32, kv_heads=8, ffn=8192, vocab=128256, theta=5e5)


def rotate(x, cos, sin):
	half = x.shape[-1] // 2
	return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin


class LlamaBlock(torch.nn.Module):
	def __init__(self):
		super().__init__()
		h, kv = L["hidden"], L["kv_heads"] * L["hidden"] // L["heads"]
		self.widths = [h, kv, kv]
		self.norm1, self.norm2 = torch.nn.RMSNorm(h, eps=1e-5), torch.nn.RMSNorm(h, eps=1e-5)
		self.qkv, self.out = torch.nn.Linear(h, h + 2 * kv, bias=False), torch.nn.Linear(h, h, bias=False)
		self.up, self.down = torch.nn.Linear(h, 2 * L["ffn"], bias=False), torch.nn.Linear(L["ffn"], h, bias=False)

	def forward(self, x, cos, sin):
		n, seq, h = x.shape
		q, k, v = (t.view(n, seq, -1, h // L["heads"]).transpose(1, 2) for t in self.qkv(self.norm1(x)).split(self.widths, -1))
		att = F.scaled_dot_product_attention(rotate(q, cos, sin), rotate(k, cos, sin), v, is_causal=True, enable_gqa=True)
		x = x + self.out(att.transpose(1, 2).reshape(n, seq, h))
		gate, up = self.up(self.norm2(x)).chunk(2, -1)
		return x + self.down(F.silu(gate) * up)


class Llama(torch.nn.Module):
	def __init__(self):
		super().__init__()
		self.tokens = torch.nn.Embedding(L["vocab"], L["hidden"])
		torch.nn.init.normal_(self.tokens.weight, std=0.02)
		self.layers = torch.nn.ModuleList(LlamaBlock() for _ in range(L["layers"]))
		self.normf = torch.nn.RMSNorm(L["hidden"], eps=1e-5)

	def forward(self, tokens, targets):
		x, dim = self.tokens(tokens), L["hidden"] // L["heads"]
		angles = torch.arange(tokens.shape[1], device=x.device)[:, None] / L["theta"] ** (torch.arange(0, dim, 2, device=x.device) / dim)[None]
		cos, sin = (torch.cat((f(angles),) * 2, -1).to(torch.bfloat16 if torch.is_autocast_enabled() else x.dtype) for f in (torch.cos, torch.sin))
		for layer in self.layers:
			x = layer(x, cos, sin)
		return F.cross_entropy(F.linear(self.normf(x), self.tokens.weight).view(-1, L["vocab"]), targets.view(-1))


@torch.no_grad()
def set_weights(model, ref):
	for module in model.modules():
		if isinstance(module, torch.nn.Linear) and module.bias is not None:
			module.bias.zero_()
	def put(weight, name, unit):
		weight.copy_(ref.first(name, unit, weight.shape[0], weight.shape[1], C["layers"]))
	put(model.tokens.weight, "tokens", 0)
	put(model.positions.weight, "positions", 0)
	put(model.logits.weight, "logits", 0)
	for i, layer in enumerate(model.layers):
		for name in ("qkv", "out", "up", "down"):
			put(getattr(layer, name).weight, name, i + 1)


def main():
	parser = argparse.ArgumentParser()
	parser.add_argument("--model", default="gpt-305m", choices=["gpt-305m", "llama-3.2-1b"])
	parser.add_argument("--precision", default="bf16", choices=["bf16", "tf32", "fp32"])
	parser.add_argument("--batch", type=int, default=4)
	parser.add_argument("--seq", type=int, default=512)
	parser.add_argument("--mode", default="eager", choices=["eager", "compiled"])
	parser.add_argument("--steps", type=int, default=30)
	parser.add_argument("--losses", action="store_true")
	a = parser.parse_args()
	torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = a.precision == "tf32"
	torch.manual_seed(1)
	ref = reference()
	gpt = a.model == "gpt-305m"
	model, vocab = (Gpt() if gpt else Llama()).cuda(), (C if gpt else L)["vocab"]
	assert sum(p.numel() for p in model.parameters()) == (304992256 if gpt else 1235814400)
	if a.losses:
		set_weights(model, ref)
		batches = [torch.tensor([ref.sample(s * a.batch + i, C["vocab"], a.seq) for i in range(a.batch)]) for s in range(a.steps)]
	else:
		batches = [torch.randint(0, vocab, (a.batch, a.seq + 1)) for _ in range(4)]
	opt = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.01, fused=True)
	forward = torch.compile(model) if a.mode == "compiled" else model
	times = []
	for step in range(a.steps):
		rows = batches[step % len(batches)].cuda()
		torch.cuda.synchronize()
		from_s = time.perf_counter()
		with torch.autocast("cuda", dtype=torch.bfloat16, enabled=a.precision == "bf16"):
			loss = forward(rows[:, :-1].contiguous(), rows[:, 1:].contiguous())
		loss.backward()
		opt.step()
		opt.zero_grad(set_to_none=True)
		torch.cuda.synchronize()
		times.append(time.perf_counter() - from_s)
		if a.losses:
			print(f"loss,{a.precision},{a.batch},{step},{loss.item():.6f}", flush=True)
	step_s = statistics.median(times[min(5, a.steps - 1):])
	print(f"PyTorch {torch.__version__} {a.model} {a.mode} {a.precision} batch {a.batch}: median {step_s * 1e3:.3f} ms  {a.batch / step_s:.1f} samples/s"
		f"  peak {torch.cuda.max_memory_allocated() / 1e9:.2f} GB", flush=True)


if __name__ == "__main__":
	main()
