#!/bin/bash
# The decoder's benchmark as a person uses it, on models small enough for a test.
. "$(dirname "$0")/lib.sh"
mkdir "$work/catalog"
cat >"$work/catalog/tiny.yaml" <<'YAML'
models:
  - {id: tiny-gpt, name: Tiny GPT, family: gpt2, n_layers: 2, hidden: 64, heads: 2, kv_heads: 2, head_dim: 32, ffn: 256, vocab: 499, seq: 32,
     positions: 64, tied: false, bias: true, final_norm: true, source: gpt-305m-note, date: 2025}
  - {id: tiny-llama, name: Tiny Llama, family: llama, n_layers: 2, hidden: 64, heads: 4, kv_heads: 2, head_dim: 16, ffn: 160, vocab: 499, seq: 32,
     gated: true, rms_norm: true, final_norm: true, source: gpt-305m-note, date: 2025}
YAML
cpu=(--catalog "$work/catalog" bench infer --backend cpu --threads 1)
infer=("${cpu[@]}" --time "20 ms")
tiny=("${infer[@]}" --model tiny-gpt --prompt 16 --answer 12)

if ! "$JEOUL" "${tiny[@]}" --batch 1 --no-store >/dev/null 2>"$work/err" && grep -q "multiplies matrices" "$work/err"; then
	skip "$(cat "$work/err")"
fi

metric='{m["name"]: m["median"] for m in r["metrics"]}'
run 0 "${tiny[@]}" --batch 1,3 --json --no-store
json "[r['params']['batch'] for r in j['records']] == [1, 3]"
json "all(r['kind'] == 'infer' and r['backend'] == 'cpu' and r['params']['prompt'] == 16 and r['params']['answer'] == 12 for r in j['records'])"
json "all({'tokens_per_s', 'ttft_s', 'tpot_s', 'tpot_p90_s', 'mem_B'} <= set($metric) for r in j['records'])"
json "all(len(r['samples_s']) >= 11 and len(r['samples_s']) % 11 == 0 for r in j['records'])"
json "all(abs(($metric)['tokens_per_s'] * ($metric)['tpot_s'] / r['params']['batch'] - 1) < 1e-6 for r in j['records'])"
# weights (4 B each), keys and values of 3 samples, little else
json "all(($metric)['mem_B'] > 4 * (2 * 499 + 64 + 12 * 2 * 64) * 64 + 3 * 28 * 2 * 2 * 64 * 4 for r in j['records'])"
full=$(python3 -c "import json; r=json.load(open('$work/out'))['records'][0]; print(($metric)['mem_B'])")
run 0 "${tiny[@]}" --batch 1,3 --weights int8 --json --no-store
json "all(r['params']['weights'] == 'int8' and ($metric)['mem_B'] < 0.75 * $full for r in j['records'])"

# What is kept, with the times of a faster machine: infer is corrected by it
run 0 "${tiny[@]}" --batch 1 --json; cp "$work/out" "$work/kept.json"
run 0 store list --kind infer; has "infer"
python3 - "$work" <<'PY'
import json, sys
j = json.load(open(sys.argv[1] + "/kept.json"))
for m in j["records"][0]["metrics"]:
	m["median"] = {"ttft_s": 0.012, "tpot_s": 0.0011}.get(m["name"], m["median"])
json.dump(j, open(sys.argv[1] + "/seen.json", "w"))
PY
run 0 infer gpt-305m --on "1x h100-sxm5" --observed "$work/seen.json" --prompt 16 --answer 12 --concurrency 1 --json
json "abs(j['observed']['tpot_s'] - 0.0011) < 1e-9 and abs(j['observed']['tpot_after_s'] / 0.0011 - 1) < 0.05"

# A person's view, both languages; what a rotary model may be asked beyond any table of positions
for lang in en ko; do
	run 0 "${infer[@]}" --model tiny-llama --prompt 40 --answer 40 --batch 2 --no-store --lang $lang; narrow
done
has "첫 토큰"
# with time enough the machine's rates are measured, and a prediction stands beside
run 0 "${cpu[@]}" --model tiny-gpt --prompt 16 --answer 12 --batch 1 --time "0.5 s" --json --no-store
json "all({'predicted_ttft_s', 'predicted_tpot_s', 'bandwidth_frac', 'copy_Bps'} <= set($metric) for r in j['records'])"
json "all(m['min'] < m['median'] < m['max'] for m in j['records'][0]['metrics'] if m['name'].startswith('predicted'))"
# the default prompt is what the positions leave
run 0 "${infer[@]}" --model tiny-gpt --answer 60 --batch 1 --json --no-store; json "j['records'][0]['params']['prompt'] == 4"

# Words that are wrong get one line
run 2 "${tiny[@]}" --batch 0 --no-store; one_line; says "1,2,4"
run 2 "${tiny[@]}" --batch 1,x --no-store; one_line; says "--batch"
run 2 "${infer[@]}" --model tiny-gpt --prompt 60 --answer 12 --batch 1 --no-store; one_line; says "64 positions"
run 2 "${tiny[@]}" --weights fp4 --no-store; one_line; says "int8"
run 2 bench infer --backend tpu --no-store; one_line; says "cpu"
run 2 "${infer[@]}" --model mixtral-8x7b --no-store; one_line; says "mixture of experts"
run 1 "${infer[@]}" --model tiny-llama --batch 65536 --prompt 5000 --no-store; one_line; says "too little memory"
for precision in tf32 fp8; do
	run 1 "${tiny[@]}" --precision $precision --batch 1 --no-store; one_line; says "$precision needs a GPU"
done
run 0 bench infer --help; has "fp8"
finish
