#!/usr/bin/env python3
"""Fine-tuning steps in plain PyTorch beside predictions that were made before: twenty runs.

	run.py predict [--jeoul PATH] [--on h200-sxm] > predicted.csv     anywhere; no GPU, no torch
	run.py measure predicted.csv > measured.csv                       on the machine; needs torch, nothing else
	run.py score measured.csv

Models are written as Hugging Face's are: norms in fp32, rotary positions and loss operation by operation, adapters in fp32 under autocast.
A packed base is 4-bit indices and a scale of every 64 weights, looked up and scaled before every product; the lookup is plain PyTorch, not
bitsandbytes' kernel. ViT-L and DiT-XL are trained whole in bf16 autocast.
"""
import argparse
import csv
import json
import math
import statistics
import subprocess
import sys

COLUMNS = ["name", "kind", "batch", "seq", "rank", "targets", "base", "recompute", "args",
	"predicted_s", "lo_s", "hi_s", "predicted_GiB", "measured_s", "allocated_GiB", "reserved_GiB", "inside"]
LLAMA = dict(layers=32, hidden=4096, heads=32, kv_heads=8, ffn=14336, vocab=128256)


def llama(name, batch, seq, rank, targets, base, recompute):
	args = ["llama-3-8b", "--tune", "lora", "--rank", str(rank), "--targets", targets, "--base", base, "--recompute", recompute,
		"--batch", str(batch), "--seq", str(seq), "--framework", "eager"]
	return dict(name=name, kind="llama", batch=batch, seq=seq, rank=rank, targets=targets, base=base, recompute=recompute, args=args)


NAMES = {"vit": ["vit_large_patch16_224", "vit-large"], "dit": ["dit_xl_2", "dit-xl-2"]}  # possible names in the catalog


def network(kind, batch):
	args = [NAMES[kind][0], "--batch", str(batch), "--framework", "eager", "--input", "synthetic"]
	return dict(name=f"{kind}-b{batch}", kind=kind, batch=batch, seq="", rank="", targets="", base="", recompute="none", args=args)


RUNS = [
	llama("lora-b1-s512", 1, 512, 16, "all", "16bit", "none"),
	llama("lora-b1-s2048", 1, 2048, 16, "all", "16bit", "none"),
	llama("lora-b2-s2048-full", 2, 2048, 16, "all", "16bit", "full"),
	llama("lora-b4-s1024", 4, 1024, 8, "attention", "16bit", "none"),
	llama("lora-b4-s2048-full", 4, 2048, 64, "all", "16bit", "full"),
	llama("lora-b1-s8192-full", 1, 8192, 16, "all", "16bit", "full"),
	llama("lora-b8-s512-qv", 8, 512, 8, "q,v", "16bit", "none"),
	llama("lora-b16-s512-full", 16, 512, 16, "all", "16bit", "full"),
	llama("qlora-b1-s512", 1, 512, 16, "all", "nf4", "none"),
	llama("qlora-b1-s2048-full", 1, 2048, 16, "all", "nf4", "full"),
	llama("qlora-b2-s2048-full", 2, 2048, 64, "all", "nf4", "full"),
	llama("qlora-b4-s1024-full", 4, 1024, 16, "attention", "nf4", "full"),
	llama("qlora-b8-s2048-full", 8, 2048, 16, "all", "nf4", "full"),
	llama("qlora-b1-s4096", 1, 4096, 16, "q,v", "nf4", "none"),
	network("vit", 32),
	network("vit", 128),
	network("vit", 256),
	network("dit", 16),
	network("dit", 64),
	network("dit", 128),
]


def predict(options):
	out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
	out.writeheader()
	for run in RUNS:
		row = dict(run, args=" ".join(run["args"]))
		for name in NAMES.get(run["kind"], run["args"][:1]):
			asked = [options.jeoul, "predict", name, *run["args"][1:], "--on", options.on, "--json"]
			done = subprocess.run(asked, capture_output=True, text=True)
			if done.returncode == 0:
				break
		if done.returncode == 0:
			said = json.loads(done.stdout)
			step = said["step_s"]
			row.update(predicted_s=f"{step['value']:.6g}", lo_s=f"{step['lo']:.6g}", hi_s=f"{step['hi']:.6g}",
				predicted_GiB=f"{said['memory_B']['total'] / 2**30:.4g}")
		else:
			print(f"{run['name']}: {done.stderr.strip()}", file=sys.stderr)
		out.writerow(row)


# --- measured programs

def build(torch):
	nn, F = torch.nn, torch.nn.functional

	class Norm(nn.Module):
		def __init__(self, hidden):
			super().__init__()
			self.weight = nn.Parameter(torch.ones(hidden, dtype=torch.bfloat16), requires_grad=False)

		def forward(self, x):
			wide = x.to(torch.float32)
			wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-5)
			return self.weight * wide.to(x.dtype)

	class Unpack(torch.autograd.Function):
		"""x times the unpacked weight; backward unpacks it again."""

		@staticmethod
		def unpack(packed, scale, table, shape):
			pairs = F.embedding(packed.to(torch.int32), table)
			return (pairs.view(-1, 64) * scale[:, None]).view(shape)

		@staticmethod
		def forward(ctx, x, packed, scale, table, shape):
			ctx.kept = (packed, scale, table, shape)
			return x @ Unpack.unpack(*ctx.kept).t()

		@staticmethod
		def backward(ctx, grad):
			return grad @ Unpack.unpack(*ctx.kept), None, None, None, None

	class Linear(nn.Module):
		"""A frozen linear layer, in 16 bits or packed; with an adapter if rank is not 0."""

		def __init__(self, n_in, n_out, rank, packed):
			super().__init__()
			self.packed = packed
			if packed:
				self.shape = (n_out, n_in)
				self.register_buffer("codes", torch.randint(0, 256, (n_out * n_in // 2,), dtype=torch.uint8))
				self.register_buffer("scale", torch.full((n_out * n_in // 64,), 0.02, dtype=torch.bfloat16))
				levels = torch.linspace(-1, 1, 16)
				pairs = torch.stack([levels.repeat_interleave(16), levels.repeat(16)], 1)
				self.register_buffer("table", pairs.to(torch.bfloat16))
			else:
				self.weight = nn.Parameter(torch.empty(n_out, n_in, dtype=torch.bfloat16).normal_(std=0.02), requires_grad=False)
			self.rank = rank
			if rank:
				self.down = nn.Linear(n_in, rank, bias=False)
				self.up = nn.Linear(rank, n_out, bias=False)

		def forward(self, x):
			y = Unpack.apply(x, self.codes, self.scale, self.table, self.shape) if self.packed else F.linear(x, self.weight)
			return y + self.up(self.down(x.to(self.down.weight.dtype))).to(y.dtype) * 2.0 if self.rank else y

	def rotate(x, cos, sin):
		half = x.shape[-1] // 2
		return x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin

	class Layer(nn.Module):
		def __init__(self, run):
			super().__init__()
			h, d = LLAMA["hidden"], LLAMA["hidden"] // LLAMA["heads"]
			named = {"all": "q,k,v,o,gate,up,down", "attention": "q,k,v,o"}.get(run["targets"], run["targets"]).split(",")
			shapes = dict(q=(h, h), k=(h, LLAMA["kv_heads"] * d), v=(h, LLAMA["kv_heads"] * d), o=(h, h),
				gate=(h, LLAMA["ffn"]), up=(h, LLAMA["ffn"]), down=(LLAMA["ffn"], h))
			for name, (n_in, n_out) in shapes.items():
				setattr(self, name, Linear(n_in, n_out, int(run["rank"]) if name in named else 0, run["base"] == "nf4"))
			self.before, self.between = Norm(h), Norm(h)

		def forward(self, x, cos, sin):
			b, s, h = x.shape
			d = h // LLAMA["heads"]
			n = self.before(x)
			q = rotate(self.q(n).view(b, s, -1, d).transpose(1, 2), cos, sin)
			k = rotate(self.k(n).view(b, s, -1, d).transpose(1, 2), cos, sin)
			v = self.v(n).view(b, s, -1, d).transpose(1, 2)
			groups = LLAMA["heads"] // LLAMA["kv_heads"]
			k, v = k.repeat_interleave(groups, 1), v.repeat_interleave(groups, 1)
			y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
			x = x + self.o(y.transpose(1, 2).reshape(b, s, h))
			n = self.between(x)
			return x + self.down(F.silu(self.gate(n)) * self.up(n))

	class Llama(nn.Module):
		def __init__(self, run):
			super().__init__()
			h, vocab = LLAMA["hidden"], LLAMA["vocab"]
			self.run = run
			self.embed = nn.Embedding(vocab, h, dtype=torch.bfloat16)
			self.layers = nn.ModuleList(Layer(run) for _ in range(LLAMA["layers"]))
			self.norm, self.head = Norm(h), Linear(h, vocab, 0, False)
			self.embed.weight.requires_grad_(False)

		def forward(self, tokens):
			from torch.utils.checkpoint import checkpoint
			s, d = tokens.shape[1], LLAMA["hidden"] // LLAMA["heads"]
			angles = torch.arange(s, device=tokens.device)[:, None] / 5e5 ** (torch.arange(0, d, 2, device=tokens.device) / d)[None]
			cos, sin = (torch.cat((f(angles),) * 2, -1).to(torch.bfloat16) for f in (torch.cos, torch.sin))
			x = self.embed(tokens).requires_grad_()
			for layer in self.layers:
				x = checkpoint(layer, x, cos, sin, use_reentrant=False) if self.run["recompute"] == "full" else layer(x, cos, sin)
			logits = self.head(self.norm(x)).float()
			shifted, wanted = logits[:, :-1].contiguous(), tokens[:, 1:].contiguous()
			return F.cross_entropy(shifted.view(-1, shifted.shape[-1]), wanted.view(-1))

	class Block(nn.Module):
		"""A block of ViT; for DiT with scale, shift and gate computed from step and class."""

		def __init__(self, hidden, heads, adaptive):
			super().__init__()
			self.heads, self.adaptive = heads, adaptive
			self.n1 = nn.LayerNorm(hidden, elementwise_affine=not adaptive)
			self.n2 = nn.LayerNorm(hidden, elementwise_affine=not adaptive)
			self.qkv, self.out = nn.Linear(hidden, 3 * hidden), nn.Linear(hidden, hidden)
			self.up, self.down = nn.Linear(hidden, 4 * hidden), nn.Linear(4 * hidden, hidden)
			if adaptive:
				self.change = nn.Linear(hidden, 6 * hidden)

		def attend(self, x):
			b, s, h = x.shape
			q, k, v = self.qkv(x).view(b, s, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
			return self.out(F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, h))

		def forward(self, x, c=None):
			if not self.adaptive:
				x = x + self.attend(self.n1(x))
				return x + self.down(F.gelu(self.up(self.n2(x))))
			s1, c1, g1, s2, c2, g2 = self.change(F.silu(c))[:, None].chunk(6, -1)
			x = x + g1 * self.attend(self.n1(x) * (1 + c1) + s1)
			return x + g2 * self.down(F.gelu(self.up(self.n2(x) * (1 + c2) + s2), approximate="tanh"))

	class Vision(nn.Module):
		def __init__(self, kind):
			super().__init__()
			self.kind, self.vit = kind, kind == "vit"
			hidden, heads, layers, n, patch, channels = (1024, 16, 24, 197, 16, 3) if self.vit else (1152, 16, 28, 256, 2, 4)
			self.side = 224 if self.vit else 32
			self.channels = channels
			self.cut = nn.Conv2d(channels, hidden, patch, patch)
			self.place = nn.Parameter(torch.zeros(1, n, hidden))
			self.first = nn.Parameter(torch.zeros(1, 1, hidden)) if self.vit else None
			self.time = None if self.vit else nn.Sequential(nn.Linear(256, hidden), nn.SiLU(), nn.Linear(hidden, hidden))
			self.blocks = nn.ModuleList(Block(hidden, heads, not self.vit) for _ in range(layers))
			self.norm = nn.LayerNorm(hidden)
			self.head = nn.Linear(hidden, 1000 if self.vit else patch * patch * 2 * channels)

		def forward(self, pictures):
			x = self.cut(pictures).flatten(2).transpose(1, 2)
			c = None
			if self.vit:
				x = torch.cat((self.first.expand(len(x), -1, -1).to(x.dtype), x), 1)
			else:
				c = self.time(torch.randn(len(x), 256, device=x.device))
			x = x + self.place
			for block in self.blocks:
				x = block(x, c)
			y = self.head(self.norm(x[:, 0] if self.vit else x))
			return F.cross_entropy(y, torch.zeros(len(y), dtype=torch.long, device=y.device)) if self.vit else y.float().pow(2).mean()

	return Llama, Vision


def measure_one(torch, run):
	Llama, Vision = build(torch)
	batch, device = int(run["batch"]), torch.device("cuda")
	torch.manual_seed(1)
	torch.cuda.empty_cache()
	torch.cuda.reset_peak_memory_stats()
	with device:
		model = Llama(run) if run["kind"] == "llama" else Vision(run["kind"])
	if run["kind"] == "llama":
		given = torch.randint(0, LLAMA["vocab"], (batch, int(run["seq"])), device=device)
	else:
		given = torch.randn(batch, model.channels, model.side, model.side, device=device)
	optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5)

	def step():
		with torch.autocast("cuda", torch.bfloat16):
			loss = model(given)
		loss.backward()
		optimizer.step()
		optimizer.zero_grad()

	for _ in range(4):
		step()
	times = []
	for _ in range(12):
		begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
		torch.cuda.synchronize()
		begin.record()
		step()
		end.record()
		torch.cuda.synchronize()
		times.append(begin.elapsed_time(end) / 1e3)
	return statistics.median(times), torch.cuda.max_memory_allocated() / 2**30, torch.cuda.max_memory_reserved() / 2**30


def measure(options):
	import gc

	import torch
	out = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
	out.writeheader()
	with open(options.file, newline="") as file:
		runs = list(csv.DictReader(file))
	for run in runs:
		try:
			step_s, allocated, reserved = measure_one(torch, run)
			run.update(measured_s=f"{step_s:.6g}", allocated_GiB=f"{allocated:.4g}", reserved_GiB=f"{reserved:.4g}")
			if run["lo_s"]:
				run["inside"] = "y" if float(run["lo_s"]) <= step_s <= float(run["hi_s"]) else "n"
		except torch.cuda.OutOfMemoryError:
			print(f"{run['name']}: out of memory", file=sys.stderr)
		out.writerow(run)
		sys.stdout.flush()
		gc.collect()


def score(options):
	with open(options.file, newline="") as file:
		runs = [r for r in csv.DictReader(file) if r["predicted_s"] and r["measured_s"]]
	off = sorted(abs(math.log(float(r["predicted_s"]) / float(r["measured_s"]))) for r in runs)
	memory = sorted(abs(math.log(float(r["predicted_GiB"]) / float(r["reserved_GiB"]))) for r in runs)
	inside = sum(r["inside"] == "y" for r in runs)
	print(f"{len(runs)} runs: {inside} inside ({100 * inside / max(1, len(runs)):.0f} %); |ln| of time: median {statistics.median(off):.3f}, "
		f"largest {off[-1]:.3f}; of memory (reserved): median {statistics.median(memory):.3f}")


def main():
	parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
	parts = parser.add_subparsers(dest="part", required=True)
	first = parts.add_parser("predict")
	first.add_argument("--jeoul", default="jeoul")
	first.add_argument("--on", default="h200-sxm")
	for name in ("measure", "score"):
		parts.add_parser(name).add_argument("file")
	options = parser.parse_args()
	{"predict": predict, "measure": measure, "score": score}[options.part](options)


main()
