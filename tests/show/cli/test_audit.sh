#!/bin/bash
# Audits from the outside: counts first, wrong claims with what they should be, JSON, exit codes, bad files.
. "$(dirname "$0")/lib.sh"
examples="$JEOUL_SOURCE/examples"

# Every example is audited in both languages, within 80 columns, and ends well
for n in 0 1 2 3 4; do
	for lang in en ko; do
		run 0 audit "$examples/seed-00$n.yaml" --lang $lang --all
		narrow
	done
	run 0 audit "$examples/seed-00$n.yaml" --json
	json "j['n_claims'] == len(j['claims']) == sum(j['n_' + v] for v in ('follows', 'differs', 'open', 'given')) and j['n_places'] >= j['n_claims']"
	json "all(c['verdict'] != 'differs' or c['derived'] or c['reason'] == 'contradiction' for c in j['claims'])"
	json "all(c['verdict'] != 'open' or c['why'] for c in j['claims'])"
done

# The note that forgot that a larger batch needs fewer batches
run 0 audit "$examples/seed-001.yaml" --lang en
has "Cannot be derived"; has "~2.7 h → 1.34 h (2.0x too high)"; has "989 TFLOPS"; has "Turing"; lacks "✓ L"
run 0 audit "$examples/seed-001.yaml" --lang ko
has "약 2.7시간 → 1.34시간 (2.0배 큼)"; has "배치 수를 그대로"; has "희소(sparse)"
run 0 audit "$examples/seed-001.yaml" --all --lang en
has "✓ L"; has "5.67 h = batches * step_s"
run 3 audit "$examples/seed-001.yaml" --strict
run 0 audit "$examples/seed-003.yaml" --json
json "[c['derived'] for c in j['claims'] if c['value'] == '~300 days'] == ['293 days']"
json "[c['derived'] for c in j['claims'] if c['value'] == '20 months'] == ['23.7 months']"
json "j['n_contradictions'] == 1"

# A text of one's own
printf 'inputs: {n: 10, t: 2 s}\nclaims:\n  - {at: 1, en: all of it, value: 20 s, from: n * t}\n' >"$work/a.yaml"
run 0 audit "$work/a.yaml" --strict --lang en; has "Of 1 claims 1 follow"
run 0 audit "$work/a.yaml" --json; json "j['n_follows'] == 1 and j['claims'][0]['derived_si'] == 20 and j['claims'][0]['si_unit'] == 's'"

# What is wrong is said in one line with its place
printf 'inputs: {n: 10, t: 2 s}\nclaims:\n  - {at: 1, en: it, value: 20 s, from: n + t}\n' >"$work/b.yaml"
run 1 audit "$work/b.yaml" --lang en; one_line; says "b.yaml:3:5"; says "units differ"
printf 'claims:\n  - {at: 1, en: it, value: 20 s, from: tt}\n' >"$work/c.yaml"
run 1 audit "$work/c.yaml" --lang ko; one_line; says "입력에도 단위에도 없는"
printf 'claims:\n  - {at: 1, en: it, value: 20 s, size: 3}\n' >"$work/d.yaml"
run 1 audit "$work/d.yaml" --lang en; one_line; says "'size'"
printf 'systems: [rtx-4090]\n' >"$work/e.yaml"
run 1 audit "$work/e.yaml" --lang en; one_line; says "no claims"
python3 -c 'print("claims:\n  - {at: 1, en: it, value: 1, from: " + "("*400 + "1" + ")"*400 + "}")' >"$work/f.yaml"
run 1 audit "$work/f.yaml" --lang en; one_line
printf 'claims:\n  - {at: 1, en: "<script>alert(1)</script>", value: 1, from: "2"}\n' >"$work/g.yaml"
run 0 audit "$work/g.yaml" --json; json "j['claims'][0]['verdict'] == 'differs'"; lacks "<script>"
# what a supply can bear is no sum of what is put on it: --fix must not make it larger
printf 'We put 4 cards of 450 W on one 1,600 W power supply: 4 x 450 = 1,800 W, which is fine.\n' >"$work/psu.md"
run 0 audit "$work/psu.md" --lang en; lacks "1,600 W (wrong)"
run 2 audit
run 1 audit "$work/none.yaml"; one_line

finish
