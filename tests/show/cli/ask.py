"""Answers questions about what the program printed, for lib.sh. A question is a Python expression, ended by a zero byte; the answer is one line, `yes` or
what is wrong. `text` is the output, `j` the same parsed as JSON, width() the columns of a line, wide() its lines beyond 80 columns but for those that match a pattern.
One process for a whole script: to start Python takes longer than to run the program."""
import json
import re
import sys
import unicodedata


def width(line):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


def answer(question):
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    names = {"text": text, "json": json, "width": width, "wide": lambda but="$^": [line for line in text.split("\n") if width(line) > 80 and not re.search(but, line)]}
    if re.search(r"\bj\b", question):
        names["j"] = json.loads(text)
    said = eval(question, names)
    return "yes" if said is True else str(said)[:400]


left = b""
while chunk := sys.stdin.buffer.raw.read(65536):
    *questions, left = (left + chunk).split(b"\0")
    for q in questions:
        try:
            print(answer(q.decode("utf-8")).replace("\n", " "), flush=True)
        except Exception as wrong:
            print(repr(wrong).replace("\n", " "), flush=True)
