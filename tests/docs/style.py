#!/usr/bin/env python3
"""The style that every golden report, brief and documented example keeps, in both languages:
no particle in brackets, no English word in Korean output, no range in mixed units, no figure of an answer without what it counts, no
terminal line of more than 80 columns. style.py REPOSITORY"""
import glob
import html
import re
import sys
import unicodedata

root = sys.argv[1] if len(sys.argv) > 1 else "."
PARTICLES = re.compile(r"[이은을와](\(가\)|\(는\)|\(를\)|\(과\))|\(으\)로|\(이\)[가-힣]")
# words that have Korean ones (docs/GLOSSARY.md), met as words of their own; names, code and options are no words of a sentence
ENGLISH = re.compile(r"(?<![\w./-])(samples?/s|tokens?/s|peer-to-peer|bonded|through|batch(es)?|steps?|speed(-up)?|memory|hosts?|nodes?|device|epochs?|"
                     r"expected|measured|estimated|published|listed|given|cheaper|faster|slower|range|cost|effort|year|days?|months?|hours?|"
                     r"no GPU|the|and|of|is|with|USD|KRW)(?![\w./:=-])", re.I)
UNIT = r"(ns|µs|ms|s|min|h|d|y|초|분|시간|일|년|개월|[kMGTP]?i?B/s|[KMGTP]i?B|TFLOP/s|%|x|배|샘플/초|samples/s|달러|USD|원|KRW|kWh|W|kW)"
RANGE = re.compile(r"(?<![\w.])\d[\d.,]*\s?" + UNIT + r"(?![\w가-힣])\s?[●◆◇○]?\s?[–~]\s?\d[\d.,]*\s?" + UNIT + r"(?![\w가-힣])")
COUNTED = re.compile(r"^\s?[●◆◇○]?\s?(장|대|개|건|가지|스텝|년|일|명|번|GPU|nodes?|cores?|warnings?|errors?|steps?|samples?|claims?|measured|of|follow|do|cannot|are|→|\)|,|\.|건|times)")
NAMED_BEFORE = re.compile(r"(배치|batch of|batch|errors|warnings|Errors|문제|주의|GPUs:|assumed:|것:|→|up to|주장|from|에서)\s?$")
problems = []


def width(s):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)


def look(name, text, korean):
    for n, line in enumerate(text.split("\n"), 1):
        if PARTICLES.search(line):
            problems.append((name, n, "a particle in brackets", line))
        if RANGE.search(line):
            problems.append((name, n, "a range with two units", line))
        found = korean and ENGLISH.search(re.sub(r"`[^`]*`|\"[^\"]*\"|'[^']*'", "", line))
        if found:
            problems.append((name, n, "English: " + found.group(0), line))


def wide(name, text):
    for n, line in enumerate(text.split("\n"), 1):
        if width(line) > 80:
            problems.append((name, n, "%d columns" % width(line), line))


def first_screen(name, page):
    """A plain number of an answer is followed, or led, by what it counts."""
    for section in re.findall(r'<section class="ask.*?</section>', page, re.S):
        for m in re.finditer(r'<span class="n" data-origin="\w+" data-unit="1"[^>]*>(.*?)</span>(.{0,40})', section, re.S):
            before = html.unescape(re.sub(r"<[^>]*>", "", section[:m.start()]))[-24:]
            after = html.unescape(re.sub(r"<[^>]*>?", "", m.group(2)))
            if not COUNTED.match(after) and not NAMED_BEFORE.search(before):
                problems.append((name, 0, "a number without unit", before + "[" + re.sub(r"<[^>]*>", "", m.group(1)) + "]" + after))


def plain(page):
    """What a reader sees of a page, without code, names and charts."""
    page = re.sub(r"<(style|code|svg|title|pre)\b.*?</\1>", " ", page, flags=re.S)
    page = re.sub(r'<(span|text)[^>]*data-name="[^"]*"[^>]*>.*?</\1>', " ", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]*>", "", page))


reports = sorted(glob.glob(root + "/tests/golden/report/seed-*"))
briefs = sorted(glob.glob(root + "/examples/briefs/*.html"))
assert len(reports) >= 40 and len(briefs) == 10, "goldens are missing"
for path in reports + briefs:
    name, korean = path[len(root) + 1:], ".ko." in path
    text = open(path, encoding="utf-8").read()
    if path.endswith(".html"):
        look(name, plain(text), korean)
        first_screen(name, text)
    elif path.endswith(".txt"):
        wide(name, text)
        look(name, text, False)  # names stand unmarked in it: the page is looked at for words
for path in sorted(glob.glob(root + "/docs/cmd/*.md") + glob.glob(root + "/README*.md")):
    for block in re.findall(r"```console\n(.*?)```", open(path, encoding="utf-8").read(), re.S):
        # errors are one line, nccl-tests' format is its own, and lines to be copied are not broken
        shown = "\n".join(l for l in block.split("\n") if not re.match(r"\$ |jeoul: |# |clean: | +\d+ +\d+ +float| +(vllm|python -m) ", l))
        if "--json" in block or "--format" in block:
            continue
        wide(path[len(root) + 1:], shown)
        look(path[len(root) + 1:], shown, False)
for p in problems:
    print("%s:%d: %s: %s" % p)
print("%d files, %d problems" % (len(reports) + len(briefs), len(problems)))
sys.exit(bool(problems))
