"""Plain PyTorch networks and one training step of each, as people write them: nothing fused by hand, nothing tuned.

A run is a dict: kind (gpt, llama, bert, vit, resnet50), layers, hidden, heads, kv_heads, ffn, vocab, seq, batch, precision (bf16: autocast
over fp32 weights; bf16-pure: weights in bf16; fp16; fp16-o2: weights and activations in fp16 under fp32 masters, as scripts of 2018 to 2022 did
with apex; tf32; fp32), mode (eager, compiled), attention (sdpa, plain), dropout,
optimizer (foreach, fused, loop).
"""
import contextlib
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Attention(nn.Module):
	def __init__(self, r):
		super().__init__()
		self.r, self.dim = r, r["hidden"] // r["heads"]
		kv = r.get("kv_heads") or r["heads"]
		self.kv, bias = kv, r["kind"] != "llama"
		self.qkv = nn.Linear(r["hidden"], (r["heads"] + 2 * kv) * self.dim, bias=bias)
		self.out = nn.Linear(r["hidden"], r["hidden"], bias=bias)

	def forward(self, x, rope):
		n, seq, h = x.shape
		heads, kv, d, causal = self.r["heads"], self.kv, self.dim, self.r["kind"] in ("gpt", "llama")
		q, k, v = self.qkv(x).split([heads * d, kv * d, kv * d], -1)
		q = q.view(n, seq, heads, d).transpose(1, 2)
		k = k.view(n, seq, kv, d).transpose(1, 2)
		v = v.view(n, seq, kv, d).transpose(1, 2)
		if rope is not None:
			q, k = rotate(q, rope), rotate(k, rope)
		p = self.r.get("dropout", 0.0) if self.training else 0.0
		if self.r.get("attention", "sdpa") == "sdpa":
			y = F.scaled_dot_product_attention(q, k, v, is_causal=causal, dropout_p=p, enable_gqa=kv != heads)
		else:
			if kv != heads:
				k, v = (t.repeat_interleave(heads // kv, 1) for t in (k, v))
			scores = q @ k.transpose(-2, -1) / math.sqrt(d)
			if causal:
				mask = torch.ones(seq, seq, dtype=torch.bool, device=x.device).triu(1)
				scores = scores.masked_fill(mask, float("-inf"))
			y = F.dropout(scores.softmax(-1), p, self.training) @ v
		return self.out(y.transpose(1, 2).reshape(n, seq, h))


def rotate(x, rope):
	cos, sin = rope
	a, b = x.chunk(2, -1)
	return x * cos + torch.cat((-b, a), -1) * sin


class Mlp(nn.Module):
	def __init__(self, r):
		super().__init__()
		h, f = r["hidden"], r["ffn"]
		self.gated = r["kind"] == "llama"
		if self.gated:
			self.gate, self.up, self.down = nn.Linear(h, f, bias=False), nn.Linear(h, f, bias=False), nn.Linear(f, h, bias=False)
		else:
			self.up, self.down = nn.Linear(h, f), nn.Linear(f, h)

	def forward(self, x):
		if self.gated:
			return self.down(F.silu(self.gate(x)) * self.up(x))
		return self.down(F.gelu(self.up(x)))


class Block(nn.Module):
	def __init__(self, r):
		super().__init__()
		norm = nn.RMSNorm if r["kind"] == "llama" else nn.LayerNorm
		self.norm1, self.norm2 = norm(r["hidden"]), norm(r["hidden"])
		self.att, self.mlp = Attention(r), Mlp(r)
		self.p, self.post = r.get("dropout", 0.0), r["kind"] == "bert"

	def drop(self, x):
		return F.dropout(x, self.p, self.training) if self.p else x

	def forward(self, x, rope):
		if self.post:
			x = self.norm1(x + self.drop(self.att(x, rope)))
			return self.norm2(x + self.drop(self.mlp(x)))
		x = x + self.drop(self.att(self.norm1(x), rope))
		return x + self.drop(self.mlp(self.norm2(x)))


class Transformer(nn.Module):
	"""gpt and llama: next token; bert: every token; vit: one class per image."""

	def __init__(self, r):
		super().__init__()
		self.r, h, kind = r, r["hidden"], r["kind"]
		if kind == "vit":
			self.patch = nn.Conv2d(3, h, r["patch"], r["patch"])
			self.cls = nn.Parameter(torch.zeros(1, 1, h))
			self.positions = nn.Parameter(torch.zeros(1, (r["image"] // r["patch"]) ** 2 + 1, h))
		else:
			self.tokens = nn.Embedding(r["vocab"], h)
			if kind != "llama":
				self.positions = nn.Embedding(r["seq"], h)
			if kind == "bert":
				self.embed_norm = nn.LayerNorm(h)
		self.layers = nn.ModuleList(Block(r) for _ in range(r["layers"]))
		self.norm = (nn.RMSNorm if kind == "llama" else nn.LayerNorm)(h) if kind != "bert" else nn.Identity()
		self.head = nn.Linear(h, r["vocab"], bias=kind in ("vit", "bert"))
		if kind == "llama":
			d = h // r["heads"]
			angle = torch.outer(torch.arange(r["seq"]).float(), 10000.0 ** (-torch.arange(0, d, 2).float() / d))
			angle = torch.cat((angle, angle), -1)
			self.register_buffer("cos", angle.cos()[None, None], persistent=False)
			self.register_buffer("sin", angle.sin()[None, None], persistent=False)

	def forward(self, data, target):
		kind, rope = self.r["kind"], None
		if kind == "vit":
			x = self.patch(data).flatten(2).transpose(1, 2)
			x = torch.cat((self.cls.expand(x.shape[0], -1, -1), x), 1) + self.positions
		else:
			x = self.tokens(data)
			if kind == "llama":
				rope = (self.cos, self.sin)
			else:
				x = x + self.positions.weight[: data.shape[1]]
			if kind == "bert":
				x = self.embed_norm(x)
		if self.r.get("dropout"):
			x = F.dropout(x, self.r["dropout"], self.training)
		for layer in self.layers:
			x = layer(x, rope)
		x = self.norm(x[:, 0] if kind == "vit" else x)
		return F.cross_entropy(self.head(x).flatten(0, -2), target.flatten())


class Bottleneck(nn.Module):
	def __init__(self, c_in, c, stride):
		super().__init__()
		self.body = nn.Sequential(nn.Conv2d(c_in, c, 1, bias=False), nn.BatchNorm2d(c), nn.ReLU(True), nn.Conv2d(c, c, 3, stride, 1, bias=False),
			nn.BatchNorm2d(c), nn.ReLU(True), nn.Conv2d(c, 4 * c, 1, bias=False), nn.BatchNorm2d(4 * c))
		self.skip = nn.Sequential(nn.Conv2d(c_in, 4 * c, 1, stride, bias=False), nn.BatchNorm2d(4 * c)) if stride > 1 or c_in != 4 * c else None

	def forward(self, x):
		return F.relu(self.body(x) + (self.skip(x) if self.skip is not None else x), True)


class Resnet50(nn.Module):
	def __init__(self, r):
		super().__init__()
		layers, c_in = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)], 64
		for c, n, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
			for i in range(n):
				layers.append(Bottleneck(c_in, c, stride if i == 0 else 1))
				c_in = 4 * c
		self.body, self.head = nn.Sequential(*layers), nn.Linear(2048, r["vocab"])

	def forward(self, data, target):
		return F.cross_entropy(self.head(self.body(data).mean((2, 3))), target)


class Masters:
	"""The work of apex O2 with clipping per parameter: gradients widened and unscaled, norm, clipping, a fused update of the fp32 masters, and the
	copy back."""

	def __init__(self, model):
		self.params = list(model.parameters())
		self.masters = [p.detach().float().requires_grad_() for p in self.params]
		self.opt = torch.optim.AdamW(self.masters, lr=1e-4, fused=True)

	@torch.no_grad()
	def step(self):
		grads = [torch.empty_like(m) for m in self.masters]
		torch._foreach_copy_(grads, [p.grad for p in self.params])
		torch._foreach_mul_(grads, 1 / 1024.0)
		norm = torch.linalg.vector_norm(torch.stack(torch._foreach_norm(grads)))
		torch._foreach_mul_(grads, torch.clamp(1.0 / (norm + 1e-6), max=1.0))
		for m, g in zip(self.masters, grads):
			m.grad = g
		self.opt.step()
		torch._foreach_copy_(self.params, self.masters)

	def zero_grad(self, set_to_none):
		torch._foreach_zero_([p.grad for p in self.params])


class Run:
	"""Model, data, optimizer; step() runs one training step."""

	def __init__(self, r):
		self.r = r
		tf32 = r["precision"] != "fp32"
		torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
		torch.manual_seed(0)
		with torch.device("cuda"):
			self.model = (Resnet50 if r["kind"] == "resnet50" else Transformer)(r)
		n = r["batch"]
		if r["kind"] in ("vit", "resnet50"):
			self.data = torch.randn(n, 3, r["image"], r["image"], device="cuda")
			self.target = torch.randint(0, r["vocab"], (n,), device="cuda")
		else:
			self.data = torch.randint(0, r["vocab"], (n, r["seq"]), device="cuda")
			self.target = torch.randint(0, r["vocab"], (n, r["seq"]), device="cuda")
		if r["precision"] == "bf16-pure":
			self.model = self.model.bfloat16()
			if self.data.is_floating_point():
				self.data = self.data.bfloat16()
		if r.get("layout") == "channels_last":
			self.model, self.data = self.model.to(memory_format=torch.channels_last), self.data.to(memory_format=torch.channels_last)
		if r["precision"] == "fp16-o2":
			self.model = self.model.half()
		kind = r.get("optimizer", "foreach")
		self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-4, **({"fused": True} if kind == "fused" else {"foreach": kind == "foreach"}))
		if r["precision"] == "fp16-o2":
			self.opt = Masters(self.model)
		if r["kind"] == "resnet50":
			self.opt = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9)
		self.forward = torch.compile(self.model) if r["mode"] == "compiled" else self.model
		half = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(r["precision"])
		self.cast = (lambda: torch.autocast("cuda", dtype=half)) if half else contextlib.nullcontext

	def step(self):
		with self.cast():
			loss = self.forward(self.data, self.target)
		loss.backward()
		self.opt.step()
		self.opt.zero_grad(set_to_none=True)
		return loss
