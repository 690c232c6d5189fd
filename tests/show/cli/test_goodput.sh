#!/bin/bash
# jeoul goodput: what it answers, what it refuses, and that both ends of every option give a line or an answer.
. "$(dirname "$0")/lib.sh"

small() { local want=$1; shift; run "$want" goodput llama-3-8b --on "2x dgx-h100" --tokens 1000000000000 "$@"; }

run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 --start 2026-11-18; flat; has "of the time is useful"; has "16,384"; has "What would help"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 --start 2026-11-18 --json
json "0.8 < j['effective_frac']['value'] < 0.95 and j['effective_frac']['lo'] < 0.9 < j['effective_frac']['hi']"
json "abs(sum(p['frac'] for p in j['time']) - 1) < 1e-9 and abs(j['effective_simulated_frac'] / j['effective_frac']['value'] - 1) < 0.01"
json "j['elapsed_s']['value'] > j['plain_s'] and j['end_date'] > '2027-01'"
json "j['helps'] == sorted(j['helps'], key=lambda h: -h['saved_s']) and [s['n_gpus'] for s in j['sizes']][-1] == 131072 and len(j['kinds']) == 7"
run 0 goodput bloom-176b --on "48x dgx-a100-80gb" --json; json "2.0e12 < j['checkpoint_B'] < 2.6e12 and j['scope'] == '30 days' and 'end_date' not in j"

# the same with the rate of one site, and with a job's own count
run 0 goodput llama-3-405b --on "2048x dgx-h100" --site rsc-1 --json; json "abs(j['mttf_s']['value'] / 3600 - 1.8) < 0.05 and j['failure_rate']['site'] == 'rsc-1'"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --failures 419 --observed-time 54d --json; json "abs(j['failures_per_day']['value'] - 7.76) < 0.05 and j['failures_per_day']['hi'] / j['failures_per_day']['lo'] < 1.2"

# what helps is what was changed
small 0 --spares 0 --failures-per-node-day 0.05 --json; json "j['helps'][0]['change'] in ('spare', 'failures') and j['node_wait_s'] > 3600"
small 0 --checkpoint blocking --store-rate "100 MB/s" --failures-per-day 3 --spares 10 --json; json "j['helps'][0]['change'] in ('failures', 'memory')"
small 0 --checkpoint tiered --json; json "j['store_interval_s'] >= j['interval_s']"
small 0 --interval "10 min" --failures-per-day 1 --json; json "j['interval_s'] == 600"
small 0 --interval 300d --json; json "j['interval_s'] <= j['plain_s'] * 1.001"

# ends of the ranges
small 0 --failures-per-node-day 0 --failures-per-day 0; flat; has "none"
small 0 --failures-per-node-day 0 --failures-per-day 0 --json; json "j['effective_frac']['value'] > 0.9999 and 'mttf_s' not in j"
small 3 --failures-per-day 1e9; flat; has "makes no progress"
small 3 --failures-per-day 1e12 --json; json "not j['progresses'] and 'elapsed_s' not in j"
small 3 --failures-per-day 100 --checkpoint blocking --store-rate "10 MB/s"; flat; has "makes no progress"
small 3 --checkpoint-size "1 EB" --store-rate "1 kB/s"; flat; has "makes no progress"
small 0 --detect 0s --restart 0s --repair 0s --spares 0 --jitter 0 --json; json "j['effective_frac']['value'] > 0.99"
run 0 goodput gpt2-124m --on rtx-4090 --json; json "j['n_nodes'] == 1 and j['effective_frac']['value'] > 0.9"
run 0 goodput resnet-50 --on dgx-h100 --samples 1281167 --epochs 90 --json; json "j['checkpoint_B'] > 1e8"
for bad in "--failures-per-day -1" "--failures-per-node-day nan" "--interval 0s" "--interval 2y" "--store-rate 0GB/s" "--spares -1" "--failures 3" "--restart 2y" \
	"--jitter 2" "--checkpoint quick" "--checkpoint-size 0B" "--site rsc-1 --failures-per-node-day 1" "--start 2026-13-40"; do
	# shellcheck disable=SC2086
	run 2 goodput llama-3-8b --on "2x dgx-h100" $bad; one_line
done
run 1 goodput llama-3-8b --on "2x dgx-h100" --site nowhere; one_line; says "catalog list reliability"
run 1 goodput llama-3-8b --on "2x dgx-h100" --site byterobust-9600; one_line
run 2 goodput llama-3-8b; one_line
# the same run in `predict`
run 0 predict llama-3-8b --on "16x dgx-h100" --tokens 1000000000000 --whole-run; flat; has "with failures, checkpoints and restarts"
run 0 predict llama-3-8b --on "16x dgx-h100" --tokens 1000000000000 --whole-run --json; json "j['goodput']['elapsed_s']['value'] > j['run_s']['value'] and j['goodput']['plain_s'] == j['run_s']['value']"
run 0 predict llama-3-8b --on "16x dgx-h100" --tokens 1000000000000 --json; json "'goodput' not in j"
run 2 predict llama-3-8b --on "16x dgx-h100" --whole-run; one_line; says "--tokens"
run 2 predict llama-3-8b --on "16x dgx-h100" --whole-run --sweep nodes=1,2; one_line
run 0 catalog list reliability; flat; has "llama-3-run"
run 0 catalog show opt-run; flat; has "35 manual restarts"
finish
