#!/bin/bash
# jeoul validate as a person uses it: the shipped measurements, and files of their own.
. "$(dirname "$0")/lib.sh"
data=$JEOUL_SOURCE/data/validation
run 0 validate --set power; flat; has "Sources that the fit has not seen"; has "which promises 80 %"; has "fitted on these rows too"

whole() { ! sanitized; } # all rows of all sets
# every twentieth or sixtieth row of every set: the whole way to the page in seconds
sanitized && few_rows 60 || few_rows 20
few() { JEOUL_DATA="$work/few" run "$@"; }

# The keys that scripts rely on
whole && one= || one="--set train_llm"
run 0 validate $one --json
whole && json "{s['set'] for s in j['sets']} >= {'train_llm', 'train_own', 'train_vtrain', 'train_other', 'collectives', 'gemm_membw', 'power', 'memory', 'infer_llm', 'serve_silicon', 'finetune', 'finetune_memory', 'moe_and_large', 'other_train', 'other_memory', 'vision_train', 'vision_infer', 'vision_own', 'gemm_ops', 'attn_prefill_ops', 'attn_decode_ops', 'mla_ops', 'moe_ops', 'comm_ops'}"
# newer sources leave more out; what of them is not weighed says why
json "all(s['scored'] >= (0.6 if s['set'] in ('finetune', 'moe_and_large', 'other_train') else 0.97) * s['rows'] for s in j['sets'])"
for key in rows scored median_abs_ln p90_abs_ln macro_median_abs_ln bias_ln coverage80 n_parameters baseline by_gpu by_framework by_link; do
	json "all('$key' in s for s in j['sets'])"
done
json "all(len(s['baseline']) == 2 and all(b['median_abs_ln'] > s['median_abs_ln'] for b in s['baseline'].values()) for s in j['sets'] if s['scored'])"
json "all(sum(g['rows'] for g in s['by_gpu']) == s['rows'] for s in j['sets'] if s['scored'] and s['set'] not in ('finetune', 'other_train'))"
json "sum(u['rows'] for u in j['unscored']) == sum(s['rows'] - s['scored'] for s in j['sets'])"
json "j['parameters'] == 'shipped'"
json "[s['rows'] for s in j['sets'] if s['set'] == 'train_llm'][0] >= 864"

# Text: both languages, 80 columns, says that the parameters saw these rows
few 0 validate --json
cp "$work/out" "$work/json"
n=$(python3 -c "import json; print(format(sum(s['rows'] for s in json.load(open('$work/out'))['sets']), ','))")
m=$(python3 -c "import json; print(format(sum(s['scored'] for s in json.load(open('$work/out'))['sets']), ','))")
few 0 validate --worst 3 --lang en; narrow; has "leave-out source"; has "serve_silicon"; has "naive"; lacks "ln("
if grep -qE "^  power +[0-9]+ +[0-9.]+ % +[0-9.]+ % +[0-9.]+ % +[+-][0-9.]+ % +[0-9]+ % +[0-9.]+ %$" <<< "$out"; then ok; else bad "errors in percent, one figure of a naive guess: $out"; fi
has "$m of $n scored · $(python3 -c "import json; print(len(json.load(open('$work/json'))['sets']))") sets" # what the table below it sums to
few 0 validate --set serve_silicon --worst 3 --lang ko; narrow; has "serve_silicon"; has "단순 추측"

# One set, with the rows that are left out; the worst say where their time goes
run 0 validate --set power --leave-one-group-out --worst 5 --json
json "j['parameters'] == 'leave_one_group_out' and len(j['sets']) == 1 and len(j['sets'][0]['worst']) == 5"
json "all(w['line'] > 1 and w['why'] for w in j['sets'][0]['worst'])"
run 0 validate --set power --leave-out gpu --json; json "j['parameters'] == 'leave_gpu_out'"
run 0 validate --set power --leave-out source; has "without its source"; has "groups are left out"
run 0 validate --set power --leave-out source --json
json "j['sets'][0]['sources'] == 1 and j['sets'][0]['left_out'] == 'group' and 0 < j['sets'][0]['macro_coverage80'] <= 1"
run 0 validate --set power --leave-out source --lang ko; has "그 출처를 빼고"
run 2 validate --leave-out mood; says "gpu, framework, link"
run 2 validate --leave-out gpu --leave-one-group-out; one_line
run 0 validate --set train_llm --worst 5; has "compute"; has "memory"
run 0 validate --set train_vtrain --json; json "[s['set'] for s in j['sets']] == ['train_vtrain']"
run 2 validate --set train_lm; says "did you mean 'train_llm'"

# Files of their own: the set is told from the columns
head -40 "$data/collectives.csv" >"$work/mine.csv"
run 0 validate "$work/mine.csv" --json; json "j['sets'][0]['set'] == 'collectives' and j['sets'][0]['rows'] == 39 == j['sets'][0]['scored']"
printf '\xef\xbb\xbf' | cat - "$work/mine.csv" | sed 's/\r*$/\r/' >"$work/bom.csv"
run 0 validate "$work/bom.csv" --json; json "j['sets'][0]['scored'] == 39"

# Operators of serving engines: pairs of GPU and engine are left out in four parts; what a source marks is read and not scored
if whole; then
	run 0 validate --set gemm_ops --leave-out source --json
	json "j['sets'][0]['sources'] == 4 and j['sets'][0]['median_abs_ln'] < 0.25 and j['sets'][0]['scored'] == j['sets'][0]['rows'] > 2000"
	json "{f['framework'] for f in j['sets'][0]['by_framework']} == {'trtllm', 'vllm', 'sglang'}"
fi
head -3 "$data/gemm_ops.csv" | sed '3s/,,\([0-9]*\)$/,host_floor,\1/' >"$work/ops.csv"
run 0 validate "$work/ops.csv" --json; json "j['sets'][0]['set'] == 'gemm_ops' and j['sets'][0]['scored'] == 1 and 'host_floor' in j['unscored'][0]['reason']"

# What is wrong is said with its place; nothing is left out silently
head -1 "$data/gemm_membw.csv" >"$work/bad.csv"
cat >>"$work/bad.csv" <<'ROWS'
s,n,c,g,gemm,H100 SXM 80GB,bf16,,4096,4096,4096,,600,TFLOP/s,,torch,,a
s,n,c,g,gemm,H100 SXM 80GB,bf16,,4096,4096,4096,,-600,TFLOP/s,,torch,,a
s,n,c,g,gemm,H100 SXM 80GB,bf16,,4096,4096,4096,,nan,TFLOP/s,,torch,,a
s,n,c,g,gemm,Voodoo 2,bf16,,4096,4096,4096,,600,TFLOP/s,,torch,,a
s,n,c,g,gemm,H100 SXM 80GB,bf16,,,,,,600,TFLOP/s,,torch,,a
ROWS
run 0 validate "$work/bad.csv" --json
json "j['sets'][0]['scored'] == 1 and j['sets'][0]['rows'] == 5"
json "[u['lines'] for u in j['unscored']] == ['3', '4', '5', '6']"
json "'column 13 (value)' in j['unscored'][0]['reason'] and '-600' in j['unscored'][0]['reason'] and 'Voodoo 2' in j['unscored'][2]['reason']"
cd "$work" && run 0 validate bad.csv; has "bad.csv:3: column 13 (value): '-600' is not a positive number"

cut -d, -f1-6 "$work/mine.csv" | head -1 >"$work/short.csv"
run 1 validate "$work/short.csv"; one_line; says "fit no set"
sed 's/,/;/g' "$work/mine.csv" >"$work/semi.csv"
run 1 validate "$work/semi.csv"; one_line; says "semi.csv:1:1: columns look separated by"
{ cat "$work/mine.csv"; echo "one,two"; } >"$work/ragged.csv"
run 1 validate "$work/ragged.csv"; one_line; says "ragged.csv:41"
run 1 validate "$work/none.csv"; one_line; says "none.csv"
JEOUL_DATA="$work/nowhere" run 1 validate; one_line; says "JEOUL_DATA"

# Many rows: all of them are scored
sanitized && many=5000 || many=50000
python3 - "$data/collectives.csv" "$work/many.csv" $many <<'PY'
import sys
head, *rows = open(sys.argv[1], encoding="utf-8").read().splitlines()
with open(sys.argv[2], "w", encoding="utf-8") as out:
    out.write(head + "\n" + "\n".join(rows[i % len(rows)] for i in range(int(sys.argv[3]))) + "\n")
PY
run 0 validate "$work/many.csv" --json; json "j['sets'][0]['scored'] == $many"

# The command beside a row answers what the row was predicted as: every ninth row of two sets
run 0 validate --set train_llm --worst 900 --json; cp "$work/out" "$work/rows.json"
run 0 validate --set moe_and_large --worst 400 --json
python3 - "$JEOUL" "$work/rows.json" "$work/out" <<'PY' && ok || bad "commands of rows"
import json, math, shlex, statistics, subprocess, sys
off, refused, n = [], [], 0
for path in sys.argv[2:]:
    for s in json.load(open(path))["sets"]:
        rows = [w for w in s.get("worst", []) if "command" in w and "memory" not in s["set"]][::9]
        for w in rows:
            done = subprocess.run([sys.argv[1]] + shlex.split(w["command"])[1:] + ["--json"], capture_output=True, text=True)
            if done.returncode:
                refused.append((w["line"], done.stderr))
            else:
                off.append(abs(math.log(json.loads(done.stdout)["step_s"]["value"] / w["predicted"])))
off.sort()
print(len(off), "rows, refused", refused, "median", statistics.median(off), "p90", off[int(0.9 * len(off))])
sys.exit(bool(refused) or len(off) < 50 or statistics.median(off) > 0.05 or off[int(0.9 * len(off))] > 0.25)
PY

# The score card: page, plots, history; the same again when it is made again
mkdir "$work/card"
run 0 validate --set power --card "$work/card"
for file in SCORECARD.md scorecard/power.svg scorecard-history.csv; do [ -s "$work/card/$file" ] && ok || bad "no $file"; done
cp -r "$work/card" "$work/before"
run 0 validate --set power --card "$work/card"
diff -r "$work/before" "$work/card" >/dev/null && ok || bad "the card differs when it is made again"
python3 -c "import sys, xml.dom.minidom as x; x.parse(sys.argv[1])" "$work/card/scorecard/power.svg" && ok || bad "the plot is not XML"
run 1 validate --set power --card "$work/no-such-folder"; says "no-such-folder"
finish
