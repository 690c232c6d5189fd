#!/bin/bash
# jeoul import: what is shown, what is stored, what is refused; a long log in little memory.
. "$(dirname "$0")/lib.sh"
export TZ=UTC XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db"
logs="$JEOUL_SOURCE/tests/fixtures/logs"

run 0 import "$logs/osu-allreduce.txt" --dry-run; has "not stored"; has "256 MiB"; has "106 ms"
[ -e "$work/a.db" ] && bad "--dry-run made a store" || ok
run 0 import "$logs/osu-allreduce.txt"; has "3 results, stored"
run 0 import "$logs/osu-allreduce.txt"; has "0 new, 3 known"
for log in "$logs"/*; do
	case $log in */plain.log|*/nccl-*-unnamed.txt|*/iperf3-error.json) continue ;; esac
	run 0 import "$log" --dry-run --json; json "len(j['records']) > 0 and j['files'][0]['n_dropped'] == 0 and j['files'][0]['stored'] is False"
	run 0 import "$log" --dry-run --lang ko; has "결과"
	narrow fixtures
done
run 0 import "$logs/nccl-allgather-unnamed.txt" --kind allgather --dry-run; has "allgather"
run 0 import "$logs/nccl-sendrecv-unnamed.txt" --dry-run; has "sendrecv"; has "line 11: dropped" # 8 bytes: 0.00 GB/s tells nothing
run 1 import "$logs/nccl-allgather-unnamed.txt"; says "--kind"
run 0 import "$logs/plain.log" --pattern 'step {step} loss {*} {step_s} s' --dry-run; has "510 ms"
run 2 import "$logs/plain.log" --pattern 'loss {loss}'; says "--pattern"; one_line
run 2 import "$logs/plain.log" --pattern '{hours} h'; says "{step_s}"; one_line
run 1 import "$logs/plain.log"; says "not recognised"; says "nccl-tests"; says "--pattern"; one_line
run 1 import "$logs/iperf3-error.json"; says "Connection refused"
run 1 import "$work/missing.log"; says "missing.log"; one_line
run 1 import "$work"; one_line
run 2 import; one_line
run 1 import /dev/null; one_line
head -c 100000 /dev/urandom > "$work/random"; run 1 import "$work/random"; one_line
printf 'noise\n{\n\377\001 noise\n' > "$work/brace"; run 1 import "$work/brace"; one_line
run 0 import - --dry-run < "$logs/tqdm-fast.log"; has "standard input"; has "tqdm"
printf '# OSU MPI Latency Test v7.3\n# Size       Avg Latency(us)\n1   1.52\n2   1.' > "$work/torn"
run 0 import - --dry-run < "$work/torn"; has "line 4: dropped"; has "1 result"
# torn and shortened lines of training logs give no figure, and are said
head -c 900 "$logs/megatron.log" > "$work/torn"
run 0 import "$work/torn" --dry-run; has "line 4: dropped"; has " 48.77 samples/s"; lacks "samples 48.77"
run 0 import "$work/torn" --dry-run --json; json "j['files'][0]['n_dropped'] == 1 and len(j['records'][0]['samples_s']) == 2"
cut -c1-150 "$logs/megatron.log" > "$work/torn"
run 1 import "$work/torn" --dry-run; says "looks like Megatron-LM"; says "cut"

# 40 MB of bars and long lines need no more memory than a page of them
python3 - <<'P' > "$work/bars"
for i in range(1, 40001):
    print("\r %3d%%|%s| %d/40000 [00:10<00:10, 1.%02ds/it]" % (i * 100 // 40000, "#" * 60, i, i % 100), end="")
print()
P
noise=$(head -c 3000 /dev/zero | tr '\0' x)
( for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$work/bars"; for _ in $(seq 100); do echo "$noise"; done; done ) > "$work/long.log"
peak=$(python3 - "$JEOUL" "$work/long.log" <<'P'
import resource, subprocess, sys
p = subprocess.run([sys.argv[1], "import", sys.argv[2], "--dry-run", "--json"], stdout=subprocess.PIPE)
print(p.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024, p.stdout.count(b'"kind":"train"'))
P
)
read -r code mib n <<< "$peak"
[ "$code" = 0 ] && [ "$n" = 1 ] && ok || bad "long log: $peak"
# sanitizers keep what was freed: only the plain build says something about memory
if ldd "$JEOUL" | grep -q asan || [ "$mib" -lt 40 ]; then ok; else bad "a long log took $mib MiB"; fi
# one rank: the tool times a copy in its own memory; it says so and keeps nothing
{
	echo "# nThread 1 nGpus 1 minBytes 1073741824 maxBytes 1073741824 step: 1048576(bytes) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 graph: 0"
	echo "# Using devices"
	echo "#  Rank  0 Group  0 Pid 1 on host1 device  0 [0x0a] NVIDIA H100 80GB HBM3"
	echo "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
	echo "  1073741824     268435456     float     sum      -1   400.0  2684.4    0.00      0   400.0  2684.4    0.00      0"
} > "$work/one-rank.txt"
for kind in "" "--kind allreduce"; do run 1 import "$work/one-rank.txt" $kind --store "$work/one.db" --lang en; says "one rank exchanges nothing"; done
run 1 import "$work/one-rank.txt" --store "$work/one.db" --lang ko; says "랭크가 하나"
run 1 check "$work/one-rank.txt" --lang en; says "one rank exchanges nothing"; [[ "$err" != *"line 0"* ]] && ok || bad "a line 0"
finish
