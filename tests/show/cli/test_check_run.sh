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
run 3 check "$work/t.log" --model gpt-305m --on "8x h100-sxm5" --batch 1 --seq 512; has "Not normal"; has "is expected"; flat; has "torch.profiler"; has "Try"
run 0 check "$work/t.log" --lang ko; has "안정적입니다"
cp "$work/t.log" "$work/f.log"; (sleep 0.5; sed 's/2026-03-04/2026-03-05/' "$work/t.log" >> "$work/f.log") & more=$!
run 3 check "$work/f.log" --follow "0.3 s"; has "restart"; wait $more
run 2 check "$work/t.log" --model llama-3-8b; says "--on"; one_line
run 2 check allreduce --on dgx-h100 --size 1GB --busbw "480 GB/s" --model llama-3-8b; says "--model"; one_line
head -5 "$work/t.log" > "$work/few.log"; run 1 check "$work/few.log"; one_line
for cut in 1 7 100 1000 2500; do head -c "$cut" "$work/t.log" > "$work/cut.log"; "$JEOUL" check "$work/cut.log" > /dev/null 2>&1; [ $? -le 3 ] || bad "cut at $cut"; done

# every defect is named first, and nothing is found in a healthy step
for what in fp32_products fp32_attention odd_widths unfused_attention layout dropout casts pageable_copies slow_loader unfused_optimizer syncs host_bound exposed_exchange; do
	traces $what > "$work/$what.json"
	run 0 check "$work/$what.json" --json; json "j['findings'][0]['key'] == '$what' and j['findings'][0]['won_frac'] > 0.02 and j['n_steps'] == 3"
	json "abs(sum(j[k] for k in ('computing_s', 'exposed_exchange_s', 'waiting_for_host_s', 'waiting_for_data_s', 'other_s')) / j['step_s'] - 1) < 1e-3"
done
traces "" > "$work/h.json"; run 0 check "$work/h.json" --json; json "j['findings'] == [] and j['gpu'] == 'NVIDIA H200' and j['kernels'][0]['n'] == 200"
run 0 check "$work/odd_widths.json"; has "multiple of 64"; has "align1"; has "of the step"; flat; has "computing"
gzip -kf "$work/odd_widths.json"; run 0 check "$work/odd_widths.json.gz" --lang ko; has "50304"
for at in 200 3000 50000; do head -c $at "$work/odd_widths.json" > "$work/cut.json"; run 2 check "$work/cut.json"; one_line; done
printf '{"schemaVersion": 1, "deviceProperties": [], "traceEvents": [ {"a": {"b": [[[{' > "$work/deep.json"; run 2 check "$work/deep.json"; one_line
printf '{"schemaVersion": 1, "traceEvents": [ ] }' > "$work/none.json"; run 1 check "$work/none.json"; says "no kernels"; one_line
printf '{"traceEvents": [ {"ph":"X","cat":"kernel","name":"a\\"}{","ts":1,"dur":"x","args":{"correlation":-5}}, {"ph":"X","cat":"kernel","name":"k","ts":1e300,"dur":2}, 7, "s", [] ] }' > "$work/odd.json"; run 0 check "$work/odd.json"
# 20 MB in bounded memory; a sanitizer's own map is larger than any bound
if sanitized; then bound_kB=unlimited; else bound_kB=300000; fi
traces layout 100 > "$work/long.json"; (ulimit -v $bound_kB; run 0 check "$work/long.json" --json); json "j['n_steps'] == 100"
finish
