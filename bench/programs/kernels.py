"""Counts of one step from PyTorch's profiler: kernels, their time, and both by the operators that launched them."""
import bisect
import collections

import torch

MOST_KERNELS = 200


def spans(events):
	"""Host operators per thread: sorted start times with (end, name, index of parent)."""
	threads = collections.defaultdict(list)
	for e in events:
		threads[e.start_thread_id()].append((e.start_ns(), e.start_ns() + e.duration_ns(), e.name()))
	out = {}
	for thread, rows in threads.items():
		rows.sort(key=lambda r: (r[0], -r[1]))
		open_, parents = [], []
		for i, (start, end, _) in enumerate(rows):
			while open_ and rows[open_[-1]][1] < end:
				open_.pop()
			parents.append(open_[-1] if open_ else -1)
			open_.append(i)
		out[thread] = ([r[0] for r in rows], rows, parents)
	return out


def chain(span, at_ns):
	"""Operators active at a moment of a thread, outermost first; starts with 'b' if called by autograd's engine."""
	starts, rows, parents = span
	i, names, backward = bisect.bisect_right(starts, at_ns) - 1, [], False
	while i >= 0 and rows[i][1] < at_ns:
		i = parents[i]
	while i >= 0:
		name = rows[i][2]
		if name.startswith("aten::") or "::" in name and not name.startswith("autograd::"):
			names.append(name.removeprefix("aten::"))
		elif name.startswith("autograd::engine"):
			backward = True
		elif name.startswith("Optimizer."):
			names.append(name.split("#")[-1].split(".")[0] + ".step" if "#" in name else "optimizer")
		i = parents[i]
	return ("b " if backward else "") + ">".join(reversed(names)) if names or backward else "?"


def is_device(e):
	return e.device_type() != torch.autograd.DeviceType.CPU


def is_note(e):
	"""True for user annotations mirrored on the device, which are not work."""
	return getattr(e, "is_user_annotation", lambda: False)() or e.name().startswith(("Optimizer.", "ProfilerStep", "Torch-Compiled", "## Call"))


def profile(step):
	"""Runs step() once. Returns launches, copies, fills, seconds of kernels and of the step on the device, and tables by operator chain and by
	kernel: [count, seconds]."""
	activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
	with torch.profiler.profile(activities=activities) as prof:
		step()
		torch.cuda.synchronize()
	events = list(prof.profiler.kineto_results.events())
	device = [e for e in events if is_device(e) and e.duration_ns() > 0 and not is_note(e)]
	calls = {e.correlation_id(): e for e in events if not is_device(e) and e.name().startswith(("cuda", "cu"))}
	around = spans([e for e in events if not is_device(e) and not e.name().startswith(("cuda", "cu"))])
	by_chain, by_kernel = collections.defaultdict(lambda: [0, 0]), collections.defaultdict(lambda: [0, 0])
	kind = collections.Counter()
	for e in device:
		name = e.name()
		kind["copies" if name.startswith("Memcpy") else "fills" if name.startswith("Memset") else "launches"] += 1
		call = calls.get(e.correlation_id())
		where = chain(around[call.start_thread_id()], call.start_ns()) if call is not None and call.start_thread_id() in around else "?"
		if name.startswith("Mem"):
			where += " " + name
		for table, key in ((by_chain, where), (by_kernel, name[:120])):
			table[key][0] += 1
			table[key][1] += e.duration_ns()
	if not device:
		return dict(launches=0)
	whole_ns = max(e.start_ns() + e.duration_ns() for e in device) - min(e.start_ns() for e in device)
	tidy = lambda table: {k: [n, round(ns * 1e-9, 9)] for k, (n, ns) in sorted(table.items(), key=lambda x: -x[1][1])[:MOST_KERNELS]}
	return dict(launches=kind["launches"], copies=kind["copies"], fills=kind["fills"], kernels_s=sum(e.duration_ns() for e in device) * 1e-9, span_s=whole_ns * 1e-9, ops=tidy(by_chain), kernels=tidy(by_kernel))
