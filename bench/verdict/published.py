#!/usr/bin/env python3
"""published.py JEOUL [-v]: judges published figures with a known cause (data/verdict_cases.csv) by the catalog alone.

Right: a faulty figure is bad (low, too high, impossible), a healthy one normal or good. Wrong: the opposite. Other verdicts count as neither. Fails
if fewer than MIN_RIGHT are right or more than MAX_WRONG wrong."""
import collections, csv, json, os, shlex, subprocess, sys

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "verdict_cases.csv")
MIN_RIGHT, MAX_WRONG = 0.80, 0.05
BAD, FINE = ("low", "high", "impossible"), ("normal", "good")


def ask(jeoul, row):
	"""The verdict of one case, or the program's error."""
	rate, kind = row["rate"], row["kind"]
	busbw = rate.endswith(" busbw")
	option = "--busbw" if busbw else "--rate" if kind in ("gemm", "memory", "link", "net") else "--algbw"
	command = [jeoul, "check", kind, "--on", row["on"], *shlex.split(row["args"]), option, rate.removesuffix(" busbw"), "--json"]
	p = subprocess.run(command, capture_output=True, text=True)
	return command, (json.loads(p.stdout)["results"][0] if p.stdout.startswith("{") else {"verdict": "refused", "said": p.stderr.strip()})


def outcome(label, verdict):
	if verdict in BAD + FINE:
		return "right" if (verdict in BAD) == (label == "sick") else "wrong"
	return "neither"


def main():
	jeoul, verbose = sys.argv[1], "-v" in sys.argv[2:]
	counts, rows = collections.Counter(), list(csv.DictReader(open(CASES, newline="")))
	for row in rows:
		command, r = ask(jeoul, row)
		what = outcome(row["label"], r["verdict"])
		counts[row["label"], what] += 1
		counts[row["label"], row["kind"], what] += 1
		if what != "right" or verbose:
			num = lambda key: "%.4g" % r[key] if isinstance(r.get(key), (int, float)) else "-"
			print("%-7s %-8s %-10s %s\n        %s of %s to %s, low below %s, bound %s · %s %s" % (what, row["label"], r["verdict"], " ".join(shlex.quote(c) for c in command[2:-1]),
			      num("value"), num("expected_lo"), num("expected_hi"), num("low_below"), num("bound"), row["cause"], r.get("said", "")))
	print("%-24s %5s %7s %7s %7s" % ("", "cases", "right", "wrong", "neither"))
	names = [(x,) for x in ("healthy", "sick")] + sorted({k[:2] for k in counts if len(k) == 3})
	for name in names:
		n = [counts[name + (what,)] for what in ("right", "wrong", "neither")]
		print("%-24s %5d %7d %7d %7d" % (" ".join(name), sum(n), *n))
	n = [sum(counts[x, what] for x in ("healthy", "sick")) for what in ("right", "wrong", "neither")]
	print("%-24s %5d %6.0f%% %6.0f%% %6.0f%%" % ("all", sum(n), *(100 * i / sum(n) for i in n)))
	return n[0] < MIN_RIGHT * sum(n) or n[1] > MAX_WRONG * sum(n)


if __name__ == "__main__":
	sys.exit(main())
