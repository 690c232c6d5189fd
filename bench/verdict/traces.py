# python3 traces.py OUT_FOLDER [NAME...]: records profiler traces of small training loops on a GPU, 12 with one injected defect each and 4 healthy.
# Then: for t in OUT/*.gz; do jeoul check $t; done. Expected: the defect comes first, and healthy traces have no finding above 5 % of a step.
# Each trace: 3 steps with shapes, gzipped; all are in OUT/traces.tar. OUT/traces.log lists programs that failed.
import gzip, json, os, sys, tarfile, time, traceback
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.profiler import ProfilerActivity, profile, schedule

OUT = sys.argv[1]
os.makedirs(OUT, exist_ok=True)
START = time.time()
DEV = torch.device("cuda")
torch.manual_seed(1)
torch.backends.cudnn.benchmark = True
LOG = []


class Attention(nn.Module):
	def __init__(self, d, heads, how, dropout):
		super().__init__()
		self.qkv, self.out = nn.Linear(d, 3 * d, bias=False), nn.Linear(d, d, bias=False)
		self.heads, self.how, self.dropout = heads, how, dropout

	def forward(self, x):
		b, t, d = x.shape
		q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
		if self.how == "sdpa":
			y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
		elif self.how == "eager":
			s = q @ k.transpose(-2, -1) / (d // self.heads) ** 0.5
			mask = torch.ones(t, t, dtype=torch.bool, device=x.device).tril()
			y = F.softmax(s.masked_fill(~mask, float("-inf")), dim=-1) @ v
		elif self.how == "fp32":
			y = F.scaled_dot_product_attention(q.float(), k.float(), v.float(), is_causal=True).to(x.dtype)
		else:  # head by head
			parts = []
			for h in range(self.heads):
				s = q[:, h] @ k[:, h].transpose(-2, -1) / (d // self.heads) ** 0.5
				parts.append(F.softmax(s, dim=-1) @ v[:, h])
			y = torch.stack(parts, 1)
		return self.out(y.transpose(1, 2).reshape(b, t, d))


class Block(nn.Module):
	def __init__(self, d, heads, how, dropout, guard):
		super().__init__()
		self.n1, self.n2 = nn.LayerNorm(d), nn.LayerNorm(d)
		self.a = Attention(d, heads, how, dropout)
		self.up, self.down = nn.Linear(d, 4 * d, bias=False), nn.Linear(4 * d, d, bias=False)
		self.p, self.guard = dropout, guard

	def drop(self, x):
		return F.dropout(x, self.p, True) if self.p else x

	def forward(self, x):
		x = x + self.drop(self.a(self.drop(self.n1(x))))
		x = x + self.drop(self.down(self.drop(F.gelu(self.up(self.drop(self.n2(x)))))))
		if self.guard and not torch.isfinite(x).all().item():
			raise ValueError("not finite")
		return x


class GPT(nn.Module):
	def __init__(self, d=1024, layers=4, heads=16, vocab=50304, t=1024, how="sdpa", dropout=0.0, guard=False):
		super().__init__()
		self.wte, self.wpe = nn.Embedding(vocab, d), nn.Embedding(t, d)
		self.blocks = nn.ModuleList([Block(d, heads, how, dropout, guard) for _ in range(layers)])
		self.nf, self.head = nn.LayerNorm(d), nn.Linear(d, vocab, bias=False)

	def forward(self, ids):
		x = self.wte(ids) + self.wpe.weight[: ids.shape[1]]
		for b in self.blocks:
			x = b(x)
		return self.head(self.nf(x))


class Bottleneck(nn.Module):
	def __init__(self, i, m, stride):
		super().__init__()
		o = 4 * m
		self.f = nn.Sequential(nn.Conv2d(i, m, 1, bias=False), nn.BatchNorm2d(m), nn.ReLU(True), nn.Conv2d(m, m, 3, stride, 1, bias=False),
				       nn.BatchNorm2d(m), nn.ReLU(True), nn.Conv2d(m, o, 1, bias=False), nn.BatchNorm2d(o))
		self.s = nn.Sequential(nn.Conv2d(i, o, 1, stride, bias=False), nn.BatchNorm2d(o)) if stride > 1 or i != o else nn.Identity()

	def forward(self, x):
		return F.relu(self.f(x) + self.s(x), inplace=True)


def resnet50():
	parts, i = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(True), nn.MaxPool2d(3, 2, 1)], 64
	for m, n, s in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
		for k in range(n):
			parts.append(Bottleneck(i, m, s if k == 0 else 1))
			i = 4 * m
	return nn.Sequential(*parts, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000))


class Tokens(torch.utils.data.Dataset):
	def __init__(self, t, vocab, slow_s):
		self.t, self.vocab, self.slow_s = t, vocab, slow_s

	def __len__(self):
		return 1000

	def __getitem__(self, i):
		end = time.perf_counter() + self.slow_s
		while time.perf_counter() < end:  # tokenizing
			sum(range(200))
		return torch.randint(0, self.vocab, (self.t + 1,))


def record(name, step, n_warm=4):
	for _ in range(n_warm):
		step()
	torch.cuda.synchronize()
	path = os.path.join(OUT, name + ".json")
	with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True, schedule=schedule(wait=0, warmup=1, active=3, repeat=1), on_trace_ready=lambda p: p.export_chrome_trace(path)) as prof:
		for _ in range(4):
			step()
			prof.step()
		torch.cuda.synchronize()
	with open(path, "rb") as f:
		data = f.read()
	os.remove(path)
	with gzip.open(path + ".gz", "wb", 6) as f:
		f.write(data)
	begin = time.perf_counter()
	for _ in range(3):
		step()
	torch.cuda.synchronize()
	LOG.append("%s: step %.2f ms without profiler, %d B of JSON, %d gz" % (name, (time.perf_counter() - begin) / 3 * 1e3, len(data), os.path.getsize(path + ".gz")))


def gpt(name, b=8, t=1024, vocab=50304, dtype=torch.bfloat16, autocast=False, adam="fused", loader=False, slow_s=0.0, micro=1, compiled=False, **kw):
	m = GPT(vocab=vocab, t=t, **kw).to(DEV).to(torch.float32 if autocast else dtype)
	named = dict(fused=True) if adam == "fused" else dict(foreach=True) if adam == "foreach" else dict(foreach=False, fused=False)
	opt = torch.optim.AdamW(m.parameters(), lr=1e-4, **named)
	f = torch.compile(m) if compiled else m
	if loader:
		it = iter(torch.utils.data.DataLoader(Tokens(t, vocab, slow_s), batch_size=b, pin_memory=True, num_workers=0))
		get = lambda: next(it).to(DEV, non_blocking=True)
	else:
		ids = torch.randint(0, vocab, (b, t + 1), device=DEV)
		get = lambda: ids

	def step():
		for _ in range(micro):
			x = get()
			with torch.autocast("cuda", torch.bfloat16, enabled=autocast):
				logits = f(x[:, :-1])
				loss = F.cross_entropy(logits.view(-1, logits.shape[-1]), x[:, 1:].reshape(-1))
			loss.backward()
		opt.step()
		opt.zero_grad(set_to_none=True)

	record(name, step, 6 if compiled else 4)


def net(name, b=256, layout="nhwc", copies="none", n_workers=0):
	m = resnet50().to(DEV)
	if layout == "nhwc":
		m = m.to(memory_format=torch.channels_last)
	opt = torch.optim.SGD(m.parameters(), lr=0.1, momentum=0.9, fused=True)
	host = torch.randn(b, 3, 224, 224)
	if layout == "nhwc":
		host = host.contiguous(memory_format=torch.channels_last)
	y, there = torch.randint(0, 1000, (b,), device=DEV), host.to(DEV)

	def step():
		x = host.to(DEV) if copies == "pageable" else there
		with torch.autocast("cuda", torch.bfloat16):
			loss = F.cross_entropy(m(x), y)
		loss.backward()
		opt.step()
		opt.zero_grad(set_to_none=True)

	record(name, step)


def wide_mlp(name):
	"""Many parameters in many small tensors, trained by a loop over tensors."""
	m = nn.Sequential(*[nn.Sequential(nn.Linear(1024, 1024), nn.GELU()) for _ in range(64)]).to(DEV).to(torch.bfloat16)
	opt = torch.optim.AdamW(m.parameters(), lr=1e-4, foreach=False, fused=False)
	x = torch.randn(32768, 1024, device=DEV, dtype=torch.bfloat16)

	def step():
		m(x).square().mean().backward()
		opt.step()
		opt.zero_grad(set_to_none=True)

	record(name, step)


PROGRAMS = [
	("defect_sync", lambda n: gpt(n, b=16, t=512, layers=12, vocab=8192, guard=True)),
	("defect_fp32_gemm", lambda n: gpt(n, dtype=torch.float32)),
	("defect_fp32_attention", lambda n: gpt(n, b=4, t=2048, how="fp32", vocab=8192)),
	("defect_odd_vocabulary", lambda n: gpt(n, vocab=50257, layers=2)),
	("defect_unfused_optimizer", lambda n: wide_mlp(n)),
	("defect_slow_loader", lambda n: gpt(n, loader=True, slow_s=0.008)),
	("defect_pageable_copies", lambda n: net(n, copies="pageable")),
	("defect_small_kernels", lambda n: gpt(n, b=1, t=256, d=512, layers=4, heads=8, how="heads", vocab=8192)),
	("defect_eager_attention", lambda n: gpt(n, b=4, t=2048, how="eager", vocab=8192)),
	("defect_nchw_layout", lambda n: net(n, layout="nchw")),
	("defect_casts", lambda n: gpt(n, b=1, t=512, d=4096, layers=2, heads=32, vocab=8192, autocast=True, micro=4)),
	("defect_dropout", lambda n: gpt(n, b=16, dropout=0.1, vocab=8192)),
	("healthy_gpt", lambda n: gpt(n, b=8, d=2048, layers=4)),
	("healthy_resnet50", lambda n: net(n)),
	("healthy_gpt_loader", lambda n: gpt(n, b=16, d=2048, layers=3, loader=True, vocab=32768)),
	("healthy_gpt_compiled", lambda n: gpt(n, b=8, d=2048, layers=2, vocab=32768, compiled=True)),
]

for name, run in PROGRAMS:
	if len(sys.argv) > 2 and name not in sys.argv[2:]:
		continue
	if time.time() - START > 78:
		LOG.append("%s: left out, out of time" % name)
		continue
	at = time.time()
	try:
		run(name)
	except BaseException:
		LOG.append("%s: FAILED\n%s" % (name, traceback.format_exc()[-1500:]))
	torch.cuda.empty_cache()
	LOG[-1] += " (%.1f s)" % (time.time() - at)
	print(LOG[-1], flush=True)

with open(os.path.join(OUT, "traces.log"), "w") as f:
	f.write("torch %s, %s\n" % (torch.__version__, torch.cuda.get_device_name()) + "\n".join(LOG) + "\n")
sizes, total = [], 0
with tarfile.open(os.path.join(OUT, "traces.tar"), "w") as tar:
	for name in sorted(os.listdir(OUT)):
		if name.endswith(".json.gz"):
			size = os.path.getsize(os.path.join(OUT, name))
			if total + size < 12 << 20:
				tar.add(os.path.join(OUT, name), name)
				total += size
			os.remove(os.path.join(OUT, name))
	tar.add(os.path.join(OUT, "traces.log"), "traces.log")
print("%d B in all, %.0f s" % (total, time.time() - START))
