#!/bin/bash
# One run on several systems: the tables that people made by hand, with their arithmetic right.
. "$(dirname "$0")/lib.sh"

dgx="4x v100-dgxs-32gb via nvlink2-mesh"
seed=(--observed "1.06 s" --observed-batch 128 --batches 19252 --baseline "$dgx" --kind cnn)

# The DGX Station against cards and a CPU: 19,252 batches of 1.06 s are 5.67 h
run 0 compare "${seed[@]}" --on rtx-4090 --on rtx-3080-10gb --on rtx-3060 --on cpu:i9-13900k --repeat 10 --tune 50
has "5.67 h"; has "19,252"; has "cpu:i9-13900k"; has "2.36 d"; has "23.6 d"; has "118 d"; has "observed"; has "kWh"
has "At the same batch, 128"; has "At the largest batch"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "wider than 80 columns"; fi
run 0 compare "${seed[@]}" --on rtx-4090 --on rtx-3080-10gb --on rtx-3060 --on cpu:i9-13900k --repeat 10 --tune 50 --json
json "abs(j['observed']['epoch_s'] / 3600 - 5.67) < 0.005"
json "len(j['systems']) == 4 and j['systems'][3]['system'] == 'cpu:i9-13900k'"
json "all(abs(a['batches_per_epoch'] * a['batch'] - 19252 * 128) < a['batch'] for s in j['systems'] for a in (s['at_same_batch'], s['at_largest_batch']))"
json "all(e['lo'] < e['value'] < e['hi'] for s in j['systems'] for a in (s['at_same_batch'], s['at_largest_batch']) for e in (a['step_s'], a['epoch_s'], a['run_s'], a['speedup'], a['energy_J']))"
json "all(s['at_same_batch']['batches_per_epoch'] == 19252 for s in j['systems'])"
json "j['baseline']['at_same_batch']['speedup'] == {'value': 1, 'lo': 1, 'hi': 1} and j['baseline']['origin'] == 'observed'"
json "abs(j['baseline']['at_same_batch']['tune_s']['value'] - 50 * 10 * 19252 * 1.06) < 1"
json "[s['at_same_batch']['speedup']['value'] for s in j['systems']] == sorted((s['at_same_batch']['speedup']['value'] for s in j['systems']), reverse=True)"
json "j['systems'][3]['at_same_batch']['speedup']['hi'] < 0.2"
json "abs(sum(j['systems'][0]['at_same_batch']['breakdown_s'].values()) / j['systems'][0]['at_same_batch']['step_s']['value'] - 1) < 1e-9"
json "all(a['option'] and a['why'] for a in j['assumptions'])"

# ... and against servers: a batch of 256 needs 9,626 batches, not 19,252
run 0 compare "${seed[@]}" --on "2x a100-sxm4-80gb" --on "4x a100-sxm4-40gb" --on h200-sxm --on "2x h200-sxm" --precision fp16 --json
json "j['systems'][3]['at_largest_batch']['batch'] == 256 and j['systems'][3]['at_largest_batch']['batches_per_epoch'] == 9626"
json "j['systems'][1]['at_same_batch']['speedup']['value'] > 1.2 and all(s['at_same_batch']['speedup']['hi'] > 1 for s in j['systems'])"
json "j['systems'][3]['at_same_batch']['speedup']['value'] > j['systems'][2]['at_same_batch']['speedup']['value']"
json "j['observed']['precision'] == 'fp16' and 0 < j['observed']['mix']['memory_frac']['lo'] < j['observed']['mix']['memory_frac']['hi'] < 1"
run 0 compare "${seed[@]}" --on rtx-4090 --memory-per-sample "0.3 GiB" --memory-fixed "2 GiB" --json
json "j['systems'][0]['at_largest_batch']['batch'] == 64 and j['systems'][0]['at_largest_batch']['batches_per_epoch'] == 38504"
run 0 compare "${seed[@]}" --on rtx-4090 --watts "3000 W" --json
json "abs(j['baseline']['at_same_batch']['energy_J']['value'] / 3.6e6 - 170.06) < 0.1"

# The split that is stated is the one that the step is broken into, also where the format is not known
run 0 compare "${seed[@]}" --on rtx-4090 --json
json "all(abs(j['observed']['mix'][k + '_frac']['value'] - s / 1.06) < 1e-9 for k, s in j['baseline']['at_same_batch']['breakdown_s'].items())"

# A model's run is one epoch unless somebody says otherwise, as predict has it; an observed one is ten
run 0 compare "${seed[@]}" --on rtx-4090 --json; json "j['epochs'] == 10"
run 0 predict gpt2-124m --on rtx-4090 --tokens 1e9 --json; cp "$work/out" "$work/alone"
run 0 compare gpt2-124m --baseline rtx-4090 --on h200-sxm --tokens 1e9 --json
json "j['epochs'] == 1 and abs(j['baseline']['at_same_batch']['run_s']['value'] / json.load(open('$work/alone'))['run_s']['value'] - 1) < 1e-9"

# More memory is not slower, and cuts that differ are said
run 0 compare llama-3-70b --baseline "320x dgx-h100" --on "320x dgx-h200" --tokens 1e12 --global-batch 2560
has "in one pass"; has "Settings: 320x dgx-h100: ZeRO-1, TP 4+SP, PP 4"; has "320x dgx-h200: ZeRO-1, TP"
run 0 compare llama-3-70b --baseline "64x dgx-h100" --on "64x dgx-h200" --tokens 1e12 --global-batch 512 --json
json "j['systems'][0]['at_same_batch']['speedup']['value'] > 1 and j['systems'][0]['parallel']['tp'] >= 1"

# The kind that is not known is the widest
wide() { run 0 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090 "$@" --json; python3 -c "
import json,sys; e=json.load(open(sys.argv[1]))['systems'][0]['at_same_batch']['step_s']; print(e['hi']/e['lo'])" "$work/out"; }
cnn=$(wide --kind cnn --precision fp16 | tail -1) any=$(wide | tail -1)
if python3 -c "import sys; sys.exit(0 if $any > $cnn > 1.3 else 1)"; then ok; else bad "unknown is not wider than cnn: $any $cnn"; fi

# A model in place of a run
run 0 compare gpt2-124m --samples 1000000 --batch 8 --seq 1024 --baseline v100-dgxs-32gb --on rtx-4090 --on "4x a100-sxm4-80gb" --on cpu:i9-13900k
has "GPT-2"; has "125,000"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "wider than 80 columns"; fi
run 0 compare gpt2-124m --samples 1000000 --batch 8 --seq 1024 --baseline v100-dgxs-32gb --on rtx-4090 --on "3x h100-sxm5" --json
json "j['model'] == 'gpt2-124m' and j['systems'][0]['at_same_batch']['speedup']['value'] > 1"
json "not j['systems'][1]['at_same_batch']['possible'] and 'divisible' in j['systems'][1]['at_same_batch']['reason']"

# Korean
run 0 compare "${seed[@]}" --on rtx-4090 --on cpu:i9-13900k --lang ko; has "실측"; has "같은 배치"; has "5.67시간"
if [ "$(wc -L < "$work/out")" -le 80 ]; then ok; else bad "wider than 80 columns"; fi

# One clear line each
run 2 compare --observed 1.06 --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line; says "unit"
run 2 compare --observed "1.06 GB" --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line; says "time"
run 2 compare --observed "1.06 s" --observed-batch 0 --baseline "$dgx" --on rtx-4090; one_line; says "--observed-batch"
run 2 compare --observed "-1 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line; says "-1 s"
run 2 compare --observed "1e300 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line; says "year"
run 2 compare --observed "0 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line
run 2 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090 --kind rnn; one_line; says "transformer"
run 2 compare --observed "1.06 s" --baseline "$dgx" --on rtx-4090; one_line; says "--observed-batch"
run 2 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx"; one_line; says "--on"
run 2 compare --observed "1.06 s" --observed-batch 128 --on rtx-4090; one_line; says "--baseline"
run 2 compare --observed "1.06 s" --observed-batch 2 --baseline "$dgx" --on rtx-4090; one_line; says "4 devices"
run 1 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-409; one_line; says "rtx-4090"
run 2 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on h200-sxm --precision bf16; one_line; says "fp16"
run 2 compare gpt2-124m --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090; one_line
run 2 compare gpt2-124m --kind cnn --baseline "$dgx" --on rtx-4090; one_line; says "--observed"
run 2 compare --baseline "$dgx" --on rtx-4090; one_line
run 2 compare "${seed[@]}" --on rtx-4090 --samples 100; one_line; says "one of"
run 2 compare --observed "1.06 s" --observed-batch 128 --baseline "$dgx" --on rtx-4090 --tune 50; one_line; says "epoch"
run 2 compare "${seed[@]}" --on rtx-4090 --memory-per-sample "500 GB"; one_line; says "fit"
mkdir "$work/own"
cat > "$work/own/mine.yaml" <<'Y'
gpus:
  - id: mystery-card
    name: Mystery Card
    vendor: NVIDIA
    family: ada
    source: by-definition
    date: 2026-11-15
    fp32: 40 TFLOP/s @by-definition
    mem_rate: 500 GB/s @by-definition
Y
run 1 compare "${seed[@]}" --on mystery-card --catalog "$work/own"; one_line; says "memory"

# Estimates by hand beside the full model
run 0 predict bert-large --on a100-sxm4-40gb --explain; has "392"; has "221"; has "1.73x"; has "full model"; has "why they differ"
run 0 predict bert-large --on a100-sxm4-40gb --explain --json
json "abs(j['explain']['bandwidth_ratio'] - 1555 / 900) < 0.02"
json "j['explain']['tensor_core_cycles'][0] == {'n': 32, 'without_cycles': 392, 'with_cycles': 221, 'ratio': 392 / 221}"
json "abs(sum(j['explain']['baseline_sample_s'].values()) / sum(j['explain']['sample_s'].values()) / j['explain']['model_device_ratio'] - 1) < 1e-6"
run 0 predict bert-large --on "8x h100-sxm5" --batch 16 --explain --baseline "8x a100-sxm4-80gb" --lang ko; has "대역폭"
run 2 predict bert-large --on a100-sxm4-40gb --baseline v100-dgxs-32gb; one_line; says "--explain"
finish
