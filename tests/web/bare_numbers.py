#!/usr/bin/env python3
"""Checks a report for bare numbers: every figure must be inside markup with its origin, unit and value.

Charts included: points, bar labels, matrix cells and tree boxes are figures like those of tables; axis ticks are marked as a scale
(data-origin="scale") with their unit. Names (data-name), code, dates (time) and the text description of a chart are not figures; a "name"
that is only a number with a unit is reported."""
import html.parser
import re
import sys
import urllib.parse

VOID = {"meta", "link", "br", "img", "hr", "input"}
QUIET = {"style", "title", "desc", "code", "time"}
ORIGINS = {"measured", "published", "listed", "estimated", "given", "scale"}
DISGUISED = re.compile(r"^(?!(19|20)\d\d(-\d\d)*$)[~≤≥±+-]?\d[\d,.]*\s*([kMGTP]i?B(/s)?|B/s|[kMGTP]?FLOPS?(/s)?|[kM]?W|kWh|[GM]b/s|GiB|USD(/h)?|KRW|[mµun]?s|h|d|%|x|"
                       r"samples/s|tokens/s|GPU|배|개|장|일|개월|초|시간|days|months|)$")


class Walk(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.bare, self.n_figures, self.n_charts, self.levels = [], [], 0, 0, []
        self.problems, self.ids, self.links = [], set(), []

    def figure(self, tag, a):
        self.n_figures += 1
        if not a.get("data-unit") or not a.get("data-value"):
            self.problems.append("a figure without unit or value: %r" % a)
        if a["data-origin"] not in ORIGINS:
            self.problems.append("an origin that nobody knows: %r" % a)
        if a["data-origin"] == "scale" and tag != "text":
            self.problems.append("only ticks are a scale: %s %r" % (tag, a))

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag not in VOID:
            self.stack.append((tag, a))
        if "data-origin" in a:
            self.figure(tag, a)
        if "data-axis" in a:
            self.problems.append("data-axis says neither origin nor unit: %r" % a)
        if tag == "script" or any(k.startswith("on") for k in a):
            self.problems.append("something that executes: %s %r" % (tag, a))
        if tag in ("h1", "h2", "h3", "h4"):
            level = int(tag[1])
            if self.levels and level > self.levels[-1] + 1 or not self.levels and level != 1:
                self.problems.append("heading %s after %r" % (tag, self.levels[-1:]))
            self.levels.append(level)
        if tag == "th" and a.get("scope") not in ("row", "col"):
            self.problems.append("a table header without scope")
        if tag == "svg":
            self.n_charts += 1
            if a.get("aria-hidden") != "true" and (a.get("role") != "img" or not (a.get("aria-labelledby") or a.get("aria-label"))):
                self.problems.append("a chart or a mark without alternative text")
        if tag == "html" and a.get("lang") not in ("ko", "en"):
            self.problems.append("no language")
        if a.get("id"):
            if a["id"] in self.ids:
                self.problems.append("the id %s twice" % a["id"])
            self.ids.add(a["id"])
        for k in ("src", "href"):
            if a.get(k, "").startswith("#"):
                self.links.append(a[k][1:])
            elif a.get(k) and tag == "a" and a.get("class") == "out" and a.get("rel") == "noreferrer":
                to = urllib.parse.urlsplit(a[k])  # an external link to a source
                if to.scheme not in ("http", "https") or "." not in to.netloc or " " in a[k]:
                    self.problems.append("not an address: %s" % a[k])
            elif a.get(k) and not a[k].startswith("data:"):
                self.problems.append("leads outside: %s" % a[k])

    def handle_startendtag(self, tag, attrs):
        before = len(self.stack)
        self.handle_starttag(tag, attrs)
        del self.stack[before:]

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop()[0] != tag:
            pass

    def handle_data(self, data):
        if not any(c.isdigit() and c.isascii() for c in data):
            return
        quiet = named = False
        for tag, a in self.stack:
            if "data-origin" in a:
                return
            quiet |= tag in QUIET
            named |= "data-name" in a
        if quiet or named and not DISGUISED.match(data.strip()):
            return
        self.bare.append(data.strip())


def look(text):
    walk = Walk()
    walk.feed(text)
    walk.problems += ["a bare number: %r" % b for b in walk.bare]
    walk.problems += ["a link to nothing: #%s" % to for to in walk.links if to not in walk.ids]
    return walk


# Self-test: cases that the check must find.
FAULTS = ["<p>3 GB/s</p>", '<text data-axis="y">3</text>', '<text data-origin="scale" data-value="3">3</text>',
          '<span data-origin="measured" data-unit="s">3 s</span>', '<text data-name="">24 GiB</text>', '<a href="#none">x</a>',
          '<g data-origin="scale" data-unit="x" data-value="3">3x</g>', '<span data-origin="guessed" data-unit="1" data-value="3">3</span>',
          "<p onclick='x'>a</p>", "<script></script>", '<img src="http://x/">',
          '<a href="https://a.org/">x</a>', '<a class="out" rel="noreferrer" href="https://a b/">x</a>', '<svg class="o"></svg>']
FINE = ['<text data-origin="scale" data-unit="B/s" data-value="3e9">3 GB/s</text>', '<span data-name="">RTX 3090</span>',
        '<g data-origin="estimated" data-unit="x" data-value="3"><title>3x</title><text>3x</text></g>', "<code>jeoul 3</code>",
        '<a class="out" rel="noreferrer" href="https://a.org/x">x</a>', '<svg class="o" role="img" aria-label="measured"></svg>']
for fault in FAULTS:
    assert look(fault).problems, "not found: " + fault
for fine in FINE:
    assert not look(fine).problems, "found: " + fine

failed = False
for path in sys.argv[1:]:
    walk = look(open(path, encoding="utf-8").read())
    for line in walk.problems:
        print("%s: %s" % (path, line))
        failed = True
    if walk.n_figures < 10:
        print("%s: only %d figures" % (path, walk.n_figures))
        failed = True
sys.exit(failed)
