#!/usr/bin/env python3
"""Captures drawn programs without a GPU: capture_all.py LIST DIR [--jobs N] [--limit S] [--memory GB] [--again]

Writes DIR/ID.jprog, each in a child process of one thread with a time and memory limit, and DIR/captures.jsonl with a line for each program: wall and CPU seconds, peak resident
bytes, what the file states (calls, waits, units, assumptions), or the reason of a failure. Programs that have their file are skipped unless --again. The GPU, where there is one, is hidden.
"""
import argparse
import concurrent.futures
import json
import os
import resource
import subprocess
import sys
import threading
import time
import traceback

STEPS = 3  # the capture keeps the last one: optimizer states and the scaler's scale exist by then


def child(r, path):
	"""In a separate process: builds the program and runs it inside a capture."""
	import jeoul
	import zoo

	from_s = time.perf_counter()
	recording = jeoul.capture(title=r["family"])
	with recording as program:
		loop = zoo.build(r)
		for i in range(STEPS):
			if i == STEPS - 1 and r["mode"] == "forward":
				begin(recording, program)
			loop.step()
	program.save(path)
	print(json.dumps(dict(seconds=round(time.perf_counter() - from_s, 2), cpu_s=round(time.process_time(), 2), rss_B=resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024, file_B=os.path.getsize(path))))


def begin(recording, program):
	"""Marks the end of preparation: a forward pass has no optimizer step that would mark it. A training step ends with its optimizer step; later
	operations (reading the loss, the scaler's update) count to the next step, which is equivalent in a loop."""
	for owner in (recording, program, getattr(getattr(recording, "session", None), "state", None)):
		if hasattr(owner, "begin"):
			return owner.begin()


def reason(text):
	"""The last line that names an error, and the last source line in a library or in this folder."""
	lines = [x.strip() for x in text.strip().splitlines() if x.strip()]
	errors = [x for x in lines if ("Error" in x or "Exception" in x) and not x.startswith("File")]
	places = [x for x in lines if x.startswith("File ")]
	return ((errors or lines or ["no output"])[-1][:300] + (" | " + places[-1] if places else ""))[:500]


def facts(path):
	"""Calls, units and assumptions in a program file."""
	out = dict(calls=0, waits=0, units={}, assumed=[])
	with open(path) as file:
		for line in file:
			word, _, rest = line.rstrip("\n").partition(" ")
			if word == "k":
				out["calls"] += 1
			elif word == "w":
				out["waits"] += 1
			elif word == "unit":
				name, count = rest.split()
				out["units"][name] = int(count)
			elif word == "assume":
				out["assumed"].append(rest)
	return out


def run(args, r):
	path = os.path.join(args.dir, r["id"] + ".jprog")
	env = dict(os.environ, CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", JEOUL_ZOO_DEVICE="cuda", HF_HUB_OFFLINE="1")
	limit = int(args.memory * 1e9)
	from_s = time.perf_counter()
	row = dict(id=r["id"])
	try:
		done = subprocess.run([sys.executable, os.path.abspath(__file__), args.list, args.dir, "--child", r["id"]], env=env, capture_output=True, text=True, timeout=args.limit,
			preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))) if limit else None)
		if done.returncode == 0 and os.path.exists(path):
			row.update(json.loads(done.stdout.strip().splitlines()[-1]))
			row.update(facts(path))
		else:
			row["error"] = f"signal {-done.returncode}: " + reason(done.stderr) if done.returncode < 0 else reason(done.stderr)
	except subprocess.TimeoutExpired:
		row["error"] = f"over {args.limit} s"
	if "error" in row and os.path.exists(path):
		os.remove(path)
	row["took_s"] = round(time.perf_counter() - from_s, 2)
	return row


def main():
	parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
	parser.add_argument("list")
	parser.add_argument("dir")
	parser.add_argument("--jobs", type=int, default=max(1, (os.cpu_count() or 2) - 2))
	parser.add_argument("--limit", type=float, default=120)
	parser.add_argument("--memory", type=float, default=0, help="GB of address space, 0: no limit")
	parser.add_argument("--again", action="store_true")
	parser.add_argument("--child", help=argparse.SUPPRESS)
	args = parser.parse_args()
	with open(args.list) as file:
		programs = json.load(file)
	if args.child:
		r = next(p for p in programs if p["id"] == args.child)
		try:
			return child(r, os.path.join(args.dir, r["id"] + ".jprog"))
		except Exception:
			traceback.print_exc()
			sys.exit(1)
	os.makedirs(args.dir, exist_ok=True)
	left = [r for r in programs if args.again or not os.path.exists(os.path.join(args.dir, r["id"] + ".jprog"))]
	lock, n_bad = threading.Lock(), 0
	with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool, open(os.path.join(args.dir, "captures.jsonl"), "a") as out:
		for job in concurrent.futures.as_completed([pool.submit(run, args, r) for r in left]):
			row = job.result()
			n_bad += "error" in row
			with lock:
				out.write(json.dumps(row) + "\n")
				out.flush()
			print(row["id"], row.get("error") or f"{row['calls']} calls, {row['waits']} waits, {row['seconds']} s, {row['rss_B'] / 1e9:.2f} GB", flush=True)
	print(f"captured {len(programs) - n_bad} of {len(programs)}")


if __name__ == "__main__":
	main()
