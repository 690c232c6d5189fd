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

# two quiet hours are not a machine that never fails, and no time at all is not one that always does
small 0 --failures 0 --observed-time "1 ns" --json; json "j['effective_frac']['value'] > 0.9"

# the first lines: what is lost, by what most, what to do; and what the question was about
big_text() { run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 "$@"; flat; }
big_text --spares 8; has "mostly to: waiting for a node. Largest saving:"; has "8 spare nodes"; has "would be enough"
big_text; has "mostly to: restarting, loading. Largest saving: elastic recovery"; has "storage twice as fast"; has "hot swap"; has "Not worth it one more spare node"
# rent with idle spares and what nobody uses, first and in the table, each once
has "Rent is 210,000,000 USD in all, 4,000,000 USD of it for idle spare nodes."; has "rent in all"
big_text --rent-block 20000 --rent-least 90d; has "USD of it for idle spare nodes, "; has "for what is not used"; has "rented, not used"
rents() { run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 "$@" --json; json "abs(j['rent_usd'] - sum(p['cost_usd'] for p in j['time']) - j['spare_usd'] - j['campus'].get('unused_usd', 0)) < 1e-6 * j['rent_usd']"; }
rents; json "abs(j['spare_gpu_s'] / sum(p['gpu_s'] for p in j['time']) - 0.02) < 1e-3"
rents --spares 100; json "abs(j['spare_gpu_s'] / j['elapsed_s']['value'] - 800) < 1e-6"
rents --rent-block 10000 --rent-least 365d; json "abs(j['rent_usd'] - j['campus']['paid_usd']) < 1 and j['unused_gpu_s'] > 0"
small 0; flat; has "Not worth it"; has "less than 0.05 %"
big_text --power-cap "16 MW" --pue 1.2; has "Under the cap of 16 MW a step takes"
big_text --carbon "100 g/kWh"; has "t of CO2."
big_text --grid france --lang ko; has "(프랑스, 56 g/kWh)"; lacks "미국"
run 2 goodput llama-3-8b --on "2x dgx-h100" --grid mars; one_line
big_text --fabrics; has "On 131,072 GPUs the narrower network makes a step"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --spares 8 --json; json "41 < j['n_spares_enough'] < 60 and j['helps'][0]['change'] == 'spares' and 'spare' in [h['change'] for h in j['helps']]"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --recovery elastic --restart "10 min" --json; json "20 < j['n_spares_enough'] < 60"

# what helps is what was changed
small 0 --spares 0 --failures-per-node-day 0.05 --json; json "j['helps'][0]['change'] == 'spares' and j['helps'][1]['change'] == 'spare' and j['node_wait_s'] > 3600"
small 0 --checkpoint blocking --store-rate "100 MB/s" --failures-per-day 3 --spares 10 --json; json "j['helps'][0]['change'] in ('failures', 'memory')"
small 0 --checkpoint tiered --json; json "j['store_interval_s'] >= j['interval_s']"
small 0 --interval "10 min" --failures-per-day 1 --json; json "j['interval_s'] == 600"
small 0 --interval 300d --json; json "j['interval_s'] <= j['plain_s'] * 1.001"

# after a failure: a standby host, or the other replicas; other jobs beside it
big() { run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 "$@" --json; }
big; json "j['effective_frac']['value'] < 0.9"
big --recovery swap; json "0.88 < j['effective_frac']['value'] and j['recovery'] == 'swap'"
# states cut over all of the job (ZeRO-1): the others go back to the checkpoint, and it is said; states whole in each replica: they go on
big --recovery elastic; json "j['load_s'] > 0 and j['states_cut'] and 0.88 < j['effective_frac']['value']"
big_text --recovery elastic; has "go back to the checkpoint, as with a swap"
whole() { run 0 goodput gpt2-xl --on "2048x dgx-h100" --parallel dp=16384,zero=0 "$@"; }
whole --recovery elastic; flat; has "after 84 % of the failures the others go on within 2 min, without 0.0061 % of the job"
whole --recovery elastic --json; json "not j['states_cut'] and abs(j['effective_simulated_frac'] / j['effective_frac']['value'] - 1) < 0.01"
json "{p['cause']: p['frac'] for p in j['time']}['lost'] < 0.0035 and {p['cause']: p['frac'] for p in j['time']}['restart'] < 0.025"
whole --recovery swap --json; json "{p['cause']: p['frac'] for p in j['time']}['lost'] > 0.006 and {p['cause']: p['frac'] for p in j['time']}['restart'] > 0.025"
run 0 goodput llama-3-8b --on dgx-h100 --parallel dp=1,tp=8 --recovery elastic; flat; has "one replica: nothing is left that could go on"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --congestion 50% --json; json "0.02 < j['straggle_frac'] < 1"
# the calendar holds the run
big; json "abs(sum(sum(s.values()) for s in j['calendar']) / j['elapsed_s']['value'] - 1) < 0.1 and 20 < len(j['calendar']) <= 60"
json "abs(sum(s['useful_s'] for s in j['calendar']) / sum(sum(s.values()) for s in j['calendar']) - j['effective_frac']['value']) < 0.03"
small 0 --failures-per-node-day 0 --failures-per-day 0 --json; json "all(s['lost_s'] == 0 and s['restart_s'] == 0 for s in j['calendar'])"

# a rack or pod that is one domain fails tray by tray
run 0 goodput llama-3-405b --on "8x gb200-nvl72" --json; json "j['n_gpus'] == 576 and j['n_nodes'] == 144 and j['n_spares'] == 3"
json "j['failures_per_day']['value'] > 576 / 8 * j['failure_rate']['per_node_day'] and j['campus']['n_racks'] == 8"
run 0 goodput llama-3-405b --on "8x gb200-nvl72"; flat; has "a node is a host of 4 GPUs: 144 of them"
run 0 goodput llama-3-8b --on v5p-512 --json; json "j['n_gpus'] == 256 and j['n_nodes'] == 64"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --json; json "j['n_nodes'] == 2048"
# little is lost: nothing is advised; a run of hours ends on the day it starts, one of 28 hours a day later
run 0 goodput resnet-50 --on dgx-h100 --samples 1281167 --epochs 90 --start 2026-11-18; flat; has "It loses little"; lacks "Largest saving"; has "until 2026-11-18. Rent is"
run 0 goodput llama-3-8b --on dgx-h100 --tokens 7e9 --start 2026-12-01 --json; json "86400 < j['elapsed_s']['value'] < 172800 and j['end_date'] == '2026-12-02'"
# a spread that is given counts on few nodes too; the usual one is in predicted steps there
run 0 goodput llama-3-8b --on "16x dgx-h100" --tokens 1e12 --jitter "10 %" --json; json "0.15 < j['straggle_frac'] < 0.18"
run 0 goodput llama-3-8b --on "16x dgx-h100" --tokens 1e12 --jitter "0.7 %" --json; json "abs(j['straggle_frac']) < 1e-9"
# one node: its copies in memory end with it
run 0 goodput llama-3-8b --on dgx-h100 --tokens 1e11 --checkpoint memory --json; json "j['effective_frac']['value'] < 0.9985"
run 3 goodput llama-3-8b --on "2x dgx-h100" --planned-per-day 1e6; flat; has "A planned stop comes every"
run 0 goodput llama-3-8b --on "128x dgx-a100-80gb" --mttf 7.9h; flat; lacks "upper end of the failure rate"
run 0 goodput gpt2-124m --on rtx-4090; flat; has "on 1 GPU "
# next to no progress: what would help stands there; an end that is not seen
run 3 goodput llama-3-405b --on "12500x dgx-b200" --tokens 50000000000000 --checkpoint memory --recovery elastic; flat; has "less than 1 % of the time is useful"; has "to storage more often than once a day"
run 3 goodput llama-3-405b --on "12500x dgx-b200" --tokens 50000000000000 --checkpoint memory --recovery elastic --json; json "j['helps'][0]['effective_frac'] > 0.3 and j['helps'][0]['change'] == 'tiered' and j['helps'][0]['saved_s'] is None"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 --interval 12h; flat; has "to never"
# money in the reader's currency
big_text --lang ko --fx 1000; has "비용으로 2"; has "억 원"; has "1달러 = 1,000원"; lacks "달러이며"
big_text --lang ko --currency USD; has "달러"; lacks "억 원"
big_text --currency KRW --fx 1000; has "million KRW"; lacks "USD, mostly"
run 2 goodput llama-3-8b --on "2x dgx-h100" --currency EUR; one_line

# the site: power, cap, carbon, rent in blocks, networks
site() { run "$1" goodput llama-3-405b --on "2048x dgx-h100" --tokens 15600000000000 --pue 1.2 "${@:2}"; }
site 0 --json; json "abs(j['campus']['site_W'] / j['campus']['machines_W'] - 1.2) < 1e-9 and j['campus']['slow_frac'] == 0 and j['campus']['n_racks'] == 512"
# a job that waits or restarts draws what idle machines do
json "abs(j['campus']['energy_J'] - sum(p['energy_J'] for p in j['time'])) < 1e-6 * j['campus']['energy_J'] and 0.2 < j['campus']['standing_W'] / j['campus']['site_W'] < 0.6"
json "all(abs(p['energy_J'] - p['time_s'] * j['campus']['standing_W' if p['cause'] in ('detect', 'wait', 'restart', 'planned') else 'site_W']) < 1 + 1e-6 * p['energy_J'] for p in j['time'])"
json "'paid_gpus' not in j['campus'] and j['campus']['fabrics'] == []"
json "abs(j['campus']['co2_g'] - j['campus']['energy_J'] / 3.6e6 * 430.6) < 1e-3 * j['campus']['co2_g']"
site 0 --power-cap "16 MW" --carbon "100 g/kWh" --json; json "abs(j['campus']['site_W'] - 16e6) < 1 and 0.01 < j['campus']['slow_frac'] < 0.5 and j['campus']['grid'] == 'given'"
json "[p['frac'] for p in j['time'] if p['cause'] == 'throttle'][0] > 0.01 and abs(sum(p['frac'] for p in j['time']) - 1) < 1e-9"
site 0 --power-cap "100 GW"; flat; has "is not reached"
site 2 --power-cap "1 MW"; one_line; says "give more"
site 0 --rent-block 10000 --rent-least 365d --json; json "j['campus']['paid_gpus'] == 20000 and j['campus']['paid_s'] == 365 * 86400 and 0 < j['campus']['unused_usd'] < j['campus']['paid_usd']"
site 0 --fabrics --json; json "[r['n_gpus'] for r in j['campus']['fabrics']] == [2 ** i for i in range(10, 18)]"
json "all(r['rail_s'] <= r['oversubscribed_s'] * 1.0001 and r['rail_s'] <= r['dragonfly_scattered_s'] and r['oversubscribed_s'] <= r['oversubscribed_scattered_s'] * 1.0001 for r in j['campus']['fabrics'])"
run 0 goodput deepseek-v3 --on "256x dgx-h100" --fabrics --oversubscription 7 --json; json "all(r['oversubscribed_s'] > r['dragonfly_s'] for r in j['campus']['fabrics'])"
run 0 goodput llama-3-8b --on dgx-h100 --fabrics --json; json "j['campus']['fabrics'] == []"

# the rest of a job by its own log: 5,000 steps of 10 s, 8 restarts of 15 min, a checkpoint every 100 steps
python3 - > "$work/run.log" <<'END'
import datetime
at, step, next_failure = datetime.datetime(2026, 11, 1), 0, 620
def say(text): print(" [%s] %s" % (at.strftime("%Y-%m-%d %H:%M:%S"), text))
while step < 5000:
    step += 10
    at += datetime.timedelta(seconds=100)
    say("iteration %8d/   20000 | consumed samples: %12d | elapsed time per iteration (ms): 10000.0 | learning rate: 1.0E-05 | global batch size: 1024 | lm loss: 2.1E+00 |" % (step, step * 1024))
    if step % 100 == 0:
        print("saving checkpoint at iteration %7d to /data/ckpt" % step)
        at += datetime.timedelta(seconds=20)
        print("  successfully saved checkpoint from iteration %7d to /data/ckpt" % step)
    if step == next_failure:
        next_failure += 550
        step = step // 100 * 100
        at += datetime.timedelta(minutes=15)
        print("  successfully loaded checkpoint from /data/ckpt at iteration %d" % step)
END
run 0 goodput llama-3-70b --on "128x dgx-h100" --tokens 160000000000 --log "$work/run.log"; flat; has "5,000 steps in"; has "8 restarts"
run 0 goodput llama-3-70b --on "128x dgx-h100" --tokens 160000000000 --log "$work/run.log" --json
json "j['log']['n_steps_left'] == 15000" # "5000/   20000"
json "j['log']['n_restarts'] == 8 and j['log']['n_steps'] == 5000 and abs(j['step_s'] - 10) < 0.2 and j['scope'] == 'run'"
json "10 * 60 < j['restart_s'] < 20 * 60 and j['detect_s'] == 0 and 900 < j['interval_s'] < 1100"
json "abs(j['goodput_frac']['value'] - j['log']['useful_s'] / j['log']['elapsed_s']) < 0.06 and j['failures_per_day']['hi'] / j['failures_per_day']['lo'] < 4"
# its own rate says how many tokens a step takes, whatever batch the model would: 819 x 1,024 x 10 s are 8.4 million
python3 - > "$work/titan.log" <<'END'
import datetime
for step in range(10, 3000, 10):
    at = datetime.datetime(2026, 11, 1) + datetime.timedelta(seconds=10 * step)
    print("[titan] %s,000 - root - INFO - step: %2d  loss:  2.1000  memory: 41.93GiB(53.01%%)  tps: 819  tflops: 386.00  mfu: 39.00%%" % (at.strftime("%Y-%m-%d %H:%M:%S"), step))
END
run 0 goodput llama-3-70b --on "128x dgx-h100" --tokens 1e12 --log "$work/titan.log" --json; json "abs(j['plain_s'] / 10 - (1e12 / (819 * 1024 * 10) - 2990)) < 2000"
run 0 goodput llama-3-70b --on "128x dgx-h100" --tokens 1e12 --log "$work/titan.log" --global-batch 64 --json; json "abs(j['plain_s'] / 10 - (1e12 / (819 * 1024 * 10) - 2990)) < 2000"
# its header says the batch and how many steps are planned; where no checkpoint is named, what holds the job is one, counted once
sed '1i [titan] 2026-11-01 00:00:00,000 - root - INFO - Trainer is initialized with local batch size 1, global batch size 1024, gradient accumulation steps 1, sequence length 8192, total steps 20000 (warmup 200)' "$work/titan.log" > "$work/header.log"
run 0 goodput llama-3-70b --on "128x dgx-h100" --log "$work/header.log"; flat; has "17,010 steps left"; lacks "how many are left"
run 0 goodput llama-3-70b --on "128x dgx-h100" --log "$work/header.log" --json; json "j['log']['n_steps_left'] == 17010 and abs(j['plain_s'] - 170100) < 2000"
run 0 check "$work/header.log" --model llama-3-70b --on "128x dgx-h100" --json
run 0 goodput llama-3-70b --on "128x dgx-h100" --tokens 160000000000 --log "$work/run.log" --spares 0 --json; json "j['node_wait_s'] == 0 and [p['frac'] for p in j['time'] if p['cause'] == 'wait'] == [0]"
# eight failures in seventeen hours outweigh what other sites see
json "j['failures_per_day']['lo'] < 8 / 0.714 < j['failures_per_day']['hi']"
# what was given holds at other sizes too
run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 1e12 --spares 0 --json; json "all(b['effective_frac']['value'] <= a['effective_frac']['value'] * 1.001 for a, b in zip(j['sizes'], j['sizes'][1:]))"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 1e12 --interval 1h --json; json "all(abs(a['interval_s'] - 3600) < 60 for a in j['sizes'])"
run 0 goodput llama-3-405b --on "2048x dgx-h100" --tokens 15e12; has "million tokens"
run 1 goodput llama-3-8b --on "2x dgx-h100" --log "$work/none.log"; one_line
echo "nothing of a training" > "$work/none.log"; run 1 goodput llama-3-8b --on "2x dgx-h100" --log "$work/none.log"; one_line
run 2 goodput llama-3-8b --on "2x dgx-h100" --log x --failures 3 --observed-time 1d; one_line
# storage as it was measured here
export JEOUL_STORE="$work/storage.db"
run 1 goodput llama-3-8b --on "2x dgx-h100" --store-measured; one_line; says "jeoul import"
run 0 import "$JEOUL_SOURCE/tests/fixtures/logs/fio.json"
run 0 goodput llama-3-8b --on "2x dgx-h100" --store-measured --json; json "abs(j['store_Bps'] - 2 * 2863311530) < 1"
unset JEOUL_STORE

# storage that reads faster, no maintenance, writers that the job waits for
small 0 --json; json "2.4 < j['load_s'] / j['write_s'] < 2.7"
small 0 --load-rate "96 GB/s" --json; json "0.9 < j['load_s'] < 1.1"
small 0 --planned-per-day 0 --json; json "[p['frac'] for p in j['time'] if p['cause'] == 'planned'] == [0]"
small 0 --planned-per-day 1 --json; json "[p['frac'] for p in j['time'] if p['cause'] == 'planned'][0] > 0.003"
small 0 --checkpoint blocking --json; json "j['stall_s'] > 60"
small 0 --checkpoint blocking --store-rate "9.6 GB/s" --json; json "100 <= j['stall_s'] < 103"
# a writer that the job waits for loads as fast; what is the default changes nothing where it is given
small 0 --json; load=$(python3 -c "import json; print(json.load(open('$work/out'))['load_s'])")
small 0 --checkpoint blocking --json; json "j['load_s'] == $load"
for how in "" "--checkpoint blocking" "--checkpoint tiered"; do
	# shellcheck disable=SC2086
	small 0 $how --json; at=$(python3 -c "import json; j = json.load(open('$work/out')); print([j['load_s'], j['write_s'], j['stall_s'], j['effective_frac']['value']])")
	# shellcheck disable=SC2086
	small 0 $how --store-rate "2.4 GB/s" --json; json "[j['load_s'], j['write_s'], j['stall_s'], j['effective_frac']['value']] == $at"
done
# stops for maintenance: in the calendar as often as in the table, and in the costs once
small 0 --planned-per-day 1 --json; json "abs(sum(s['planned_s'] for s in j['calendar']) / sum(sum(s.values()) for s in j['calendar']) / [p['frac'] for p in j['time'] if p['cause'] == 'planned'][0] - 1) < 0.1"
small 0 --planned-per-day 1; flat; has "planned stops ▄"
small 3 --planned-per-day 1e6 --restart 0s; flat; has "makes no progress"
# all failures of this job by one figure; a rate of the job is added to that of its nodes
small 0 --mttf 7.9h --json; json "abs(j['mttf_s']['value'] / 3600 - 7.9) < 1e-6 and abs(j['mttf_s']['hi'] / j['mttf_s']['lo'] - 1) < 1e-9"
small 0 --failures-per-day 0.5; flat; has "and, added, 0.5 a day whatever their number"
small 2 --mttf 7.9h --failures-per-day 1; one_line
small 2 --mttf 7.9h --site rsc-1; one_line; says "leave --site out"
small 2 --mttf 0h; one_line
# ends of the ranges
small 0 --failures-per-node-day 0 --failures-per-day 0; flat; has "none"
small 0 --failures-per-node-day 0 --failures-per-day 0 --json; json "j['effective_frac']['value'] > 0.9999 and 'mttf_s' not in j"
small 3 --failures-per-day 1e9; flat; has "makes no progress"
small 3 --failures-per-day 1e12 --json; json "not j['progresses'] and 'elapsed_s' not in j"
small 3 --failures-per-day 100 --checkpoint blocking --store-rate "10 MB/s"; flat; has "makes no progress"
small 3 --checkpoint-size "1 EB" --store-rate "1 kB/s"; flat; has "makes no progress"
small 0 --detect 0s --restart 0s --repair 0s --spares 0 --jitter 0 --json; json "j['effective_frac']['value'] > 0.99"
run 0 goodput gpt2-124m --on rtx-4090 --json; json "j['n_nodes'] == 1 and j['effective_frac']['value'] > 0.9"
# chart and table of sizes are one figure, and what is lost adds up in print
run 0 goodput llama-3-8b --on "8x h100-sxm5" --tokens 1e10; has "other "; has "checkpoint every  useful"
run 0 goodput resnet-50 --on dgx-h100 --samples 1281167 --epochs 90 --json; json "j['checkpoint_B'] > 1e8"
for bad in "--load-rate 0GB/s" "--planned-per-day -1" "--failures-per-day -1" "--failures-per-node-day nan" "--interval 0s" "--interval 2y" "--store-rate 0GB/s" "--spares -1" "--failures 3" "--restart 2y" \
	"--jitter 2" "--congestion -1" "--recovery never" "--power-cap 0W" "--rent-block 0" "--oversubscription 2" "--carbon 5" "--checkpoint quick" "--checkpoint-size 0B" "--site rsc-1 --failures-per-node-day 1" "--start 2026-13-40"; do
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
# one run, one interval, whoever prints it
run 0 predict llama-3-405b --on "2048x dgx-h100" --tokens 15T --whole-run --json; json "j['elapsed']['time_s'] == j['goodput']['elapsed_s']"
run 2 predict llama-3-8b --on "16x dgx-h100" --whole-run; one_line; says "--tokens"
run 2 predict llama-3-8b --on "16x dgx-h100" --whole-run --sweep nodes=1,2; one_line
run 0 catalog list reliability; flat; has "llama-3-run"
run 0 catalog show opt-run; flat; has "35 manual restarts"
# What does not fit says so first, as predict does, and has no end
run 0 goodput llama-3-8b --on rtx-4090 --tokens 1T --lang en; flat; has "It does not fit: it needs 150 GiB"; lacks "of the time is useful"; lacks "The run takes"
run 0 goodput llama-3-8b --on rtx-4090 --tokens 1T --json; json "j['fits'] is False"

finish
