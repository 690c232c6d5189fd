#!/usr/bin/env python3
"""data/anchors.yaml is well-formed, every command of it works or is refused as it says, and no anchor of the first score was dropped or changed.
anchors.py REPOSITORY; it must not know what the answers are."""
import csv
import glob
import os
import re
import subprocess
import sys
import tempfile

root = sys.argv[1]
path = os.path.join(root, "data", "anchors.yaml")
text = open(path, encoding="utf-8").read()
problems = []


def run(anchors, *more):
    return subprocess.run([sys.executable, os.path.join(root, "scripts", "anchors"), os.environ["JEOUL"], "--anchors", anchors, *more],
                          capture_output=True, text=True)


def expect(what, condition):
    if not condition:
        problems.append(what)


def entries():
    for block in re.split(r"^- ", text, flags=re.M)[1:]:
        yield dict(re.findall(r"^\s*([a-z_]+): (.+)$", block, re.M))


whole = run(path, "--check")
expect("a command does not work:\n" + whole.stderr + whole.stdout, whole.returncode == 0)
rows = {a["id"]: a for a in entries()}
expect("80 anchors or more are wanted", len(rows) >= 80)

first = list(csv.DictReader(open(os.path.join(root, "data", "anchors", "first.csv"), encoding="utf-8")))
for r in first:
    kept = rows.get(r["id"])
    expect("%s of the first score is gone" % r["id"], kept)
    expect("%s: the published figure was changed" % r["id"], not kept or float(kept["value"]) == float(r["published"]))
page = open(os.path.join(root, "docs", "ANCHORS.md"), encoding="utf-8").read()
expect("docs/ANCHORS.md lacks the first score", "As they fell on 2026-11-18" in page)
for a in rows.values():
    expect("docs/ANCHORS.md lacks %s: run scripts/anchors" % a["id"], a["command"].strip("'").replace("''", "'") in page)

# a repository with rows in the fitted sets is named as such
fitted = set()
for name in glob.glob(os.path.join(root, "data", "validation", "*.csv")):
    for r in csv.DictReader(open(name, encoding="utf-8")):
        fitted |= {m.lower() for m in re.findall(r"github\.com/([^/]+/[^/#?]+)", r.get("source_url") or "")}
for a in rows.values():
    repository = re.search(r"github\.com/([^/]+/[^/]+)", a["source"])
    expect("%s: its source is in a fitted set, also_in is missing" % a["id"], "also_in" in a or not repository or repository[1].lower() not in fitted)

# each of these must be noticed
BROKEN = [
    ("an unknown key", lambda t: t.replace("  kind:", "  kindred:", 1), ":1"),
    ("a missing key", lambda t: re.sub(r"^  date: .*\n", "", t, count=1, flags=re.M), "date is missing"),
    ("a bad date", lambda t: re.sub(r"^  date: .*$", "  date: yesterday", t, count=1, flags=re.M), "date like"),
    ("an id twice", lambda t: t + t[t.index("\n- id:") + 1:t.index("\n- id:", t.index("\n- id:") + 1) + 1], "twice"),
    ("an unknown field", lambda t: re.sub(r"^  field: .*$", "  field: beauty", t, count=1, flags=re.M), "beauty"),
    ("a command that fails", lambda t: t.replace("--on ", "--onto ", 1), "onto"),
    ("a refusal that is none", lambda t: t.replace("  source:", "  refused: \"too hard\"\n  source:", 1), "no longer refused"),
]
for what, breaks, says in BROKEN:
    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as f:
        f.write(breaks(text))
        f.flush()
        r = run(f.name, "--check")
        expect("%s is not noticed: %s" % (what, r.stderr), r.returncode and says in r.stderr)
for p in problems:
    print(p)
sys.exit(1 if problems else 0)
