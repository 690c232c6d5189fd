#!/usr/bin/env python3
"""Holds measured programs against predictions of their captures: score.py LIST MEASURED DIR --jeoul PATH --on SYSTEM [--csv OUT.csv] [-- OPTIONS]

DIR holds ID.jprog (capture_all.py). Prints a line for each program, worst first, then median and p90 of |ln(predicted/measured)|, bias
and the share inside the 80 % interval by kind and by family, for step time and for the most memory allocated; launches and seconds of kernels against the
profiler where MEASURED has them. host_s of a step that waits for its device contains the wait.
Options after -- go to `jeoul predict`.

--operators scores the single operators of operators.py instead: launches, seconds of kernels and of the host by operator, format and pass, of two thirds
that may be looked at and of one third held out (drawn by a fixed seed).
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import math
import os
import random
import statistics
import subprocess
import sys

COLUMNS = ["id", "kind", "family", "mode", "precision", "compile", "measured_s", "predicted_s", "lo_s", "hi_s", "ln_step", "inside", "host_s", "measured_B", "predicted_B", "ln_memory", "inside_memory",
	"launches", "predicted_launches", "launch_ratio", "kernels_s", "predicted_kernels_s", "ln_kernels", "predicted_host_s", "ln_host", "tensors_B", "params", "error"]


def read_measured(path):
	rows = collections.defaultdict(dict)
	with open(path) as file:
		for line in file:
			row = json.loads(line)
			if "id" in row:
				took_s = row.pop("took_s", None)
				rows[row["id"]].update(row)
				rows[row["id"]].setdefault("took_s", took_s)
	return rows


def host_options(path):
	"""What `python -m jeoul host` would have said: the median of the host's timings beside the programs'."""
	with open(path) as file:
		timed = [row["host"]["linear_step_s"] for row in map(json.loads, file) if "linear_step_s" in row.get("host", {})]
	return ["--host-step", f"{1e6 * statistics.median(timed):.0f} us"] if timed else []


def predict(args, path):
	out = subprocess.run([args.jeoul, "predict", path, "--on", args.on, "--json", *args.options], capture_output=True, text=True, timeout=120)
	if out.returncode or not out.stdout.strip():
		return None, " ".join(out.stderr.split())[:200] or f"predict ended with {out.returncode}"
	return json.loads(out.stdout), None


def memory_of(p):
	"""Peak memory of PyTorch's allocator: without the driver context."""
	m = p.get("memory_B", {})
	return m["total"] - m.get("context", 0) - m.get("buffers", 0) if "total" in m else None


def ratio_ln(predicted, measured):
	return math.log(predicted / measured) if predicted and measured and predicted > 0 else math.nan


def score_one(args, r, m):
	row = dict.fromkeys(COLUMNS)
	row.update({k: r.get(k) for k in ("id", "kind", "family", "mode", "precision", "compile")})
	row.update(measured_s=m.get("step_s"), host_s=m.get("host_s"), measured_B=m["allocated_B"] - m.get("left_B", 0) if m.get("allocated_B") else None, params=m.get("params"))
	profile = m.get("profile") or {}
	row.update(launches=profile.get("launches"), kernels_s=profile.get("kernels_s"))
	path = os.path.join(args.dir, r["id"] + ".jprog")
	if not m.get("step_s"):
		row["error"] = "not measured: " + m.get("error", "no line")
		return row
	if not os.path.exists(path):
		row["error"] = "not captured"
		return row
	p, row["error"] = predict(args, path)
	if not p:
		return row
	s, peak = p.get("step_s") or {}, p.get("memory_peak_B") or {}
	row.update(predicted_s=s.get("value"), lo_s=s.get("lo"), hi_s=s.get("hi"), ln_step=ratio_ln(s.get("value"), m["step_s"]))
	if s.get("lo") is not None:
		row["inside"] = int(s["lo"] <= m["step_s"] <= s["hi"])
	else:
		row["error"] = "no step time predicted (memory?)"
	row["predicted_B"] = memory_of(p)
	row["ln_memory"] = ratio_ln(row["predicted_B"], row["measured_B"])
	if peak.get("lo") is not None and row["predicted_B"] and row["measured_B"]:
		besides = peak["value"] - row["predicted_B"]
		row["inside_memory"] = int(peak["lo"] - besides <= row["measured_B"] <= peak["hi"] - besides)
	program = p.get("program") or {}
	row.update(predicted_launches=program.get("n_kernels"), predicted_kernels_s=program.get("device_s"), predicted_host_s=program.get("host_s"), tensors_B=program.get("peak_B"))
	row.update(ln_kernels=ratio_ln(row["predicted_kernels_s"], row["kernels_s"]), ln_host=ratio_ln(row["predicted_host_s"], row["host_s"]))
	if row["launches"] and row["predicted_launches"]:
		row["launch_ratio"] = row["predicted_launches"] / row["launches"]
	return row


def quantile(values, q):
	values = sorted(values)
	return values[min(len(values) - 1, int(q * len(values)))] if values else math.nan


def known(rows, key):
	return [r for r in rows if r[key] is not None and not math.isnan(r[key])]


def summary(title, rows):
	step, memory = known(rows, "ln_step"), known(rows, "ln_memory")
	inside, inside_memory = known(rows, "inside"), known(rows, "inside_memory")
	ln, mem = [r["ln_step"] for r in step], [r["ln_memory"] for r in memory]
	share = lambda rs, key: f"{100 * sum(r[key] for r in rs) / len(rs):3.0f} %" if rs else "    -"
	print(f"{title:36} n {len(step):3}/{len(rows):<3} step {quantile([abs(x) for x in ln], 0.5):.3f} / {quantile([abs(x) for x in ln], 0.9):.3f} bias {quantile(ln, 0.5):+.3f} inside {share(inside, 'inside')}"
		f"   memory {quantile([abs(x) for x in mem], 0.5):.3f} / {quantile([abs(x) for x in mem], 0.9):.3f} bias {quantile(mem, 0.5):+.3f} inside {share(inside_memory, 'inside_memory')}")


def number(x, form, scale=1.0):
	return format(x * scale, form) if x is not None and not math.isnan(x) else "-"


def print_rows(rows, draws):
	for r in sorted(rows, key=lambda r: -abs(r["ln_step"]) if r["ln_step"] is not None and not math.isnan(r["ln_step"]) else 9):
		if r["error"]:
			continue
		d = {k: v for k, v in draws[r["id"]].items() if k not in ("id", "kind", "family", "mode", "precision", "units", "net")}
		print(f"{number(r['ln_step'], '+.3f'):>7} {'in ' if r['inside'] else 'OUT'} {number(r['measured_s'], '9.3f', 1e3)} ms {number(r['predicted_s'], '9.3f', 1e3)} ({number(r['lo_s'], '.4g', 1e3)}-{number(r['hi_s'], '.4g', 1e3)})"
			f" host {number(r['host_s'], '.2f', 1e3)} kernels {number(r['ln_kernels'], '+.3f')} mem {number(r['ln_memory'], '+.3f')} launches {number(r['launch_ratio'], '.3f')} {r['family']} {r['mode']} {r['precision']} " + " ".join(f"{k}={v}" for k, v in d.items()))
	for r in rows:
		if r["error"]:
			print(f"FAILED {r['id']} {r['mode']} {r['precision']}: {r['error']}")


def print_summaries(rows):
	print()
	families = collections.defaultdict(list)
	for r in rows:
		families[r["family"]].append(r)
	for name in sorted(families):
		summary(name, families[name])
	print()
	for key in ("precision", "mode", "kind"):
		for value in sorted({r[key] for r in rows}):
			summary(value, [r for r in rows if r[key] == value])
	summary("all", rows)
	measured = [r for r in rows if r["measured_s"]]
	lost = sum(1 for r in measured if r["error"] == "not captured")
	print(f"measured {len(measured)} of {len(rows)}; captured {len(measured) - lost} of {len(measured)} ({100 * (len(measured) - lost) / max(1, len(measured)):.0f} %); predicted {len(known(rows, 'ln_step'))}")
	for name, key in (("kernels' seconds against the profiler", "ln_kernels"), ("host seconds against a step by itself", "ln_host")):
		ln = [r[key] for r in known(rows, key)]
		if ln:
			print(f"{name}: {len(ln)}, median |ln| {quantile([abs(x) for x in ln], 0.5):.3f}, p90 {quantile([abs(x) for x in ln], 0.9):.3f}, bias {quantile(ln, 0.5):+.3f}")
	ratios = [r["launch_ratio"] for r in known(rows, "launch_ratio")]
	if ratios:
		print(f"launches: {len(ratios)} profiled, ratio median {quantile(ratios, 0.5):.3f}, p10 {quantile(ratios, 0.1):.3f}, p90 {quantile(ratios, 0.9):.3f}, within 0.97-1.03: {sum(0.97 <= x <= 1.03 for x in ratios)}")


def held_ids(ids):
	"""Every third operator of each kind; the others are used to set parameters."""
	kinds = collections.defaultdict(list)
	for name in ids:
		kinds[name.partition("-")[2]].append(name)
	chance, held = random.Random("operators held out"), set()
	for kind in sorted(kinds):
		names = sorted(kinds[kind])
		chance.shuffle(names)
		held.update(names[: (len(names) + chance.randrange(3)) // 3])
	return held


# gap between two kernels of a stream: lost per launch by programs whose device never waits; included in the cost of a kernel
GAP_S = 0.9e-6


def score_operator(args, r, m):
	path = os.path.join(args.dir, r["id"] + ".jprog")
	if not m.get("kernels_s") or not os.path.exists(path):
		return dict(r, error=m.get("error") or ("no kernel" if "kernels_s" in m else "not captured" if m else "not measured"))
	p, error = predict(args, path)
	if not p or not p.get("program"):
		return dict(r, error=error or "no prediction")
	program, busy_s = p["program"], m["kernels_s"] + GAP_S * (m["launches"] + m["memory"])
	return dict(r, error=None, kernels_s=busy_s, predicted_s=program["device_s"], ln=ratio_ln(program["device_s"], busy_s), launches=m["launches"],
		predicted_launches=program["n_kernels"], ln_host=ratio_ln(program["host_s"], m["host_s"]), kernels=m["kernels"])


def operator_summary(title, rows):
	ln, host = [r["ln"] for r in rows], [r["ln_host"] for r in rows]
	same = sum(abs(r["predicted_launches"] - r["launches"]) < 0.5 for r in rows)
	measured, predicted = sum(r["launches"] for r in rows), sum(r["predicted_launches"] for r in rows)
	print(f"{title:32} n {len(rows):3} kernels {quantile([abs(x) for x in ln], 0.5):.3f} / {quantile([abs(x) for x in ln], 0.9):.3f} bias {quantile(ln, 0.5):+.3f}   launches same {same:3} sum {predicted / max(measured, 1):.3f}"
		f"   host {quantile([abs(x) for x in host], 0.5):.3f} / {quantile([abs(x) for x in host], 0.9):.3f} bias {quantile(host, 0.5):+.3f}")


def operator_line(r):
	shape = " ".join(f"{k}={v}" for k, v in r.items() if k not in ("id", "op", "format", "pass", "error", "kernels_s", "predicted_s", "ln", "launches", "predicted_launches", "ln_host", "kernels", "held"))
	return (f"{r['ln']:+.3f} {r['kernels_s'] * 1e6:9.1f} us {r['predicted_s'] * 1e6:9.1f} launches {r['launches']:3} {r['predicted_launches']:5.1f} host {r['ln_host']:+.2f} {r['id']} {r['format']} {r['pass']} {shape}"
		.replace("True", "yes").replace("False", "no"))


def score_operators(args, drawn, measured):
	held = held_ids([r["id"] for r in drawn])
	with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
		rows = list(pool.map(lambda r: dict(score_operator(args, r, measured.get(r["id"], {})), held=r["id"] in held), drawn))
	known = [r for r in rows if not r["error"]]
	fit = [r for r in known if not r["held"]]
	if not args.quiet:
		for r in sorted(fit, key=lambda r: (r["op"], r["format"], r["pass"])):
			print(operator_line(r))
			for name, (n, s) in sorted(r["kernels"].items(), key=lambda k: -k[1][1])[: args.kernels]:
				print(f"          {n:3} {s * 1e6:9.1f} us  {name}")
	for keys in (("op", "pass"), ("op", "format"), ("format", "pass")):
		groups = collections.defaultdict(list)
		for r in fit:
			groups[" ".join(r[k] for k in keys)].append(r)
		print()
		for name in sorted(groups):
			operator_summary(name, groups[name])
	print()
	operator_summary("fitted", fit)
	operator_summary("held out", [r for r in known if r["held"]])
	print(f"{len(known)} of {len(rows)} scored; others: {dict(collections.Counter(r['error'][:40] for r in rows if r['error']))}")


def arguments():
	argv, options = sys.argv[1:], []
	if "--" in argv:
		argv, options = argv[: argv.index("--")], argv[argv.index("--") + 1 :]
	parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
	parser.add_argument("list")
	parser.add_argument("measured")
	parser.add_argument("dir")
	parser.add_argument("--jeoul", required=True)
	parser.add_argument("--on", default="h200-sxm")
	parser.add_argument("--csv")
	parser.add_argument("--host-timed", action="store_true", help="predict for the host as it was timed during the run")
	parser.add_argument("--quiet", action="store_true", help="summaries only")
	parser.add_argument("--jobs", type=int, default=2)
	parser.add_argument("--operators", action="store_true", help="single operators: list, figures and captures of operators.py")
	parser.add_argument("--kernels", type=int, default=0, help="--operators: show so many measured kernels of each")
	args = parser.parse_args(argv)
	args.options = options + (host_options(args.measured) if args.host_timed else [])
	return args


def main():
	args = arguments()
	with open(args.list) as file:
		programs = json.load(file)
	measured = read_measured(args.measured)
	if args.operators:
		return score_operators(args, programs, measured)
	with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
		rows = list(pool.map(lambda r: score_one(args, r, measured[r["id"]] if r["id"] in measured else {}), programs))
	if not args.quiet:
		print_rows(rows, {r["id"]: r for r in programs})
	print_summaries(rows)
	if args.csv:
		with open(args.csv, "w", newline="") as file:
			out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
			out.writeheader()
			out.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in r.items()} for r in rows)


if __name__ == "__main__":
	main()
