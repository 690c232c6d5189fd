#!/bin/bash
# jeoul report: the seeds in both languages and all forms, bad scenarios, hostile titles, results from the store and from files.
. "$(dirname "$0")/lib.sh"
export JEOUL_TODAY=2026-11-15 TZ=UTC XDG_DATA_HOME="$work/data" JEOUL_MACHINE=
unset JEOUL_STORE
cd "$JEOUL_SOURCE" || exit 1
line() { printf '%s\n' "$@" > "$work/s.yaml"; }
walk() { if python3 "$JEOUL_SOURCE/tests/web/bare_numbers.py" "$@" > "$work/walk"; then ok; else bad "$(head -5 "$work/walk")"; fi; }

# golden files: 5 seeds x 2 languages x 4 forms
mkdir -p "$work/golden"
if GOLDEN_OUT="$work/golden" scripts/golden "$JEOUL" 2> "$work/err"; then ok; else bad "scripts/golden: $(cat "$work/err")"; fi
# JSON has every digit of a number, and the last one is the processor's and its libm's
same() { # GOLDEN MADE
	cmp -s "$1" "$2" && return
	[ "${1%.json}" != "$1" ] && python3 - "$1" "$2" <<'P'
import json, math, sys
def same(a, b):
	if type(a) is not type(b): return False
	if isinstance(a, dict): return list(a) == list(b) and all(same(a[k], b[k]) for k in a)
	if isinstance(a, list): return len(a) == len(b) and all(map(same, a, b))
	return math.isclose(a, b, rel_tol=1e-14) if isinstance(a, float) else a == b
sys.exit(not same(*(json.load(open(f)) for f in sys.argv[1:])))
P
}
for f in tests/golden/report/*; do
	if same "$f" "$work/golden/$(basename "$f")"; then ok; else
		bad "$(basename "$f") differs (scripts/golden writes them anew): $(diff "$f" "$work/golden/$(basename "$f")" | head -3 | cut -c1-200)"
	fi
done
cmp -s docs/ANSWERS.md "$work/golden.answers.md" && ok || bad "docs/ANSWERS.md differs (scripts/golden)"
[ "$(grep -c '^- \*\*' docs/ANSWERS.md)" -ge 20 ] && ok || bad "fewer than ten questions in two languages"
[ "$(ls tests/golden/report | wc -l)" = 40 ] && ok || bad "not 40 golden files"
walk "$work"/golden/*.html
for f in "$work"/golden/*.json; do python3 -c "import json,sys; j=json.load(open('$f')); assert j['blocks'] and j['title']" && ok || bad "$f"; done
python3 - "$work"/golden/*.txt <<'P' && ok || bad "text wider than 80 columns"
import sys, unicodedata
def width(s):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in s)
wide = [(p, l) for p in sys.argv[1:] for l in open(p, encoding="utf-8").read().split("\n") if width(l) > 82]
for p, l in wide[:5]: print(p, l)
sys.exit(bool(wide))
P

# the briefs of the examples: what stands before the evidence, and nothing behind it
for n in 0 1 2 3 4; do for lang in ko en; do
	run 0 report examples/seed-00$n.yaml --brief --lang $lang -o "$work/brief.html"; walk "$work/brief.html"
	cmp -s "$work/brief.html" examples/briefs/seed-00$n.$lang.html && ok || bad "examples/briefs/seed-00$n.$lang.html differs (scripts/golden)"
	grep -q '<details' "$work/brief.html" && bad "evidence in a brief" || ok
done; done
# what was measured stands in for what was predicted: 29.3 samples/s, not the model's 22
run 0 report examples/seed-002.yaml --brief --lang en; has "on 2 GPUs 29.3 ●"; has "Batch 16 per GPU instead of 4"
run 0 report examples/seed-001.yaml --lang en; has "20 times, first"; lacks "L166"

# five lines are a full report
line "title: 다섯 줄" "systems:" "  - 2x rtx-3090" "  - {on: rtx-4090, name: 새 카드}" "workload: {model: gpt2-124m, batch: 4}"
run 0 report "$work/s.yaml" --json
json "{b.get('id') for b in j['blocks'] if b['kind'] == 'section'} >= {'actions', 'specifications', 'comparison', 'scaling', 'time', 'memory', 'topology', 'assumed', 'origins', 'method'}"
json "all(set(r) >= {'value', 'unit', 'origin'} for b in j['blocks'] for r in b.get('runs', []) if isinstance(r, dict) and not {'section', 'url'} & set(r))"
run 0 report "$work/s.yaml" --lang ko; has "할 일"; has "새 카드"

# of one system: its step on an axis of time, its memory as a waterfall, its topology; the same charts as predict draws
line "title: one" "systems:" "  - 2x(8x h100-sxm5) over ib-ndr" "workload: {model: llama-3-8b}"
run 0 report "$work/s.yaml" --format text; has "hidden behind it"; has "the device has 80 GiB"; has "peak  "; has "narrowest link: 6.2 GB/s a GPU"
run 0 report "$work/s.yaml" --json
json "[b['chart']['kind'] for b in j['blocks'] if b['kind'] == 'chart'].count('spans') >= 2"
for lang in en ko; do run 0 report "$work/s.yaml" --lang $lang -o "$work/one.html"; walk "$work/one.html"; done
line "systems: [rtx-4090]"
run 0 report "$work/s.yaml"; has "no model was named"

# questions: answered with a figure and the section it stands in; what cannot be answered says what is needed
line "systems: [{name: A, on: 4x rtx-3090, baseline: yes}, {name: B, on: 4x rtx-4090}]" "workload: {model: gpt2-124m, batch: 4}" "questions:" \
	"  - {ask: fastest, en: which?}" "  - {ask: speed, of: B}" "  - {ask: time, of: A, en: how long?}" "  - {ask: fits, en: does it fit?}" \
	"  - {ask: scaling, en: how many pay off?}" "  - {ask: scaling, gpus: 2, en: and two?}" "  - {ask: scaling, gpus: 3, en: and three?}" "  - {ask: why, of: A, en: what holds it?}" "  - {ask: energy}" "  - {ask: do}" "  - {ask: helps, what: offload}" \
	"  - {ask: breakeven, en: buy or rent?}" "  - {ask: normal, nodes: 4, en: 4 nodes?}" "  - {ask: best, en: which card?}" "  - what is the meaning of 42?"
run 0 report "$work/s.yaml" --lang en --json
for heading in "which?" "how long?" "does it fit?" "how many pay off?" "what holds it?"; do
	json "[b for b in j['blocks'] if b.get('title') == '$heading' and b['mark'] != 'unknown' and any('value' in r for r in b['runs'] if isinstance(r, dict)) and any('section' in r for r in b['runs'] if isinstance(r, dict))]"
done
json "[b for b in j['blocks'] if b.get('title') == 'how many pay off?' and 'GPU' in str(b['runs'])]"
json "[b for b in j['blocks'] if b.get('title') == 'and two?' and any(r.get('value') == 2 for r in b['runs'] if isinstance(r, dict))]"
json "[b for b in j['blocks'] if b.get('title') == 'and three?' and b['mark'] == 'unknown']"
json "{r['section'] for b in j['blocks'] for r in b.get('runs', []) if isinstance(r, dict) and 'section' in r} <= {b.get('id') for b in j['blocks']}"
for heading in "buy or rent?" "4 nodes?" "which card?"; do
	json "[b for b in j['blocks'] if b.get('title') == '$heading' and b['mark'] == 'unknown' and 'Needed: ' in ''.join(r for r in b['runs'] if isinstance(r, str))]"
done
json "[b for b in j['blocks'] if b.get('title') == 'what is the meaning of 42?' and b['mark'] == 'unknown' and 'breakeven' in b['runs']]"
json "not any(b.get('title') == 'Which one is fastest?' for b in j['blocks'])"
run 0 report "$work/s.yaml" --lang en; has "cost: with something to buy"; has "→ Comparison"; has "→ Memory"
run 0 report "$work/s.yaml" -o "$work/q.html"; walk "$work/q.html"; grep -q 'href="#memory"' "$work/q.html" && ok || bad "no link to the section"
line "systems: [rtx-4090]" "questions: [{ask: fastets}]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; says "fastest"; one_line
line "systems: [rtx-4090]" "questions: [{ask: fits, of: C}]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; says "'C'"; one_line
line "systems: [rtx-4090]" "questions: [{of: rtx-4090}]"; run 1 report "$work/s.yaml"; says "ask:"; one_line
line "allreduce: {on: aws:p5.48xlarge, nodes: [8, 125]}" "measured: [{what: algbw_Bps, nodes: 8, value: 270 GB/s}, {what: algbw_Bps, nodes: 125, value: 60 GB/s}]" \
	"questions: [{ask: normal, en: all well?}]"
run 0 report "$work/s.yaml" --lang en; has "✗ all well?"; has "No, it is slow: 60 GB/s"; has "cannot be an algbw of 8 nodes"

# a purpose or a budget: the front of the whole catalog
line "recommend: {purpose: kaggle, budget: 3000 USD, only: [rtx-3090, rtx-4090], how: [buy, rent]}" "questions: [{ask: best, en: which machine?}]"
run 0 report "$work/s.yaml" --lang en --json
json "[b for b in j['blocks'] if b.get('title') == 'which machine?' and b['mark'] != 'unknown' and {'section': 'recommend', 'title': 'Which machine'} in b['runs']]"
json "[b for b in j['blocks'] if b['kind'] == 'chart' and b['chart']['kind'] == 'scatter' and sum(len(s['points']) for s in b['chart']['series']) > 3]"
json "all(c['runs'][0]['value'] <= 3000 for b in j['blocks'] if b['kind'] == 'table' and b['columns'][-1] == 'All of it' for row in b['rows'] for c in row[-1:])"
run 0 report "$work/s.yaml" -o "$work/r.html"; walk "$work/r.html"
line "recommend: {purpose: kagle}"; run 1 report "$work/s.yaml"; says "s.yaml:1:"; says "kaggle"; one_line
line "recommend: {budget: 3000 USD}"; run 1 report "$work/s.yaml"; says "s.yaml:1:"; says "purpose:"; one_line
line "recommend: {purpose: kaggle, budget: 400만원}"; run 1 report "$work/s.yaml"; says "fx"; one_line
line "recommend: {purpose: kaggle, budget: 1 USD, only: [rtx-3090]}"; run 0 report "$work/s.yaml" --lang en; has "Nothing does it within these limits"
line "recommend: {purpose: kaggle, months: 0}"; run 1 report "$work/s.yaml"; says "months"; one_line
line "recommend: {purpose: kaggle, how: [steal]}"; run 1 report "$work/s.yaml"; says "rent"; one_line

# bad scenarios: one line, with its place
line "title: x" "systms: [rtx-4090]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; says "systems"; one_line
line "systems: [rtx-40900]"; run 1 report "$work/s.yaml"; says "s.yaml:1:"; says "rtx-4090"; one_line
line "systems: [rtx-4090]" "workload: {observed: {step: 1.06, batch: 128}}"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; says "unit"; one_line
line "systems: [rtx-4090]" "workload: {observed: {batch: 128}}"; run 1 report "$work/s.yaml"; says "step"; one_line
line "systems: [rtx-4090]" "workload: {model: gpt-999}"; run 1 report "$work/s.yaml"; one_line
line "systems: [rtx-4090]" "sections: [sumary]"; run 1 report "$work/s.yaml"; says "sumary"; one_line
line "systems: [rtx-4090]" "measured: [{what: samples_per_s, value: 3 GB}]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; one_line
line "systems: [rtx-4090]" "systems: [rtx-3090]"; run 1 report "$work/s.yaml"; one_line
line "just words"; run 1 report "$work/s.yaml"; one_line
run 1 report "$work/not-there.yaml"; one_line
run 2 report examples/seed-000.yaml -o "$work/report.pdf"; says ".html"; one_line
run 1 report examples/seed-000.yaml -o "$work/no/such/folder.html"; one_line
python3 -c "print('systems:'); [print('  - rtx-4090') for _ in range(10000)]" > "$work/many.yaml"
run 1 report "$work/many.yaml"; says "many.yaml:34:"; one_line

# nothing in a text executes
line 'title: "<script>alert(1)</script>"' 'subtitle: "\"><img src=x onerror=alert(2)>"' 'systems:' \
	"  - {on: rtx-4090, name: '\"><svg onload=alert(3)>', note: '<b>&amp;'}" '  - rtx-3090' \
	'questions: ["</title><script>alert(4)</script>", "| a | `b`"]'
run 0 report "$work/s.yaml" -o "$work/x.html"; walk "$work/x.html"
grep -qi '<script\|<img\|<svg o' "$work/x.html" && bad "markup of a title came through" || ok
run 0 report "$work/s.yaml" --format md; lacks "<script"; lacks "<img"
line 'systems: [{on: rtx-4090, name: "a\u001b[31mred"}]'; run 1 report "$work/s.yaml"; says "s.yaml:1:"; says "control"; one_line
line 'title: "a\n```\n<script>"' 'systems: [rtx-4090]'; run 1 report "$work/s.yaml" --format md; one_line

# results from a file and from the store; the store is only read
logs="$JEOUL_SOURCE/tests/fixtures/logs"
run 0 import "$logs/nccl-allreduce-2x8.txt" --machine "H100 시험"
run 0 store export; cp "$work/out" "$work/results.jsonl"
id=$(head -1 "$work/results.jsonl" | python3 -c "import json,sys; print(json.load(sys.stdin)['id'])")
line "systems: [rtx-4090]" "measured: [{file: results.jsonl}]"; run 0 report "$work/s.yaml"; has "allreduce"
line "systems: [rtx-4090]" "measured: [{record: $id}]"; run 0 report "$work/s.yaml"; has "allreduce"
line "systems: [rtx-4090]" "measured: [{record: ZZZZZZZZ}]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; one_line
line "systems: [rtx-4090]" "measured: [{file: gone.jsonl}]"; run 1 report "$work/s.yaml"; says "s.yaml:2:"; one_line
run 0 store list --json; json "len(j['records']) == 10"

# a system that cannot be weighed is left out with its reason, also as the baseline
mkdir -p "$work/odd"
printf '%s\n' 'links:' '  - {id: odd-net, name: Odd net, role: network, kind: ethernet, per: port, source: intel-ark, date: 2025}' > "$work/odd/l.yaml"
line 'systems: [{on: "2x(rtx-3090) over odd-net", name: Odd, baseline: yes}, rtx-4090, h100-sxm5]' "workload: {model: gpt2-124m, batch: 4}"
run 0 report "$work/s.yaml" --catalog "$work/odd"; has "Odd: the rate of odd-net is not in the catalog"; has "Which one is fastest?"; has "h100-sxm5 is about"

# a store that --store names, or that cannot be read, is an error; one of the environment may be missing: nothing was measured yet
run 1 report --store "$work/none.db"; says "none.db: there is no such store"; one_line
echo no database > "$work/text.db"; run 1 report --store "$work/text.db"; says "not an SQLite database"; one_line
run 1 report --store "$work"; says "a folder"; one_line
run 1 report --store postgres://127.0.0.1:1/x; says "127.0.0.1"; one_line
head -c 3000 "$XDG_DATA_HOME"/jeoul/*.db > "$work/cut.db"; run 1 report --store "$work/cut.db"; one_line
JEOUL_STORE="$work/none.db" run 0 report --lang en; has "bench all --quick"
XDG_DATA_HOME="$work/empty" run 0 report --brief; has "Nothing was measured"

# this machine
run 0 report --lang ko; has "어떤 장비인가?"; has "문제가 있나?"; has "수치는 정상인가?"; flat; has "jeoul bench all --quick"
run 0 report --brief --lang en; has "What is it?"; lacks "Method and how wrong"
run 0 report --json; json "any(b.get('id') == 'machine' for b in j['blocks'])"
run 0 report -o "$work/here.html"; walk "$work/here.html"
# Programs read the same columns in every language; people read theirs
run 0 report "$JEOUL_SOURCE/examples/seed-000.yaml" --json --lang ko
json "[c for b in j['blocks'] if b['kind'] == 'table' for c in b['columns']] and not [c for b in j['blocks'] if b['kind'] == 'table' for c in b['columns'] if any('가' <= x <= '힣' for x in c)]"
json "any('가' <= x <= '힣' for b in j['blocks'] if b['kind'] == 'table' for h in b['heads'] for x in h)"

# Scaling compares one recipe: four GPUs are not five times one
cat >"$work/scale.yaml" <<'END'
title: one recipe
systems: [{name: station, on: 4x v100-dgxs-32gb via nvlink2-mesh}]
workload: {model: gpt2-124m, batch: 4, seq: 512}
questions: [{ask: scaling}]
END
run 0 report "$work/scale.yaml" --lang en; flat
ask "all(float(x) <= 102 for x in __import__('re').findall(r'\(efficiency (\d+) %', text)) and 'efficiency' in text"

finish
