#!/bin/bash
# jeoul check on training logs and profiler traces: what is found, with which exit code, and input that is cut or hostile.
. "$(dirname "$0")/lib.sh"
export TZ=UTC XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db"
here="$JEOUL_SOURCE/tests/show/cli"
logs() { python3 "$here/training_logs.py" "$@"; }
traces() { python3 "$here/traces.py" "$@"; }

# planted stalls, drifts, shifts and checkpoints in the logs of twelve trainers; bench/verdict/logs judges more of them
if sanitized; then seeds=0; else seeds=1; fi
if logs --check "$JEOUL" $seeds >"$work/found"; then ok; else bad "$(tail -3 "$work/found")"; fi

logs torchtitan > "$work/t.log"; run 0 check "$work/t.log"; has "Steady"; has "torchtitan"; has "tokens/s per GPU"; has "MFU"; lacks "Found"
logs torchtitan shift 3 > "$work/s.log"; run 3 check "$work/s.log"; flat; has "Not normal"; has "on steps take"; has "slow rank"; has "jeoul check --fleet"
logs Megatron-LM checkpoints > "$work/c.log"; run 0 check "$work/c.log" --json
json "j['spent']['n_checkpoints'] == 6 and j['spent']['interval_steps'] == 100 and j['spent']['stall_each_s'] > 1"
json "abs(sum(j['spent'][k] or 0 for k in ('useful_s','checkpoint_s','evaluation_s','stall_s','restart_s','repeated_s','warmup_s')) / j['spent']['elapsed_s'] - 1) < 1e-6"
# a restart: steps are done again
(sed 20,60d "$work/t.log"; sed -n 15,60p "$work/t.log" | sed 's/2026-03-04/2026-03-05/') > "$work/r.log"
run 3 check "$work/r.log" --json; json "j['spent']['n_restarts'] == 1 and j['spent']['repeated_s'] > 0 and any(f['key'] == 'restarts' for f in j['findings'])"
# against the model: twice as slow as a healthy run is noticed
run 0 check "$work/t.log" --model llama-3-8b --on "8x h100-sxm5" --batch 1 --seq 8192 --json; json "j['verdict'] in ('normal', 'good', 'unjudged') and j['expected_s'] > 0"
run 3 check "$work/t.log" --model gpt2-124m --on "8x h100-sxm5" --batch 8 --seq 1024; has "Not normal"; has "expected"; flat; has "torch.profiler"; has "Try"
# a log faster than the whole range is called so, not normal: the model or the system may be another one
run 0 check "$work/t.log" --model llama-3-8b --on "8x a100-sxm4-80gb" --batch 1 --seq 8192 --lang en; flat; has "Faster than predicted: 800 ms a step"; lacks "Normal"
run 0 check "$work/t.log" --lang ko; has "안정적입니다"
# bars whose clock has whole seconds: no stalls of a second each, and a rate of one digit comes from the clock
logs tqdm "" 2 | tr '\r' '\n' > "$work/q.log"; run 0 check "$work/q.log" --json; json "j['spent']['stall_s'] == 0 and 180 < j['spent']['elapsed_s'] < 196 and abs(j['step_s'] / 0.31 - 1) < 0.01"
logs tqdm "" 1 | tr '\r' '\n' | sed -E 's/[0-9.]+(s\/it|it\/s)/1s\/it/' > "$work/q.log"; run 0 check "$work/q.log" --json; json "abs(j['step_s'] / 0.8 - 1) < 0.02 and j['line_off_frac'] > 0.05 and j['step_s_lo95'] < 0.8 < j['step_s_hi95']"
run 0 check "$work/q.log"; has "rounded log lines"
logs LLaMA-Factory "" 0 > "$work/q.jsonl"; run 0 check "$work/q.jsonl" --json; json "abs(j['step_s'] / 6.5 - 1) < 0.01 and j['findings'] == []"
# a block of slow steps has a place and a length; its loss is of the whole run
awk 'BEGIN { for (i = 1; i <= 2000; i++) printf "step %d/2000 loss 2.0 %.4f it/s\n", i, 1 / ((i > 900 && i <= 1100 ? 1.5 : 1) * (0.8 + 0.004 * (i * 7 % 11 - 5))) }' > "$work/b.log"
run 0 check "$work/b.log" --json; json "[f['key'] for f in j['findings']] == ['slow_block'] and abs(j['findings'][0]['at_step'] - 901) <= 2 and abs(j['findings'][0]['to_step'] - 1100) <= 2 and abs(j['findings'][0]['loss_frac'] - 0.0476) < 0.005"
run 0 check "$work/b.log"; flat; has "steps 901 to 1100 take 50 % longer"
# a drift from 1 to 2: a third of the run is lost
awk 'BEGIN { for (i = 1; i <= 1000; i++) printf "step %d/1000 loss 2.0 %.5f it/s\n", i, 1 / (1 + i / 1000 + 0.004 * (i * 7 % 11 - 5)) }' > "$work/d.log"
run 3 check "$work/d.log" --json; json "[f['key'] for f in j['findings']] == ['drift'] and abs(j['findings'][0]['loss_frac'] - 0.333) < 0.03"
# lines of ten steps: a stall is of the line's steps together
awk 'BEGIN { for (i = 1; i <= 100; i++) printf "completed step: %d, seconds: %.4f, TFLOP/s/device: 1, Tokens/s/device: 1, loss: 2\n", 10 * i, 1 + 0.004 * (i * 7 % 11 - 5) + (i == 31 || i == 52 || i == 88 ? 2 : 0) }' > "$work/l.log"
run 0 check "$work/l.log"; flat; has "3 lines of 95, of 10 steps each, hold stalls: 20 s a line"
cp "$work/t.log" "$work/f.log"; (sleep 0.5; sed 's/2026-03-04/2026-03-05/' "$work/t.log" >> "$work/f.log") & more=$!
run 3 check "$work/f.log" --follow "0.3 s"; has "restart"; wait $more
run 2 check "$work/t.log" --model llama-3-8b; says "--on"; one_line
run 2 check allreduce --on dgx-h100 --size 1GB --busbw "480 GB/s" --model llama-3-8b; says "--model"; one_line
head -5 "$work/t.log" > "$work/few.log"; run 1 check "$work/few.log"; one_line
for cut in 1 7 100 1000 2500; do head -c "$cut" "$work/t.log" > "$work/cut.log"; "$JEOUL" check "$work/cut.log" > /dev/null 2>&1; [ $? -le 3 ] || bad "cut at $cut"; done

# one GPU far below the others of its table is named; a table of several kinds of paths is not taken apart
nvb() { printf 'nvbandwidth Version: v0.6\n\nRunning host_to_device_memcpy_ce.\nmemcpy CE CPU(row) -> GPU(column) bandwidth (GB/s)\n           0         1         2         3\n 0     %s\n\nSUM host_to_device_memcpy_ce %s\n' "$1" "$2"; }
nvb "55.20     55.21     13.31     55.20" 178.92 > "$work/n.txt"; run 3 check "$work/n.txt" --on dgx-h100; has "GPU 2: 13.31 GB/s"; has "Not normal: 13.3 GB/s"
nvb "55.20     55.21     54.31     55.20" 219.92 > "$work/n.txt"; run 0 check "$work/n.txt" --on dgx-h100
nvb "55.20     55.21     27.31     27.20" 164.92 > "$work/n.txt"; run 0 check "$work/n.txt" --on dgx-h100 --json; json "'GPU' not in str(j['results'][0].get('cause') or '')"

# every defect is named first, and nothing is found in a healthy step
for what in fp32_products fp32_attention odd_widths unfused_attention layout dropout casts pageable_copies slow_loader unfused_optimizer syncs host_bound exposed_exchange; do
	traces $what > "$work/$what.json"
	case $what in dropout | syncs) code=0 verdict=normal ;; *) code=3 verdict=low ;; esac # 7 and 8 % of the step
	run $code check "$work/$what.json" --json; json "j['verdict'] == '$verdict' and j['bad'] == ($code == 3) and (j['findings'][0]['won_frac'] >= 0.1) == j['bad'] and j['findings'][0]['key'] == '$what' and j['findings'][0]['won_frac'] > 0.02 and j['n_steps'] == 3"
	json "abs(sum(j[k] for k in ('computing_s', 'exposed_exchange_s', 'waiting_for_host_s', 'waiting_for_data_s', 'other_s')) / j['step_s'] - 1) < 1e-3"
done
traces optimizer_without_gaps > "$work/o.json"; run 0 check "$work/o.json" --json; json "[f['key'] for f in j['findings']] == ['unfused_optimizer']"
traces ahead > "$work/a.json"; run 0 check "$work/a.json" --json; json "j['findings'] == [] and 19.9e-3 < j['step_s'] < 20.6e-3 and j['kernels'][0]['n'] == 200"
traces "" > "$work/h.json"; run 0 check "$work/h.json" --json; json "j['verdict'] == 'normal' and not j['bad'] and j['findings'] == [] and j['gpu'] == 'NVIDIA H200' and j['kernels'][0]['n'] == 200"
run 0 check "$work/h.json"; has "Verdict"; has "Normal"
run 3 check "$work/odd_widths.json"; has "Not normal"; has "multiple of 64"; has "align1"; has "of the step"; flat; has "computing"
gzip -kf "$work/odd_widths.json"; run 3 check "$work/odd_widths.json.gz" --lang ko; has "50304"
for at in 200 3000 50000; do head -c $at "$work/odd_widths.json" > "$work/cut.json"; run 2 check "$work/cut.json"; one_line; done
printf '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [ {"a": {"b": [[[{' > "$work/deep.json"; run 2 check "$work/deep.json"; one_line
printf '{"schemaVersion": 1, "traceEvents": [ ] }' > "$work/none.json"; run 1 check "$work/none.json"; says "no kernels"; one_line
printf '{"traceEvents": [ {"ph":"X","cat":"kernel","name":"a\\"}{","ts":1,"dur":"x","args":{"correlation":-5}}, {"ph":"X","cat":"kernel","name":"k","ts":1e300,"dur":2}, 7, "s", [] ] }' > "$work/odd.json"; run 3 check "$work/odd.json"
# 20 MB in bounded memory; a sanitizer's own map is larger than any bound
if sanitized; then bound_kB=unlimited; else bound_kB=300000; fi
traces layout 100 > "$work/long.json"; (ulimit -v $bound_kB; run 3 check "$work/long.json" --json); json "j['n_steps'] == 100"
finish
