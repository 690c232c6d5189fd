"""Run the examples of a page and compare what they print.

A block that begins with ```console holds commands ("$ jeoul ...") and what they print; "..." on a line of its own stands for any
number of lines. `run_examples.py --update PAGE` writes what is printed now into the page: look at the difference before you commit it.
"""
import os
import re
import subprocess
import sys
import tempfile


def blocks(lines):
    """Yield (first line of the output, end, command) for each command of each console block."""
    inside, start, command = False, None, None
    for i, line in enumerate(lines):
        if not inside and line.strip() == "```console":
            inside = True
        elif inside and (line.strip() == "```" or line.startswith("$ ")):
            if command is not None:
                yield start, i, command
                command = None
            if line.startswith("$ "):
                start, command = i + 1, line[2:].strip()
            else:
                inside = False


def run(command, bin_dir, work_dir):
    env = dict(os.environ, PATH=bin_dir + ":" + os.environ["PATH"], JEOUL_TODAY="2026-11-15", NO_COLOR="1", COLUMNS="80",
               XDG_CONFIG_HOME=work_dir + "/.config", XDG_DATA_HOME=work_dir + "/.data")
    done = subprocess.run(["bash", "-c", command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env, cwd=work_dir, timeout=60)
    return done.stdout.decode("utf-8").rstrip("\n").split("\n") if done.stdout else []


def matches(wanted, got):
    pattern = "\n".join(r"(?:.*\n)*?.*" if w.strip() == "..." else re.escape(w.rstrip()) for w in wanted)
    return re.fullmatch(pattern, "\n".join(g.rstrip() for g in got)) is not None


def shortened(wanted, got):
    """What is printed now, with as many lines before and after a "..." as the page shows."""
    left_out = [i for i, line in enumerate(wanted) if line.strip() == "..."]
    n_after = len(wanted) - 1 - left_out[0] if left_out else 0
    if len(left_out) != 1 or left_out[0] + n_after >= len(got):
        return got
    return got[:left_out[0]] + ["..."] + got[len(got) - n_after:]


def main():
    update = sys.argv[1] == "--update"
    page = sys.argv[-1]
    jeoul = os.path.abspath(os.environ["JEOUL"])
    bad, ran, left_out = 0, 0, 0
    with tempfile.TemporaryDirectory() as tmp:
        os.symlink(jeoul, os.path.join(tmp, "jeoul"))
        os.symlink(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples"), os.path.join(tmp, "examples"))
        lines = open(page, encoding="utf-8").read().split("\n")
        for start, end, command in reversed(list(blocks(lines))):
            wanted, got = lines[start:end], run(command, tmp, tmp)
            if got and "which was not there when this was built" in got[0]:
                left_out += 1  # a part that may be left out of a build
                continue
            ran += 1
            if matches(wanted, got):
                continue
            # an answer that became a refusal is a fault to look at, never a page to be written
            if update and not (got and got[0].startswith("jeoul: ") and not wanted[0].startswith("jeoul: ")):
                lines[start:end] = shortened(wanted, got)
                continue
            bad += 1
            print("%s:%d: $ %s\n--- the page says\n%s\n--- it prints\n%s" % (page, start, command, "\n".join(wanted), "\n".join(got)))
    if update:
        open(page, "w", encoding="utf-8").write("\n".join(lines))
    if ran == 0 and left_out:
        print("skipped: this build lacks what the page is about")
        return 77
    if ran == 0:
        print("%s: no example in a ```console block" % page)
        bad = 1
    print("%d passed, %d failed" % (ran - bad, bad))
    return 1 if bad else 0


sys.exit(main())
