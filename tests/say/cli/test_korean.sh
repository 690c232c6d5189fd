#!/bin/bash
# Korean messages: a particle follows its word without a blank, and both forms stand only behind words that are inserted.
. "$(dirname "$0")/lib.sh"
if python3 - "$JEOUL_SOURCE/src" <<'P'
import pathlib, re, sys
both = r"(?:을\(를\)|은\(는\)|이\(가\)|와\(과\)|\(으\)로)"
apart = re.compile(r"[A-Za-z0-9_')] " + both + r"|[A-Za-z0-9_] (?:을|를|와|과|으로|로)(?=[ .,;:\\])")
literal = re.compile(r"[가-힣]" + both)  # the final sound of a word that stands there is known
bad = 0
for path in sorted(pathlib.Path(sys.argv[1]).rglob("*.[ch]")):
    text = path.read_text(encoding="utf-8")
    for m in re.finditer(r'"(?:[^"\\\n]|\\.)*"', text):
        if apart.search(m.group()) or literal.search(m.group()):
            print(f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {m.group()[:100]}")
            bad += 1
sys.exit(bad > 0)
P
then ok; else bad "particles"; fi
finish
