"""Properties of the machine that affect a run and cannot be predicted: processor, clocks, versions, launch times."""
import os
import statistics
import subprocess
import time

import torch


def processor():
	try:
		with open("/proc/cpuinfo") as file:
			text = file.read()
		field = lambda key: [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith(key)]
		mhz = [float(x) for x in field("cpu MHz")]
		return dict(cpu=(field("model name") or ["?"])[0], cores=os.cpu_count(), cpu_MHz=round(statistics.median(mhz)) if mhz else None)
	except OSError:
		return dict(cpu="?", cores=os.cpu_count())


def smi(*fields):
	try:
		out = subprocess.run(["nvidia-smi", "--query-gpu=" + ",".join(fields), "--format=csv,noheader"], capture_output=True, text=True, timeout=20).stdout
		return dict(zip(fields, (x.strip() for x in out.splitlines()[0].split(","))))
	except (OSError, IndexError, subprocess.SubprocessError):
		return {}


def per_call(call, n=2000):
	"""Median over five groups: seconds per call until the host is free, and until the device has finished."""
	host, both = [], []
	for _ in range(6):
		torch.cuda.synchronize()
		from_s = time.perf_counter()
		for _ in range(n):
			call()
		host.append((time.perf_counter() - from_s) / n)
		torch.cuda.synchronize()
		both.append((time.perf_counter() - from_s) / n)
	return statistics.median(host[1:]), statistics.median(both[1:])


def launch_costs():
	"""Seconds per call: a one-element kernel below autograd, forward and backward of a linear layer, 100,000 iterations of a Python loop."""
	x, w = torch.zeros(1, device="cuda"), torch.zeros(8, 8, device="cuda", requires_grad=True)
	v, out = torch.zeros(8, 8, device="cuda"), {}
	with torch.no_grad():
		out["launch_s"], out["launch_sync_s"] = per_call(lambda: x.add_(1))
		out["matmul_s"] = per_call(lambda: torch.mm(v, v))[0]
		out["view_s"] = per_call(lambda: v.view(64))[0]
	out["linear_step_s"] = per_call(lambda: torch.nn.functional.linear(v, w).sum().backward(), 300)[0]
	from_s = time.perf_counter()
	n = 0
	for i in range(100000):
		n += i & 3
	out["python_s"] = time.perf_counter() - from_s
	return {k: float(f"{s:.4g}") for k, s in out.items()}


def figures():
	out = dict(processor(), torch=torch.__version__, **smi("name", "driver_version", "clocks.sm", "clocks.mem", "power.limit", "clocks.max.sm"))
	for package in ("torchvision", "transformers", "torch_geometric", "torchaudio"):
		try:
			out[package] = __import__(package).__version__
		except Exception:
			out[package] = None
	if torch.cuda.is_available():
		out.update(cuda=torch.version.cuda, cudnn=torch.backends.cudnn.version(), **launch_costs())
	return out
