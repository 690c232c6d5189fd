#!/usr/bin/env python3
"""Lists all kernels of one training step by the operator that launched them: trace.py RUNS.csv OUT.csv

One line per run and pair (operator, kernel): launches, microseconds, and bytes of the operator's inputs and outputs (each tensor once, views not
counted). For Triton kernels of compiled runs, the bytes of their tensor arguments.
"""
import csv
import gc
import sys
from collections import defaultdict

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten

from models import Run
from steps import number

VIEWS = {"view", "_unsafe_view", "t", "transpose", "permute", "expand", "slice", "select", "split", "split_with_sizes", "unsqueeze", "squeeze", "detach", "alias",
	"as_strided", "chunk", "unbind", "_reshape_alias", "reshape", "empty_like", "empty", "new_empty", "empty_strided", "new_empty_strided", "narrow"}


class Bytes(TorchDispatchMode):
	"""Bytes in and out of each operator except views."""

	def __init__(self):
		super().__init__()
		self.moved, self.calls = defaultdict(int), defaultdict(int)

	def __torch_dispatch__(self, func, types, args=(), kwargs=None):
		out = func(*args, **(kwargs or {}))
		name = func._schema.name.split("::")[1]
		if name.rstrip("_") not in VIEWS and name not in VIEWS:
			inputs, outputs = tree_flatten((args, kwargs or {}))[0], tree_flatten(out)[0]
			if name.startswith("nll_loss"):  # reads one entry per row; writes the whole gradient
				inputs = []
			if name == "_fused_adamw_":  # reads and writes parameters and both moments, reads gradients
				outputs = tree_flatten((args[0], args[2], args[3]))[0]
			elif name.endswith("_") and out is None:
				outputs = tree_flatten(args[0])[0]  # updated in place: read and written
			self.moved[name] += sum(min(t.numel() * t.element_size(), t.untyped_storage().nbytes()) for t in inputs + outputs
				if isinstance(t, torch.Tensor) and t.is_cuda)
			if name == "_safe_softmax":  # three more kernels handle fully masked rows: scores read and marked, marks reduced, results selected
				self.moved[name] += out.numel() * (3 * out.element_size() + 3)
			self.calls[name] += 1
		return out


def kernels(run):
	"""(operator, kernel) -> launches, microseconds."""
	acts = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
	with torch.profiler.profile(activities=acts) as prof:
		run.step()
		torch.cuda.synchronize()
	found = defaultdict(lambda: [0, 0.0])
	for event in prof.events():
		if event.device_type != torch.autograd.DeviceType.CPU:
			continue
		for kernel in event.kernels:
			# only the innermost operator; outer ones list the same kernel again
			if any(kernel.name == k.name and kernel.duration == k.duration for child in event.cpu_children for k in all_kernels(child)):
				continue
			entry = found[(event.name, kernel.name[:160])]
			entry[0] += 1
			entry[1] += kernel.duration
	return found


def all_kernels(event):
	return list(event.kernels) + [k for child in event.cpu_children for k in all_kernels(child)]


def main():
	with open(sys.argv[1]) as file:
		rows = [{k: number(v) for k, v in row.items() if v != ""} for row in csv.DictReader(file)]
	with open(sys.argv[2], "w", newline="") as file:
		out = csv.writer(file)
		out.writerow(["run", "what", "operator", "kernel", "launches", "us", "moved_B"])
		for index, row in enumerate(rows):
			try:
				run = Run(row)
				for _ in range(3):
					run.step()
				torch.cuda.synchronize()
				for (operator, kernel), (n, us) in sorted(kernels(run).items()):
					out.writerow([index, "kernel", operator, kernel, n, f"{us:.1f}", ""])
				if row["mode"] == "eager":
					with Bytes() as moved:
						run.step()
					for name in sorted(moved.moved):
						out.writerow([index, "bytes", name, "", moved.calls[name], "", moved.moved[name]])
			except Exception as error:
				out.writerow([index, "error", " ".join(str(error).split())[:150], "", "", "", ""])
			file.flush()
			run = None
			gc.collect()
			torch._dynamo.reset()
			torch.cuda.empty_cache()


if __name__ == "__main__":
	main()
