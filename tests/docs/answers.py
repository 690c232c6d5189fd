#!/usr/bin/env python3
"""The questions of the five notes, each answered on the first screen in a sentence with its figure, the same figures in both languages.
docs/ANSWERS.md is what the program says (cli/report compares it) and the golden texts are what a terminal shows. Usage: answers.py SOURCE"""
import re
import sys

source = sys.argv[1]
LINES = 30  # of a terminal: what is seen without scrolling
bad = []
said = {"ko": [], "en": []}
for line in open(source + "/docs/ANSWERS.md", encoding="utf-8"):
    found = re.match(r"- \*\*(?:[✓!✗?] )?(.+?)\*\* (.+)$", line)
    if found:
        said["ko" if re.search("[가-힣]", found.group(1)) else "en"].append(found.groups())
if len(said["ko"]) < 10 or len(said["ko"]) != len(said["en"]):
    bad.append("%d questions in Korean, %d in English" % (len(said["ko"]), len(said["en"])))


def figures(answer):
    """The numbers that carry a mark, with or without a range between them."""
    return sorted(re.findall(r"(\d[\d,.]*)(?: ?[^\s\d○●◆◇(),.]{1,12}){0,2}(?: \([^()]*\))? [○●◆◇]", answer))


screens = {lang: [re.sub(r"\s+", "", "".join(open("%s/tests/golden/report/seed-00%d.%s.txt" % (source, n, lang), encoding="utf-8").readlines()[:LINES]))
                  for n in range(5)] for lang in said}
for lang, answers in said.items():
    for question, answer in answers:
        at = "%s: %s" % (lang, question)
        if not question.endswith("?"):
            bad.append(at + ": no question")
        if not re.search(r"니다[.:(]" if lang == "ko" else r"[a-z0-9] ?[○●◆◇]?[.:](?: |$)", answer):
            bad.append(at + ": no sentence: " + answer)
        if not re.search(r"\d", answer) or not re.search("[○●◆◇]", answer):
            bad.append(at + ": no figure that says where it comes from")
        if lang == "ko" and re.search(r"\d ?(x|d|h|USD|samples)\b(?! ?[A-Z])", re.sub(r"\d+x [A-Z]", "", answer)):
            bad.append(at + ": a unit in English: " + answer)
        if not any(re.sub(r"\s+", "", answer)[:24] in screen for screen in screens[lang]):
            bad.append(at + ": not on the first screen: " + answer[:60])
for (ko, a), (en, b) in zip(said["ko"], said["en"]):
    if figures(a) != figures(b):
        bad.append("%s and %s: other figures: %s, %s" % (ko, en, sorted(set(figures(a)) - set(figures(b))), sorted(set(figures(b)) - set(figures(a)))))
for line in bad:
    print(line)
print("%d questions in each language, %d problems" % (len(said["en"]), len(bad)))
sys.exit(bool(bad))
