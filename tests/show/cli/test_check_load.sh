#!/bin/bash
# Verdicts under a competing load: a busy machine never makes a false "low". JEOUL_REPEATS=100 for the whole; a few by default.
#
# The history that each result is judged by is five runs without the load; the load is in turn a process that never rests and one that
# takes a tenth of a CPU. A record that is slow because of them must be called noisy, not low.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_DATA="$JEOUL_SOURCE/data"
repeats=${JEOUL_REPEATS:-4}
bench() {
	run 0 bench memory --size "32 MiB" --time "400 ms"
	run 0 bench allreduce -b 1M -e 1M --time "300 ms"
}
loads=()
stop_load() { for pid in "${loads[@]}"; do kill "$pid" 2>/dev/null; wait "$pid" 2>/dev/null; done; loads=(); }
trap 'stop_load; rm -rf "$work"' EXIT
start_load() {
	if [ $(($1 % 2)) = 0 ]; then
		(while :; do :; done) & loads+=($!)
	else
		python3 -c "
import time
while True:
    t = time.monotonic()
    while time.monotonic() - t < 0.005: pass
    time.sleep(0.045)" & loads+=($!)
	fi
}

bench; bench; bench; bench; bench
"$JEOUL" store export > "$work/first.jsonl"
# what these runs reached is what this machine does, whatever was going on; none of them is left out
python3 - "$work/first.jsonl" > "$work/quiet.jsonl" <<'P'
import json, sys
for line in open(sys.argv[1]):
    print(json.dumps(dict(json.loads(line), noise={"noisy": False})))
P
export JEOUL_STORE="$work/b.db"
run 0 store import "$work/quiet.jsonl"
n_low=0 n_verdicts=0 n_noisy=0
for ((i = 0; i < repeats; i++)); do
	start_load "$i"
	bench
	stop_load
	timeout 60 "$JEOUL" check --json > "$work/out" 2> "$work/err"
	read -r low judged noisy < <(python3 -c "
import json
r = json.load(open('$work/out'))['results']
print(sum(x['verdict'] == 'low' for x in r), sum(x['verdict'] != 'noisy' for x in r), sum(x['verdict'] == 'noisy' for x in r))")
	n_low=$((n_low + low)) n_verdicts=$((n_verdicts + judged)) n_noisy=$((n_noisy + noisy))
	if [ "$low" = 0 ]; then ok; else bad "repeat $i: $low false low: $(cat "$work/out")"; fi
done
echo "$repeats repeats under load: $n_verdicts verdicts, $n_noisy withheld as noisy, $n_low low"
# a CPU quota is named, where a cgroup can be made
group=/sys/fs/cgroup/jeoul-test-$$ quota=cpu.max text="$((50000 * $(nproc))) 100000"
if [ ! -e /sys/fs/cgroup/cgroup.controllers ]; then group=/sys/fs/cgroup/cpu/jeoul-test-$$ quota=cpu.cfs_quota_us text=$((50000 * $(nproc))); fi
if mkdir "$group" 2>/dev/null && echo "$text" 2>/dev/null > "$group/$quota"; then
	sh -c 'echo $$ > "$0/cgroup.procs"; exec "$1" bench gemm --size 1024 --time "1 s" --json' "$group" "$JEOUL" > "$work/out" 2>"$work/err"
	python3 -c "
import json, os, sys
n = json.load(open('$work/out'))['records'][0]['noise']
sys.exit(not (n['quota_cpus'] == os.cpu_count() / 2 and n['n_cpus'] == os.cpu_count() and 0 <= n['throttled_frac'] <= 0.6))" && ok || bad "no quota: $(cat "$work/out" "$work/err")"
	if grep -q "CPU quota" "$work/out"; then timeout 60 "$JEOUL" check --lang en > "$work/out"; out=$(cat "$work/out"); has "CPU quota"; fi
	rmdir "$group"
else
	rmdir "$group" 2>/dev/null; echo "no cgroup can be made here: a quota is not tried"
fi
if [ $((n_verdicts + n_noisy)) -ge $((4 * repeats)) ]; then ok; else bad "results are missing: $n_verdicts and $n_noisy"; fi
finish
