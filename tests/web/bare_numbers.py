#!/usr/bin/env python3
"""Walks a report and fails on a bare number: every figure must stand inside markup that says its origin, unit and value.

Names (data-name), code, dates (time), ticks of an axis (data-axis) and the words that stand in for a chart are no figures."""
import html.parser
import sys

VOID = {"meta", "link", "br", "img", "hr", "input"}
QUIET = {"style", "title", "desc", "code", "time"}


class Walk(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.stack, self.bare, self.n_figures, self.n_charts, self.levels = [], [], 0, 0, []
        self.problems = []

    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        if tag not in VOID:
            self.stack.append((tag, a))
        if "data-origin" in a:
            self.n_figures += 1
            if not a.get("data-unit") or not a.get("data-value"):
                self.problems.append("a figure without unit or value: %r" % a)
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
            if a.get("role") != "img" or not a.get("aria-labelledby"):
                self.problems.append("a chart without alternative text")
        if tag == "html" and a.get("lang") not in ("ko", "en"):
            self.problems.append("no language")
        for k in ("src", "href"):
            if a.get(k) and not a[k].startswith(("#", "data:")):
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
        for tag, a in self.stack:
            if tag in QUIET or "data-origin" in a or "data-name" in a or "data-axis" in a:
                return
        self.bare.append(data.strip())


failed = False
for path in sys.argv[1:]:
    walk = Walk()
    walk.feed(open(path, encoding="utf-8").read())
    for line in walk.problems + ["a bare number: %r" % b for b in walk.bare]:
        print("%s: %s" % (path, line))
        failed = True
    if walk.n_figures < 10:
        print("%s: only %d figures" % (path, walk.n_figures))
        failed = True
sys.exit(failed)
