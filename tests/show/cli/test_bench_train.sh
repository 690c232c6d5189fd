#!/bin/bash
# The training benchmark as a person uses it, on a model small enough for a test.
. "$(dirname "$0")/lib.sh"
mkdir "$work/catalog"
cat >"$work/catalog/tiny.yaml" <<'YAML'
models:
  - id: tiny-gpt
    name: Tiny GPT
    family: gpt2
    n_layers: 2
    hidden: 64
    heads: 2
    kv_heads: 2
    head_dim: 32
    ffn: 256
    vocab: 499
    seq: 32
    positions: 64
    tied: false
    bias: true
    final_norm: true
    source: gpt-305m-note
    date: 2025
YAML
plain=(--catalog "$work/catalog" bench train --model tiny-gpt --threads 1)
some=("${plain[@]}" --seq 32 --steps 3)
train=("${some[@]}" --batch 2)

if ! "$JEOUL" "${train[@]}" --workers 1 --no-store >/dev/null 2>"$work/err" && grep -q "multiplies matrices" "$work/err"; then
	skip "$(cat "$work/err")"
fi

# The table: one worker, then each mode; what scripts rely on
run 0 "${train[@]}" --workers 1,2 --mode ddp,zero1,zero2,zero3 --json
json "len(j['records']) == 5 and all(r['kind'] == 'train' and r['backend'] == 'cpu' for r in j['records'])"
json "[r['params']['n_workers'] for r in j['records']] == [1, 2, 2, 2, 2]"
json "[r['params']['mode'] for r in j['records']] == ['ddp', 'ddp', 'zero1', 'zero2', 'zero3']"
json "all(len(r['samples_s']) == 3 for r in j['records'])"
metric='{m["name"]: m for m in r["metrics"]}'
json "all(r['metrics'][0]['name'] == 'samples_per_s' and r['metrics'][0]['median'] > 0 for r in j['records'])"
json "all({'step_s', 'exposed_s', 'mem_B', 'loss', 'gemm_frac', 'predicted_samples_per_s'} <= set($metric) for r in j['records'])"
# every mode computes the same
json "len({round(($metric)['loss']['median'], 5) for r in j['records'][1:]}) == 1"

# What a person sees: both languages, 80 columns, loss falls
for lang in en ko; do
	run 0 "${train[@]}" --workers 1,2 --mode ddp,zero3 --lang $lang --no-store
	narrow
done
has "예측"; has "배속"
run 0 "${train[@]}" --workers 1,2 --no-store; has "speed-up"; has "predicted"; has "Compute"; has "Exchange"

# N workers see what one worker with all their samples sees
run 0 "${train[@]}" --workers 2 --mode zero2 --json --no-store
two=$(python3 -c "import json; r=json.load(open('$work/out'))['records'][0]; print('%.5f' % $metric['loss']['median'])")
run 0 "${some[@]}" --batch 4 --workers 1 --json --no-store
json "'%.5f' % [($metric)['loss']['median'] for r in j['records']][0] == '$two'"
run 0 "${train[@]}" --accumulate 2 --workers 1 --json --no-store
json "'%.5f' % [($metric)['loss']['median'] for r in j['records']][0] == '$two'"

# bf16: products of rounded operands, everything else as it was; the losses follow those of fp32
run 0 "${plain[@]}" --seq 32 --batch 4 --workers 1 --steps 6 --json --no-store
full=$(python3 -c "import json; r=json.load(open('$work/out'))['records'][0]; print($metric['loss']['median'])")
if "$JEOUL" "${plain[@]}" --seq 32 --batch 4 --workers 1 --steps 6 --precision bf16 --json --no-store > "$work/out" 2> "$work/err"; then
	json "abs([($metric)['loss']['median'] for r in j['records']][0] / $full - 1) < 0.005 and j['records'][0]['params']['precision'] == 'bf16'"
	run 0 "${train[@]}" --workers 1,2 --mode zero2 --precision bf16 --json --no-store; json "len(j['records']) == 2"
else
	run 1 "${some[@]}" --workers 1 --precision bf16 --no-store; has "AMX"
fi
for precision in tf32 fp8; do
	run 1 "${some[@]}" --workers 1 --precision $precision --no-store; says "$precision needs a GPU"; one_line
done

# A token file, good and bad
python3 - "$work" <<'PY'
import struct, sys
w = sys.argv[1]
good = [i * 7 % 499 for i in range(500)]
open(w + "/good.bin", "wb").write(struct.pack("<500H", *good))
open(w + "/good.u32", "wb").write(struct.pack("<500I", *good))
good[123] = 499
open(w + "/range.bin", "wb").write(struct.pack("<500H", *good))
open(w + "/cut.bin", "wb").write(struct.pack("<500H", *good)[:-1])
open(w + "/short.bin", "wb").write(struct.pack("<5H", 1, 2, 3, 4, 5))
open(w + "/empty.bin", "wb").close()
PY
run 0 "${train[@]}" --workers 1 --tokens "$work/good.bin" --json --no-store; json "j['records'][0]['params']['tokens'] == 'file'"
a=$(python3 -c "import json; r=json.load(open('$work/out'))['records'][0]; print($metric['loss']['median'])")
run 0 "${train[@]}" --workers 1 --tokens "$work/good.u32" --json --no-store
json "[($metric)['loss']['median'] for r in j['records']][0] == $a"
run 1 "${train[@]}" --workers 1 --tokens "$work/range.bin"; one_line; says "token 123 (byte 246) is 499"
run 1 "${train[@]}" --workers 1 --tokens "$work/cut.bin"; one_line; says "byte 998"
run 1 "${train[@]}" --workers 1 --tokens "$work/short.bin"; one_line; says "5 tokens"
run 1 "${train[@]}" --workers 1 --tokens "$work/empty.bin"; one_line; says "empty"
run 1 "${train[@]}" --workers 1 --tokens "$work/none.bin"; one_line; says "none.bin"

# Words that are wrong get one line
run 2 "${train[@]}" --workers 0; one_line; says "--workers"
run 2 "${train[@]}" --workers 1,x; one_line; says "1,2,4"
run 2 "${train[@]}" --mode zero4; one_line; says "zero3"
run 2 "${train[@]}" --backend tpu; one_line; says "cpu"
run 2 "${plain[@]}" --seq 65; one_line; says "64 positions"
run 2 bench train --model mixtral-8x7b; one_line; says "mixture of experts"

# Too little memory is said before anything is allocated, with what fits; other configurations go on
run 1 "${plain[@]}" --seq 64 --batch 1000000 --workers 1 --no-store
has "too little memory"; has "--batch"

# A worker that is killed is named; what was done before is kept
"$JEOUL" "${plain[@]}" --seq 32 --batch 2 --steps 9000 --workers 2 --mode ddp --no-store >"$work/out" 2>"$work/err" &
pid=$!
child=
for _ in $(seq 100); do
	child=$(cat /proc/$pid/task/$pid/children 2>/dev/null | awk '{print $2}')
	[ -n "$child" ] && break
	sleep 0.1
done
sleep 1
begin=$(date +%s)
[ -n "$child" ] && kill -9 "$child" 2>/dev/null
wait $pid
code=$?
out=$(cat "$work/out")
[ $code = 1 ] && ok || bad "after a killed worker the exit code is $code"
[ $(($(date +%s) - begin)) -lt 10 ] && ok || bad "a killed worker was named after $(($(date +%s) - begin)) s"
has "rank 1"
finish
