#!/usr/bin/env python3
"""host.py JEOUL [--minutes N] [--quiet N] [--repeats N] [--kinds LIST] [--history N]: faults injected on this host, after three (N) quiet runs that are kept in a store of its own.

Figures: a product, memory, storage, TCP between two namespaces of this host. Faults: cgroup CPU quotas, a neighbour on the same cores, a process that
streams memory, a throttled drive, a shaped link; each at 90, 75 and 50 % where it has a size. Every run is judged by `jeoul check --run`. Printed: for each
fault what was found, missed and withheld as noisy, the same by the slow-down that was really measured, false alarms of quiet runs, and the load.
Needs root and cgroups (v1 or v2); what the kernel does not offer is left out and said. Cleans up after itself."""
import argparse, collections, contextlib, json, os, signal, statistics, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
PAIR = os.path.join(HERE, "..", "measure", "netns-pair")
FS = "/sys/fs/cgroup"
V2 = os.path.exists(FS + "/cgroup.controllers")
LINK_MBIT = 800  # low enough that a busy host can sustain it
FRACS = (0.90, 0.75, 0.50)
HOG = "import sys\na = bytearray(1 << 28)\nb = bytearray(1 << 28)\nwhile True: a[:] = b"
BUSY = "while True: pass"


def write(path, text):
	with open(path, "w") as f:
		f.write(text)


class Group:
	"""A cgroup with CPU priority over the others, to reduce noise from them."""

	def __init__(self):
		name = "jeoul-verdict-%d" % os.getpid()
		self.cpu = os.path.join(FS, name) if V2 else os.path.join(FS, "cpu", name)
		self.io = self.cpu if V2 else os.path.join(FS, "blkio", name)
		for path in {self.cpu, self.io}:
			os.mkdir(path)
		with contextlib.suppress(OSError):
			write(*((self.cpu + "/cpu.weight", "10000") if V2 else (self.cpu + "/cpu.shares", "262144")))

	def join(self):
		for path in {self.cpu, self.io}:
			write(path + "/cgroup.procs", str(os.getpid()))
		with contextlib.suppress(OSError):
			os.nice(-20)

	def quota(self, frac):
		us = int(100000 * os.cpu_count() * frac) if frac else -1
		write(*((self.cpu + "/cpu.max", "%s 100000" % (us if frac else "max")) if V2 else (self.cpu + "/cpu.cfs_quota_us", str(us))))

	def throttle(self, device, Bps):
		if V2:
			write(self.io + "/io.max", "%s rbps=%s wbps=%s" % (device, Bps or "max", Bps or "max"))
		else:
			for way in ("read", "write"):
				write(self.io + "/blkio.throttle.%s_bps_device" % way, "%s %d" % (device, Bps))

	def remove(self):
		for path in {self.cpu, self.io}:
			with contextlib.suppress(OSError):
				os.rmdir(path)


@contextlib.contextmanager
def beside(code):
	"""Runs one additional process per CPU."""
	procs = [subprocess.Popen([sys.executable, "-c", code], preexec_fn=lambda: os.nice(-20)) for _ in range(os.cpu_count())]
	time.sleep(0.3)
	try:
		yield
	finally:
		for p in procs:
			p.kill()
			p.wait()


@contextlib.contextmanager
def setting(set_to, value, back):
	set_to(value)
	try:
		yield
	finally:
		set_to(back)


class Bench:
	def __init__(self, jeoul, folder, group):
		self.jeoul, self.folder, self.group = jeoul, folder, group
		self.env = dict(os.environ, XDG_DATA_HOME=folder, JEOUL_STORE=os.path.join(folder, "s.db"))
		self.net = "jv%d" % os.getpid()
		up = subprocess.run([PAIR, "up", self.net, "%dmbit" % LINK_MBIT], capture_output=True, text=True)
		self.no_net = up.returncode and (up.stdout + up.stderr).strip()
		st = os.stat(folder)
		self.device = "%d:%d" % (os.major(st.st_dev), os.minor(st.st_dev) & ~15)

	def shape(self, mbit):
		for side in "ab":
			subprocess.run(["tc", "-n", "%s-%s" % (self.net, side), "qdisc", "change", "dev", "%sv%s" % (self.net, side), "root", "tbf",
					"rate", "%dmbit" % mbit, "burst", "256kb", "latency", "50ms"], check=True)

	def run(self, kind):
		"""{metric key: (value, noisy, verdict)} of one run."""
		args = {"gemm": ["gemm", "--size", "1024", "--time", "1.5 s"], "memory": ["memory", "--size", "64 MiB", "--time", "1.5 s"],
			"storage": ["storage", "--dir", self.folder, "--size", "64 MiB", "--time", "2 s"],
			"net": ["net", "--to", "10.98.76.2", "--streams", "1", "--direction", "send", "--time", "2 s"]}[kind]
		listener, prefix = None, []
		if kind == "net":
			prefix = ["ip", "netns", "exec", self.net + "-a"]
			listener = subprocess.Popen(["ip", "netns", "exec", self.net + "-b", self.jeoul, "bench", "net", "--listen", "10.98.76.2", "--once"],
						    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=self.env, preexec_fn=self.group.join)
			time.sleep(0.5)
		try:
			p = subprocess.run(prefix + [self.jeoul, "bench", *args, "--json"], capture_output=True, text=True, env=self.env, preexec_fn=self.group.join, timeout=120)
		finally:
			if listener:
				with contextlib.suppress(subprocess.TimeoutExpired):
					listener.wait(5)
				listener.kill()
				listener.wait()
		if not p.stdout.startswith("{"):
			raise RuntimeError(p.stderr.strip())
		run = json.loads(p.stdout)["records"][0]["run"]
		p = subprocess.run([self.jeoul, "check", "--run", run, "--json"], capture_output=True, text=True, env=self.env)
		return {r["what"] + " " + r["kind"]: r for r in json.loads(p.stdout)["results"] if not r["metric"].endswith("_s")}

	def close(self):
		subprocess.run([PAIR, "down", self.net], capture_output=True)


def main():
	ap = argparse.ArgumentParser()
	ap.add_argument("jeoul")
	ap.add_argument("--minutes", type=float, default=15)
	ap.add_argument("--quiet", type=int, default=30)
	ap.add_argument("--repeats", type=int, default=3)
	ap.add_argument("--history", type=int, default=3)
	ap.add_argument("--kinds", default="gemm,memory,storage,net")
	args = ap.parse_args()
	signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
	end, tally, by_size, usual, load = time.time() + 60 * args.minutes, collections.defaultdict(collections.Counter), collections.defaultdict(collections.Counter), {}, []
	with tempfile.TemporaryDirectory(dir=os.getcwd()) as folder:
		group = Group()
		bench = Bench(os.path.abspath(args.jeoul), folder, group)

		def note(name, kind, faulty):
			if time.time() > end:
				return tally[name].update(["no time"])
			load.append(os.getloadavg()[0])
			try:
				found = bench.run(kind)
			except (RuntimeError, subprocess.TimeoutExpired) as why:
				print("%s: %s" % (name, why))
				return
			for what, r in found.items():
				tally[name][r["verdict"]] += 1
				if r["verdict"] == "low" and not faulty:
					print("false alarm: %s %.4g of %.4g to %.4g" % (what, r["value"], r["expected_lo"], r["expected_hi"]))
				if faulty and what in usual:
					slow = 1 - r["value"] / usual[what]
					by_size["under 10 %" if slow < 0.10 else "10 to 20 %" if slow < 0.20 else "20 to 30 %" if slow < 0.30 else "30 % and more"][r["verdict"]] += 1

		try:
			kinds = [k for k in args.kinds.split(",") if k != "net" or not bench.no_net]
			cpu_kinds = [k for k in kinds if k in ("gemm", "memory")]
			if bench.no_net:
				print("no shaped link: " + bench.no_net)
			for kind in kinds:  # until `--history` runs report no noise
				seen, n = collections.defaultdict(list), 0
				while time.time() < end and n < 12 and (not seen or min(map(len, seen.values())) < args.history):
					n += 1
					load.append(os.getloadavg()[0])
					for what, r in bench.run(kind).items():
						seen[what] += [] if r["noisy"] else [r["value"]]
				for what, values in seen.items():
					print("%-40s %2d of %2d runs quiet%s" % (what, len(values), n, ": %.4g" % statistics.median(values) if values else ""))
					if values:
						usual[what] = statistics.median(values)
			for i in range(args.quiet):
				note("quiet", kinds[i % len(kinds)], False)
			for _ in range(args.repeats):
				for frac in FRACS:
					for kind in cpu_kinds:
						with setting(group.quota, frac, None):
							note("CPU quota %d %%, %s" % (100 * frac, kind), kind, True)
					disk = [v for k, v in usual.items() if k.endswith(" storage")]
					if disk:
						with setting(lambda Bps: group.throttle(bench.device, Bps), int(min(disk) * frac), 0):
							note("drive throttled to %d %%" % (100 * frac), "storage", True)
					if "net" in kinds:
						with setting(bench.shape, LINK_MBIT * frac, LINK_MBIT):
							note("link shaped to %d %%" % (100 * frac), "net", True)
				for kind in cpu_kinds:
					with beside(BUSY):
						note("a neighbour on each CPU, " + kind, kind, True)
				if "memory" in kinds:
					with beside(HOG):
						note("memory streamed beside, memory", "memory", True)
		finally:
			bench.close()
			group.remove()
	verdicts = ("low", "normal", "good", "noisy", "unjudged", "first", "no time")
	for title, table in (("fault", tally), ("measured slow-down", by_size)):
		print("%-34s" % title + "".join("%9s" % v for v in verdicts))
		for name, counts in table.items():
			print("%-34s" % name + "".join("%9d" % counts[v] for v in verdicts))
	print("load %.1f to %.1f on %d CPUs, %d runs" % (min(load), max(load), os.cpu_count(), len(load)))


if __name__ == "__main__":
	main()
