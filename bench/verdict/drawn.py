#!/usr/bin/env python3
"""drawn.py JEOUL: detection by a host's verdict after three undisturbed runs, for simulated scatter between runs (nothing is measured here).

Draws three runs of 200 figures per kind (also five; for storage also 20, of 50), log-normal and with Student's t tails (4 degrees of freedom), into a
store of this machine, then judges a fourth run that is 0 to 50 % slower. Then fleets of 16 machines with one slow one, by `check --fleet`. host.py
injects real faults."""
import json, math, os, random, subprocess, sys, tempfile

N, REPEATS = 200, 5
SLOW = (0, 0.10, 0.20, 0.30, 0.50)
KINDS = {  # as recorded by `jeoul bench`
	"product": ("gemm", "cpu", lambda i: {"dtype": "fp32", "m": 1024 + i, "n": 512, "k": 512, "n_threads": 2}, "gemm_flopps", 1e10),
	"memory": ("memory", "cpu", lambda i: {"test": "copy", "size_B": (100 + i) << 20, "n_threads": 2}, "mem_Bps", 5e9),
	"exchange, 16 MiB and more": ("allreduce", "shm", lambda i: {"size_B": (16 + i) << 20, "dtype": "float", "redop": "sum", "root": -1, "n_ranks": 2, "in_place": 0}, "algbw_Bps", 1e9),
	"TCP to another host": ("net", "tcp", lambda i: {"test": "bandwidth", "direction": "send", "host": "10.9.%d.%d" % (i // 250, i % 250 + 1), "n_streams": 1, "both_ways": 0}, "net_Bps", 1e9),
	"storage": ("storage", "disk", lambda i: {"test": "read", "size_B": (64 + i) << 20, "disk": "vda"}, "storage_Bps", 1e9),
}


def spread(rng, sd, tails):
	return rng.gauss(0, sd) * (math.sqrt(2 / rng.gammavariate(2, 1)) / math.sqrt(2) if tails else 1)


def call(jeoul, env, *args, text=None):
	return subprocess.run([jeoul, *args], capture_output=True, text=True, env=env, input=text)


def record(n, run, machine, kind, value, i):
	name, backend, params, metric, _ = KINDS[kind]
	return json.dumps({"record_version": 1, "id": "01M7EZ%04d" % n + "0" * 16, "time_s": 1.79e9 + n, "kind": name, "backend": backend, "origin": "measured", **machine, "run": run + "0" * 14,
			   "params": params(i), "metrics": [{"name": metric, "n": 20, "median": value, "lo95": value * 0.985, "hi95": value * 1.015}], "noise": {"noisy": False}})


def history(jeoul, machine, kind, sd, tails, slow, seed, n_before):
	"""Verdicts on the run after this number of undisturbed ones."""
	rng, lines, n = random.Random("%s %g %d %g %d" % (kind, sd, tails, slow, seed)), [], 0
	for run in range(n_before + 1):
		for i in range(N if n_before == 3 else N // 4):
			n += 1
			value = KINDS[kind][4] * math.exp(spread(rng, sd, tails)) * (1 - slow if run == n_before else 1)
			lines.append(record(n, "01M7EZRUN%03d" % run, machine, kind, value, i))
	with tempfile.TemporaryDirectory() as folder:
		env = dict(os.environ, JEOUL_STORE=folder + "/s.db", XDG_DATA_HOME=folder)
		with open(folder + "/f.jsonl", "w") as f:
			f.write("\n".join(lines) + "\n")
		call(jeoul, env, "store", "import", folder + "/f.jsonl")
		p = call(jeoul, env, "check", "--run", "01M7EZRUN%03d" % n_before + "0" * 14, "--json")
		return [r["verdict"] for r in json.loads(p.stdout)["results"]]


def fleet(jeoul, slow, seed):
	"""Names of the machines called slow, of 16 with three runs of six figures each."""
	rng, lines, n = random.Random(seed), [], 0
	for node in range(16):
		own = [rng.gauss(0, 0.012) for _ in range(6)]
		for run in range(3):
			for i in range(6):
				n += 1
				value = 1e9 * math.exp(own[i] + rng.gauss(0, 0.015)) * (1 - slow if node == 11 else 1)
				r = json.loads(record(n, "01M7EZ%02d%02dRN" % (node, run), {"machine": "fc7a64ccd723a047", "machine_name": "drawn"}, "memory", value, i))
				r["node"] = "node%02d" % node
				lines.append(json.dumps(r))
	with tempfile.TemporaryDirectory() as folder:
		env = dict(os.environ, JEOUL_STORE=folder + "/s.db", XDG_DATA_HOME=folder)
		with open(folder + "/f.jsonl", "w") as f:
			f.write("\n".join(lines) + "\n")
		call(jeoul, env, "store", "import", folder + "/f.jsonl")
		return [m["node"] for m in json.loads(call(jeoul, env, "check", "--fleet", "--json").stdout)["nodes"] if m["slow"]]


def main():
	jeoul = os.path.abspath(sys.argv[1])
	with tempfile.TemporaryDirectory() as folder:
		env = dict(os.environ, JEOUL_STORE=folder + "/s.db", XDG_DATA_HOME=folder)
		r = json.loads(call(jeoul, env, "bench", "memory", "--size", "1 MiB", "--time", "100 ms", "--json").stdout)["records"][0]
	machine = {k: r[k] for k in ("machine", "machine_name")}
	print("%-28s %-12s" % ("figure", "runs differ") + "".join("%14s" % ("%d %% slow" % (100 * s) if s else "low of healthy") for s in SLOW))
	alarms = verdicts = 0
	for kind, n_before in [(kind, n) for kind in KINDS for n in (3, 5)] + [("storage", 20)]:
		for sd, tails in ((0.01, False), (0.02, False), (0.04, False), (0.02, True)):
			cells = []
			for slow in SLOW:
				found = sum((history(jeoul, machine, kind, sd, tails, slow, 100 * s + 1, n_before) for s in range(1 if slow else REPEATS)), [])
				low = found.count("low")
				cells.append("%d of %d" % (low, len(found)) if not slow else "%.1f %%" % (100 * low / max(1, len(found))))
				if not slow:
					alarms, verdicts = alarms + low, verdicts + len(found)
			print("%-28s %-12s" % (kind + (", %d runs" % n_before if n_before > 3 else ""), "%d %%%s" % (100 * sd, ", tails" if tails else "")) + "".join("%14s" % c for c in cells), flush=True)
	print("false alarms: %d of %d" % (alarms, verdicts))
	for slow in (0, 0.03, 0.05, 0.10, 0.20, 0.30):
		calls = [fleet(jeoul, slow, seed) for seed in range(20)]
		print("fleet of 16, one %2d %% slow: named in %2d of 20, another accused in %d" % (100 * slow, sum(slow > 0 and "node11" in c for c in calls), sum(any(slow == 0 or x != "node11" for x in c) for c in calls)))


if __name__ == "__main__":
	main()
