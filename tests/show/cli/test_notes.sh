#!/bin/bash
# Notes audited from the outside: planted errors found, quiet where nothing is wrong, every form, what is no note; the notes that the
# program grew from where JEOUL_SEEDS names their folder.
. "$(dirname "$0")/lib.sh"
here=$(dirname "$0") notes="$JEOUL_SOURCE/tests/fixtures/notes"

sanitized && every=4 || every=1
# At least 9 of 10 planted errors, no alarm in the notes as they stand
if python3 "$here/notes_planted.py" "$JEOUL" "$notes" "$notes/planted.tsv" 0.9 $every > "$work/planted"; then ok; else bad "$(cat "$work/planted")"; fi
for note in "$notes"/*.md "$notes"/*.txt "$notes"/*.html; do
	run 0 audit "$note" --strict --lang en; narrow
	run 0 audit "$note" --lang ko; narrow
	run 0 audit "$note" --json; json "j['n_wrong'] == j['n_differs'] == j['n_unlikely'] == 0 and j['n_confirmed'] > 3"
done
for note in "$notes"/right/*.md; do run 0 audit "$note" --strict --lang en; narrow; run 0 audit "$note" --strict --lang ko; done

# One that is wrong, in every form
sed 's/| 1800 W/| 1600 W/; s/performance: 989/performance: 1,979/' "$notes/cards.md" > "$work/wrong.md"
cd "$work" || exit 1
run 3 audit wrong.md --strict --lang en; flat
has "1,979 TFLOPS → 989 TFLOPS (differs from listed)"; has "2:4 sparse"; has "989 TFLOPS"; has "1600 W → 1800 W (wrong)"; has "power = each × pieces, as in 3 other rows, gives 1800 W"
run 0 audit wrong.md --lang ko; flat; has "희소(sparse)"; has "공개 사양과 다름"; has "1600 W → 1800 W (틀림)"
run 0 audit wrong.md --json
json "[(f['line'], f['rule'], f['fix']) for f in j['findings'] if f['shown'] and f['follows_from'] is None] == [(23, 'listed', '989'), (34, 'table', '1800')] or str([(f['line'], f['rule'], f['fix']) for f in j['findings']])"
run 0 audit wrong.md --format html; has '<mark class="wrong">1600 W</mark>'; has '<aside class="differs">'; has 'id="L34"'; lacks "<script"
run 0 audit wrong.md --format md; has "1600 W[^jeoul"; has "[^jeoul1]: **differs from listed**"
run 0 audit wrong.md --format sarif
json "j['version'] == '2.1.0' and j['runs'][0]['tool']['driver']['name'] == 'jeoul'"
json "any(r['ruleId'] == 'table' and r['level'] == 'error' and r['locations'][0]['physicalLocation']['region']['startLine'] == 34 for r in j['runs'][0]['results'])"
json "all(r['ruleId'] in [q['id'] for q in j['runs'][0]['tool']['driver']['rules']] for r in j['runs'][0]['results'])"
mkdir -p "a b"; cp wrong.md "a b/측정 100%.md"; run 0 audit "a b/측정 100%.md" --format sarif
json "j['runs'][0]['results'][0]['locations'][0]['physicalLocation']['artifactLocation']['uri'] == 'a%20b/%EC%B8%A1%EC%A0%95%20100%25.md'"
run 2 audit wrong.md --fix --json --lang en; one_line; says "a diff"
run 2 audit wrong.md --format sarif --json --lang en; one_line; says "--json"
run 2 audit wrong.md --fix --format html --lang ko; one_line
run 0 audit wrong.md --fix; has "-- FP16 performance: 1,979 TFLOPS"; has "+- FP16 performance: 989 TFLOPS"; has "--- a/wrong.md"
cp "$work/out" fix.patch
if patch -s -p1 < fix.patch && [ "$(sed -n 23p wrong.md)" = "$(sed -n 23p "$notes/cards.md")" ]; then ok; else bad "the diff does not apply"; fi
run 0 audit - --lang en < "$notes/ddp.md"; has "-: "
# What follows from a changed figure is changed with it, or named before the diff, which still applies
printf '| part | each | pieces | power |\n|---|---|---|---|\n| GPU | 450 W | 4 | 1800 W |\n| CPU | 280 W | 2 | 560 W |\n| disk | 12 W | 6 | 27 W |\n| fan | 15 W | 8 | 120 W |\n\n| part | power | for a day |\n|---|---|---|\n| GPU | 1800 W | 43.2 kWh |\n| CPU | 560 W | 13.4 kWh |\n| disk | 27 W | 0.6-0.7 kWh |\n| fan | 120 W | 2.88 kWh |\n' > twice.md
run 0 audit twice.md --fix --lang en; has "Line 12 follows from line 5, which is changed, and has to be written anew: 0.6-0.7 kWh"
cp "$work/out" twice.patch
if patch -s -p1 < twice.patch && [ "$(grep -c '72 W' twice.md)" = 2 ]; then ok; else bad "both places are to be changed"; fi
# Doubts are counted apart from errors
printf '# 서빙\n\n70B 모델의 bf16 가중치는 140GB이므로 A100 80GB 1장에 들어갑니다\n\n6 × 7 = 43\n' > doubt.md
run 3 audit doubt.md --strict --lang en; has "1 independent error and 1 doubtful figure among"; run 0 audit doubt.md --lang ko; has "오류 1건과 가능성이 낮은 값 1건"
run 0 audit doubt.md --json; json "j['n_roots'] == 1 and j['n_doubts'] == 1"; run 0 audit doubt.md --format html --lang en; has "independent error"

# Prices: outside everything that is listed for the thing, with the nearest row's place and date
printf '| GPU | price | rent per hour |\n|---|---|---|\n| RTX 3090 | ~$1,500 | $0.50 |\n| RTX 4090 | $16,000 | $0.60 |\n| H100 SXM | $30,000 | $29.00 |\n\n- p3.2xlarge: $3.06/h\n- RTX 2070 ($400)\n' > prices.md
run 0 audit prices.md --json
json "[(f['line'], f['written']) for f in j['findings']] == [(4, '\$16,000'), (5, '\$29.00')] or str(j['findings'])"
json "all(f['verdict'] == 'differs' and 'USD' in f['estimate'] and '20' in f['why'] and f['source'] for f in j['findings'])"

# What is inside the interval is said with it; what cannot be told says what it would need
printf '# all-reduce on P5 instance\n\nEFA: 400 GB/s\n\n- 125 nodes: algbw 156 GB/s\n- something took 31 s\n' > inside.md
run 0 audit inside.md --strict --lang en --all; has "156 GB/s (compatible)"; has "jeoul expects"; has "what would be needed"; has "model, batch and system"
run 0 audit inside.md --json; json "j['n_compatible'] == 1 and j['n_roots'] == 0 and j['findings'][0]['estimate']"
# What is just outside it is not marked as what is inside
printf '# all-reduce on P5 instance\n\nEFA: 400 GB/s\n\n- 2 nodes: algbw 340 GB/s\n' > beside.md
run 0 audit beside.md --lang en --all; has "! Line 5: 340 GB/s (just outside the interval)"; lacks "✓"

# The margin survives a note that means harm
printf '# <script>alert(1)</script>\n3 × 4 = 13 GB <img src=x onerror=y> \xe2\x80\xae\x1b[31m\n\nRTX 3090 48GB & "quotes"\n' > evil.md
run 0 audit evil.md --format html; lacks "<script>alert"; lacks "<img"; lacks $'\x1b'; lacks $'\xe2\x80\xae'
run 0 audit evil.md --lang en; lacks $'\x1b'; has "bytes are not text"

# What is no note: one clear line
head -c 4000 /dev/urandom > bin.md; run 1 audit bin.md --lang en; one_line; says "not a text"
printf '%%PDF-1.7\n' > a.pdf; run 1 audit a.pdf --lang ko; one_line; says "pdftotext"
run 1 audit nowhere.md; one_line
run 2 audit "$JEOUL_SOURCE/examples/seed-000.yaml" --fix --lang en; one_line; says "for a note"
printf 'title: t\nclaims:\n  - {at: 1, en: it, value: 4, from: 2 * 2}\n' > pipe.yaml
run 0 audit - --lang en < pipe.yaml; has "Of 1 claims 1 follow"

# Ten megabytes, a million columns: answered, and not with all the memory
sanitized && size=2000000 || size=10000000
python3 - "$notes/ddp.md" $size <<'PY'
import sys
text, size = open(sys.argv[1], encoding='utf-8').read().encode(), int(sys.argv[2])
open('big.md', 'wb').write((text * (size // len(text) + 1))[:size])
open('wide.md', 'wb').write(b'|' + b'1|' * 1000000 + b'\n|' + b'-|' * 1000000 + b'\n|' + b'2|' * 1000000 + b'\n')
PY
(sanitized || ulimit -v 2000000; run 0 audit wide.md --lang en) || bad "wide.md"
limit_s=60 run 0 audit big.md --lang en; flat; has "were not checked"
run 0 audit wide.md --lang en; flat; has "the first begins in line 1"; lacks "at its end"
# A table that is too long is named where it stands, and what comes behind it is read
python3 -c "print('# A log\\n\\n| step | s |\\n|---|---|\\n' + ''.join(f'| {i} | {i * 7 % 13}.5 |\\n' for i in range(500)) + '\\n6 × 7 = 43')" > long.md
run 0 audit long.md --lang en; flat; has "too long: 1; the first begins in line 3"; lacks "at its end"; has "6 × 7 gives 42"
run 0 audit long.md --lang ko; flat; has "3번째 줄"

# The notes that the program grew from, where they are: errors that hand-written claims find too
if [ -d "${JEOUL_SEEDS:-/nonexistent}" ]; then
	seed() { run 0 audit "$JEOUL_SEEDS"/$1*.txt --json; }
	line() { json "any(f['line'] == $1 and '$2' in f['written'] and f['shown'] for f in j['findings'])"; }
	seed 000; line 141 83.5; line 141 14.7; line 218 835; line 218 35; line 296 71
	json "[f['premises'] for f in j['findings'] if f['line'] == 141][0].startswith('107')"
	seed 001; json "not any(f['shown'] and f['line'] in (78, 113, 124, 174) and '초' in f['written'] for f in j['findings'])"; line 91 0.2-0.3
	line 114 2.7; line 117 2.1; line 128 2.7; line 165 0.9; line 89 1,979; line 50 2; line 51 3; line 26 2023
	json "all(not f['fix'] for f in j['findings'] if f['rule'] == 'batches' and f['impossible_premise']) and any(f['impossible_premise'] for f in j['findings'])"
	run 0 audit "$JEOUL_SEEDS"/001*.txt --fix; lacks "+- 아키텍처: Hopper"
	run 0 audit "$JEOUL_SEEDS"/002*.txt --lang en; has "Blackwell Server"; lacks "Workstation"
	seed 002; line 189 35; line 152 7B; line 172 70B; line 179 405B; line 134 All-Reduce; line 129 NVSwitch
	run 0 audit "$JEOUL_SEEDS"/004*.txt --lang en; has "4 independent errors and 1 doubtful figure"
	seed 004; line 103 270; line 104 39; line 17 Busbw
	seed 003; json "j['n_wrong'] + j['n_differs'] + j['n_unlikely'] <= 3"
fi
finish
