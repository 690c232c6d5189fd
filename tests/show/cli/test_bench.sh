#!/bin/bash
# jeoul bench as a person uses it: every benchmark runs on a machine without a GPU, nccl-tests' form, bad input, Ctrl-C, the store.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE=

run 2 bench; has "bench allreduce"
run 0 bench list; has "cpu"; has "shm"; has "nccl"
run 0 bench list --json; json "[b['present'] for b in j['backends'] if b['name'] == 'shm'] == [True]"; json "all(b['present'] or b['reason'] for b in j['backends'])"
run 0 bench list --lang ko; has "집합 통신"

# the fake backend: figures are known
export JEOUL_BENCH_FAKE="rate=1e12 jitter=0.01"
run 0 bench gemm --backend fake --size 1000,2000 --no-store; has "1000 x 1000 x 1000"; has "GFLOP/s"
run 0 bench gemm --backend fake --m 10 --n 20 --k 30 --no-store --json; json "j['records'][0]['params']['n'] == 20 and j['records'][0]['kind'] == 'gemm'"
json "j['records'][0]['metrics'][0]['name'] == 'gemm_flopps' and len(j['records'][0]['samples_s']) > 10"
run 0 bench memory --backend fake --no-store --lang ko; has "메모리"
run 0 bench link --backend fake --no-store --time "1 s"; has "GPU1"; has "H2D"
JEOUL_BENCH_FAKE="wrong=5" run 1 bench gemm --backend fake --size 64 -c --no-store; says "wrong"
JEOUL_BENCH_FAKE="drift=1" run 0 bench allreduce --backend fake -b 1M -n 100 -w 1 -g 2 --no-store; has "noisy"

# for real
if [ -n "$("$JEOUL" bench gemm --size 64 --time "100 ms" --no-store 2>/dev/null)" ]; then
	run 0 bench gemm --size 96 --time "200 ms" -c --no-store; has "96 x 96 x 96"
fi
run 0 bench memory --size "4 MiB" --time "200 ms" -c --no-store --json; json "len(j['records']) == 2 and all(r['params']['n_wrong'] == 0 for r in j['records'])"
json "all(r['metrics'][0]['median'] > 1e6 for r in j['records'])"
run 0 bench storage --dir "$work" --size "4 MiB" --time "200 ms" -c --no-store --json; json "[r['params']['test'] for r in j['records']] == ['write', 'read'] and all(r['params']['n_wrong'] == 0 and r['metrics'][0]['name'] == 'storage_Bps' for r in j['records'])"
json "all(('disk' in r['params']) != ('dir' in r['params']) for r in j['records'])"
[ -z "$(find "$work" -name '.jeoul-*')" ] && ok || bad "bench storage leaves a file"
run 0 bench net --time "3 s" --streams 2 --no-store --json; json "any(m['name'] == 'latency_s' for r in j['records'] for m in r['metrics'])"
json "len([r for r in j['records'] if r['metrics'][0]['name'] == 'net_Bps']) == 4"
run 0 bench net --time "500 ms" --streams 1 --direction both --no-store --lang ko
ask "len({width(l.removesuffix(' ~')) for l in text.splitlines() if l.startswith('  ') and ('Gb/s' in l or '연결' in l)}) == 1"
# under a launcher only the first rank speaks
OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=1 run 0 bench memory --size "1 MiB" --no-store; [ -z "$out" ] && ok || bad "rank 1 speaks"

# AMD's libraries, on stand-ins: what needs no kernel
export FAKE_CUDA_GPUS=2 JEOUL_HIP=$JEOUL_FAKE_HIP JEOUL_RCCL=$JEOUL_FAKE_NCCL
run 0 bench list --json; json "[b['present'] for b in j['backends'] if b['name'] in ('hip', 'rccl')] == [True, True]"
run 0 bench link --time "1 s" --size "64 KiB" -c --no-store; has "hip=6.3"; has "GPU1"
run 0 bench memory --time "200 ms" --size "64 KiB" -c --no-store --json; json "[(r['backend'], r['params']['test'], r['params']['device'], r['params']['n_wrong']) for r in j['records']] == [('hip', 'copy', 0, 0)]"
run 0 bench allreduce -b 4K -n 3 -w 1 --no-store --json; json "all(r['backend'] == 'rccl' and r['params']['n_ranks'] == 2 and r['params']['n_wrong'] == 0 for r in j['records'])"
unset FAKE_CUDA_GPUS; export JEOUL_HIP=/nowhere/libamdhip64.so JEOUL_RCCL=/nowhere/librccl.so.1

# nccl-tests' form: a reader of its columns reads ours
run 0 bench allreduce -b 8 -e 128K -f 16 -n 5 -w 1 -g 2 --no-store
if python3 - "$work/out" <<'P'
import sys
rows = [l.split() for l in open(sys.argv[1]) if l.strip() and not l.startswith("#") and l.lstrip()[0].isdigit()]
assert [int(r[0]) for r in rows] == [8, 128, 2048, 32768], rows
for r in rows:
    assert len(r) == 13 and r[2] == "float" and r[3] == "sum" and r[4] == "-1" and r[8] == "0" and r[12] == "0", r
    assert float(r[5]) > 0 and abs(float(r[6]) - float(r[7])) < 0.011 + 0.01 * float(r[6])  # 2(n-1)/n is 1 for two ranks
text = open(sys.argv[1]).read()
assert "# Out of bounds values : 0 OK" in text and "# Avg bus bandwidth    :" in text and "out-of-place" in text
P
then ok; else bad "columns of nccl-tests"; fi
for c in allgather reducescatter broadcast reduce alltoall sendrecv; do
	run 0 bench $c -b 1K -e 256K -f 16 -n 3 -w 1 -g 3 -d half --no-store --json
	json "len(j['records']) == 6 and all(r['kind'] == '$c' and r['params']['n_wrong'] == 0 and r['params']['n_ranks'] == 3 for r in j['records'])"
done
run 0 bench allreduce -b 64K -n 3 -w 1 -g 2 -d bfloat16 -o avg -c 1 --no-store --json; json "j['records'][0]['params']['redop'] == 'avg' and j['records'][1]['params']['in_place'] == 1"

# the store
run 0 bench allreduce -b 1K -n 3 -w 1 -g 2 --note "a note"; has "Kept: 2"
[ -s "$work/data/jeoul/jeoul.db" ] && ok || bad "no database"

# bad input: one line
run 2 bench allreduce -b 8Q; one_line; says "8Q"
run 2 bench allreduce -b 2; one_line; says "float"
run 2 bench allreduce -b 1M -e 1K; one_line
run 1 bench allreduce -b 1 -e 1G -i 1 -d int8; one_line; says "-f 2"
run 2 bench allreduce -f 1; one_line
run 2 bench allreduce --backend mpi; one_line; says "mpirun"
run 2 bench broadcast -r 7 -g 2; one_line; says "root"
run 2 bench gemm --size 12x; one_line
run 2 bench gemm --backend nothing; one_line
run 1 bench gemm --backend cpu --dtype bf16; one_line; says "fp32"
run 2 bench gemm --backend cpu --device 1; one_line; says "--device"
run 2 bench memory --size "1 B"; one_line
run 2 bench memory --time "1 us"; one_line
run 1 bench storage --dir "$work/nowhere" --no-store; one_line; says "nowhere"; says "--dir"
run 2 bench storage --size "4 KiB"; one_line
run 1 bench storage --backend cpu --no-store; one_line
if mountpoint -q /dev/shm; then run 1 bench storage --dir /dev/shm --no-store; one_line; says "is in memory"; fi
run 2 bench net --listen --to x; one_line
run 2 bench net 127.0.0.1; one_line; says "--to"
run 1 bench net --to 127.0.0.1 --port 1; one_line; says "--listen"
if ! "$JEOUL" bench list --json | python3 -c "import json,sys; sys.exit(0 if [b for b in json.load(sys.stdin)['backends'] if b['name'] == 'cuda'][0]['present'] else 1)"; then
	run 1 bench link; one_line
	run 2 bench soak --device 0; one_line; says "--device"
	sanitized || run 0 bench all --quick --time "8 s" --no-store # ends before `run` loses patience, however busy the machine is
fi
# a launcher of another MPI: ranks that run apart are refused
if "$JEOUL" bench list --json | python3 -c "import json,sys; sys.exit(0 if [b for b in json.load(sys.stdin)['backends'] if b['name'] == 'mpi'][0]['present'] else 1)"; then
	OMPI_COMM_WORLD_SIZE=3 OMPI_COMM_WORLD_RANK=0 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 run 1 bench allreduce -b 1K --no-store; says "3"
fi

# Ctrl-C: what is done stays (a job in the background ignores SIGINT in a script: SIGTERM is treated alike)
"$JEOUL" bench allreduce -b 1K -e 64M -f 4 -g 2 --time "60 s" --no-store > "$work/out" 2>"$work/err" & pid=$!
for _ in $(seq 100); do grep -q '^ .*float' "$work/out" && break; sleep 0.1; done
kill -TERM $pid; wait $pid; code=$?
[ $code = 1 ] && grep -q '^ .*float' "$work/out" && grep -q "Stopped" "$work/out" && ok || bad "Ctrl-C: $code $(tail -3 "$work/out") $(cat "$work/err")"

# stopped with nothing measured, a store that somebody holds, a folder that cannot be made: not a success
"$JEOUL" bench gemm --backend cpu --size 4096 --time "60 s" > "$work/out" 2>"$work/err" & pid=$!
sleep 0.3; kill -TERM $pid; wait $pid; code=$?
[ $code = 1 ] && ok || bad "Ctrl-C with nothing kept: $code $(tail -3 "$work/out")"
run 0 store import /dev/null --store "$work/held.db"
python3 -c "
import sqlite3, time, sys
c = sqlite3.connect('$work/held.db'); c.execute('BEGIN IMMEDIATE'); open('$work/holds', 'w'); time.sleep(14)" & holder=$!
for _ in $(seq 50); do [ -e "$work/holds" ] && break; sleep 0.1; done
JEOUL_STORE="$work/held.db" run 1 bench gemm --backend fake --size 64 --time "50 ms"; says "not kept"; has "64 x 64 x 64"
kill $holder 2>/dev/null; wait $holder 2>/dev/null
: > "$work/file"
JEOUL_STORE="$work/file/in/a.db" run 1 bench gemm --backend fake --size 64 --time "50 ms"; says "not kept"
JEOUL_STORE="$work/file/in/a.db" run 0 bench gemm --backend fake --size 64 --time "50 ms" --no-store

# a rank that dies is named, what was measured is printed
"$JEOUL" bench allreduce -b 1K -e 64M -f 4 -g 2 --time "60 s" --no-store > "$work/out" 2>"$work/err" & pid=$!
for _ in $(seq 100); do grep -q '^ .*float' "$work/out" && break; sleep 0.1; done
victim=$(cat /proc/$pid/task/$pid/children 2>/dev/null | awk '{print $2}')
if [ -n "$victim" ]; then
	kill -KILL "$victim"; wait $pid; code=$?
	[ $code = 1 ] && grep -q "rank 1 was killed" "$work/err" && grep -q '^ .*float' "$work/out" && ok || bad "dead rank: $code $(cat "$work/err")"
else
	kill -TERM $pid; wait $pid
fi
# Ranks that share one CPU wait for each other: nobody disturbs them
if command -v taskset > /dev/null; then
	taskset -c "$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')" "$JEOUL" bench allreduce -g 2 -b 1M -e 1M --time 300ms --no-store --json > "$work/out"
	json "all('wait_frac' not in r['noise'] for r in j['records'])"
fi
finish
