#!/bin/bash
# jeoul check and jeoul calibrate: verdicts with their exit codes, files, history, regressions, this machine's own parameters, bad input.
. "$(dirname "$0")/lib.sh"
export TZ=UTC XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_DATA="$JEOUL_SOURCE/data"
logs="$JEOUL_SOURCE/tests/fixtures/logs"
machines="$JEOUL_SOURCE/tests/fixtures/machines"
records() { python3 "$JEOUL_SOURCE/tests/show/cli/check_records.py" "$@"; }
p5() { local code=$1 n=$2 rate=$3; shift 3; run "$code" check allreduce --on "${n}x aws:p5.48xlarge" --size 16GB --algbw "$rate GB/s" "$@"; }

run 0 check --help; flat; has "exit 3"; has "noisy ones get no verdict"
# the figures of an operator's notes
p5 3 2 340; has "Too high to be true"; has "is it a busbw?" # one of the hosts alone does not reach it
p5 0 2 282; has "normal, at the edge"; has "good above "; lacks "Better"
p5 3 2 375; has "Too high to be true"; lacks "normal"
for n in 1 2; do run 3 check allreduce --on "$n""x dgx-h100" --size 8GB --busbw "590 GB/s"; has "Too high"; lacks "Normal"; done
p5 0 2 270; has "normal"
p5 0 2 240; has "Cannot judge yet"; has "cannot notice a slow-down of less than"; flat; has "when it was healthy"; lacks "Normal"
p5 0 125 156; has "normal"; has "carries 1.98 times the size"; has "2(n-1)/n"; has "1.998"
p5 3 125 60; has "low"; has "NCCL_ALGO"; has "NIC"
p5 3 125 300; has "impossible"; has "202 GB/s"; has "algorithm without reduction"; has "busbw"
p5 0 125 156 --lang ko; has "정상"; has "예상 구간"
p5 3 125 300 --lang ko; has "불가능"; has "리덕션"
# one interval for one question: check, predict and the report of the notes say the same
p5 0 125 156; has "80 % interval, low below "
range=$(grep -o -m 1 '[0-9]*–[0-9]* GB/s' "$work/out" | head -n 1)
run 0 predict allreduce --on "125x aws:p5.48xlarge" --size 16GB --json; json "'%.0f–%.0f GB/s' % tuple(j['series'][0]['algbw_Bps'][k] / 1e9 for k in ('lo', 'hi')) == '$range'"
run 0 report "$JEOUL_SOURCE/examples/seed-004.yaml" --format text; has "Expected is $range"; has "Too high to be true: 340 GB/s"; has "cannot be an algbw of 8 nodes"; has "is an 80 % interval"
lacks "algbw on 2 nodes: ~340"; lacks "better than expected"
p5 3 125 60 --json; json "j['verdict'] == 'low' and j['bad'] and len(j['results']) == 1"
json "j['results'][0]['value'] == 60e9 and j['results'][0]['expected_lo'] > 60e9 and 201e9 < j['results'][0]['bound'] < 203e9"
json "j['results'][0]['n_ranks'] == 1000 and abs(j['results'][0]['busbw_factor'] - 1.998) < 1e-9 and j['results'][0]['next']"
p5 0 2 270 --json; json "j['results'][0]['n_published'] > 0 and j['results'][0]['basis'] == 'model'"
run 0 check all_reduce --on "125x aws:p5.48xlarge" --size 16GB --busbw "311.7 GB/s" --json; json "abs(j['results'][0]['value'] / 156e9 - 1) < 1e-3"
run 0 check allreduce --on "125x aws:p5.48xlarge" --size 16GB --time "100 ms" --json; json "abs(j['results'][0]['value'] / 160e9 - 1) < 1e-9"

# devices and links
run 0 check gemm --on h100-sxm5 --rate "750 TFLOP/s"; has "normal"
run 3 check gemm --on h100-sxm5 --rate "300 TFLOP/s"; has "low"; has "nvidia-smi"
run 3 check gemm --on h100-sxm5 --rate "1979 TFLOP/s"; has "impossible"; has "sparse"
# below the listed peak, and more than its power lets it keep up
run 3 check gemm --on h100-pcie --rate "720 TFLOP/s"; has "Too high to be true"; has "zeros"; lacks "normal"
run 0 check allreduce --on "4x rtx-3090" --size 1GB --algbw "4 GB/s"; flat; has "1 published row near it"
run 3 check allreduce --on dgx-h100 --size 8GB --busbw "900 GB/s"; has "Too high to be true"; has "is it a busbw?"; lacks "zeros"
run 3 check allreduce --on dgx-h100 --size 8GB --busbw "900 GB/s" --json; json "j['verdict'] == 'high' and j['results'][0]['good_above'] < j['results'][0]['high_above'] < j['results'][0]['bound']"
sed -e 's/nodes: 2,/nodes: 1,/' -e 's/340 GB\/s, source/500 GB\/s, source/' "$JEOUL_SOURCE/examples/seed-004.yaml" | sed -n 1,10p | sed 's/nodes: \[2,/nodes: [1,/' > "$work/high.yaml"
run 0 report "$work/high.yaml" --format text --lang en; flat; has "Too high to be true: 500 GB/s ● on 1 nodes"; has "! too high"
run 0 check link --on "2x rtx-4090" --rate "13 GB/s" --test h2d; has "Cannot judge yet: 13 GB/s"; has "half of the PCIe lanes"; has "lspci"
run 0 predict allreduce --on "2x rtx-4090" --size 1GB; has "half of the PCIe lanes"; has "Link Width"
run 3 check link --on rtx-4090 --rate "13 GB/s" --test h2d; has "Not normal"; lacks "lanes"
run 0 check gemm --on v100-sxm2-32gb --rate "90 TFLOP/s"; has "fp16"
run 3 check gemm --on h100-pcie --rate "720 TFLOP/s" --lang ko; has "지나치게 높음"
run 0 check gemm --on h100-sxm5 --rate "700 TFLOP/s"; has "Normal"
run 0 check memory --on h200-sxm --rate "4.2 TB/s"; has "normal"
run 3 check memory --on h200-sxm --rate "5.5 TB/s"; has "impossible"
run 3 check link --on rtx-3090 --rate "3 GB/s" --test h2d; has "PCIe"
run 0 check net --on "2x(rtx-3090) over 10gbe" --rate "9.4 Gb/s"; has "normal"
run 3 check net --on "2x(4x rtx-3090) over 10gbe" --rate "3 Gb/s" --lang ko; has "낮음"
run 0 check net --on "2x aws:p5.48xlarge" --rate "25 GB/s"; has "cannot judge yet"; has "Gb/s"
for rate in 48 49; do run 0 check net --on "2x dgx-h100" --rate "$rate GB/s"; has "Normal"; has "taken for RDMA"; done
run 3 check net --on "2x dgx-h100" --rate "30 GB/s"; has "taken for RDMA"; run 0 check net --on "2x dgx-h100" --rate "20 GB/s"; lacks "taken for RDMA"; has "TCP"
run 3 check net --on "2x(rtx-3090) over 10gbe" --rate "0.5 GB/s"; has "RDMA"
# in the unit that was asked in, and what would be noticed
run 0 check allreduce --on dgx-h100 --size 1GB --busbw "480 GB/s"; like "[Nn]ormal: 480 GB/s"; has "busbw 480 GB/s (algbw 274 GB/s)"; has "slow-down of"
# one rank sends through one NIC, not through all of its host; a bound is said in the unit that was asked
run 0 check allreduce --on "2x aws:p5.48xlarge" --size 16GB --busbw "480 GB/s"; flat; has "busbw 750 GB/s = 1.875 x algbw 400 GB/s"; has "cannot notice a slow-down of less than"
run 0 check link --on h100-sxm5 --test h2d --rate "50 GB/s"; flat; has "would notice a slow-down of"
run 3 check allreduce --on dgx-h100 --size 1GB --busbw "320 GB/s"; has "Not normal: 320 GB/s"
run 0 check allreduce --on dgx-h100 --size 1GB --time "3.7 ms"; has "Normal: 3.7 ms"
run 3 check gemm --on h100-sxm5 --rate "555 TFLOP/s"; has "low" # a quarter less
run 3 check memory --on h100-sxm5 --rate "2.3 TB/s"; has "low"
run 0 check gemm --on h100-sxm5 --rate "270 TFLOP/s" --shape 1024; has "cannot judge yet"

# small messages: by their time, and none is expected to be faster than a smaller one
run 0 check allreduce --on "2x aws:p5.48xlarge" --size "1 KiB" --time "140 us"; has "normal"; has "µs, "; has "140 µs"; lacks "0–0 %"; lacks "0 % of the bound"
run 0 check allreduce --on "2x aws:p5.48xlarge" --size "1 KiB" --time "140 us" --lang ko; has "정상"; has "시작과 대기"
fast=0
for size in 8 1024 65536 1048576 16777216 268435456; do
	run 3 check allreduce --on "2x aws:p5.48xlarge" --size "$size B" --time "9 ms" --json
	json "j['results'][0]['expected_time_lo_s'] >= $fast and j['results'][0]['judged_by_time'] == ($size < 2e7)"
	fast=$(python3 -c "import json; print(json.load(open('$work/out'))['results'][0]['expected_time_lo_s'])")
done
# just outside the range: normal, and said why
edge=$("$JEOUL" check allreduce --on "dgx-h100" --size 1GiB --algbw "200 GB/s" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['results'][0]['expected_lo'] * 0.99 / 1e9)")
run 0 check allreduce --on "dgx-h100" --size 1GiB --algbw "$edge GB/s"; has "normal, at the edge"; has "low below"
run 0 check allreduce --on "dgx-h100" --size 1GiB --algbw "$edge GB/s" --json; json "j['results'][0]['at_edge']"
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 1GB --algbw "9 GB/s" --ranks 5000; says "1000 devices"; one_line

# what other tools print
run 0 check - < "$logs/nccl-allreduce-2x8.txt"; has "standard input"; has "8 GiB"; has "Assumed"
run 0 check "$logs/nccl-allreduce-2x8.txt" --on "2x dgx-h100"; has "cannot judge yet"
run 0 check "$logs/nccl-allreduce.json" --on dgx-h100 --json; json "len(j['results']) == 2"
run 0 check "$logs/tqdm.log"; has "tqdm, 200 lines"; has "Steady"
run 1 check "$logs/plain.log"; says "not recognised"

# in 80 columns, both languages
for lang in en ko; do
	p5 3 125 300 --lang $lang
	(cd "$logs" && "$JEOUL" check nccl-allreduce-2x8.txt --lang $lang) >> "$work/out"
	narrow
done

# one clear line for what cannot be judged
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 16 --algbw "156 GB/s"; says "--size"; one_line
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 16GB --algbw 156; says "--algbw"; one_line
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 16GB --algbw "-5 GB/s"; one_line
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 0GB --algbw "5 GB/s"; says "--size"; one_line
run 2 check allreduce --on "125x aws:p5.48xlarge" --algbw "5 GB/s"; says "--size"; one_line
run 2 check allreduce --on "125x aws:p5.48xlarge" --size 1GB; says "--busbw"; one_line
run 2 check allreduce --size 1GB --algbw "5 GB/s"; says "--on"; one_line
run 2 check allreduce --on "0x aws:p5.48xlarge" --size 1GB --algbw "5 GB/s"; one_line
run 1 check allreduce --on no-such-thing --size 1GB --algbw "5 GB/s"; one_line
run 2 check allreduce --on rtx-3090 --size 1GB --algbw "5 GB/s"; one_line
run 2 check allreduce --on "2x dgx-h100" --size 1GB --algbw "5 GB/s" --ranks 11; says "multiple of 8"; one_line
run 2 check gemm --on h100-sxm5; says "--rate"; one_line
run 2 check gemm --on h100-sxm5 --rate "5 GB/s"; one_line
run 2 check gemm --on h100-sxm5 --rate "5 TFLOP/s" --shape 8x8; says "--shape"; one_line
run 2 check gemm --on h100-sxm5 --rate "5 TFLOP/s" --dtype fp99; says "fp99"; one_line
run 2 check net --on rtx-3090 --rate "1 GB/s"; one_line
run 2 check no-such-kind; says "no-such-kind"; one_line
run 2 check allreduce --against 01K5; one_line

# a machine without GPU: its own history
export JEOUL_MACHINE="$machines/gpuless-arm64-vm"
id=$("$JEOUL" probe --from "$JEOUL_MACHINE" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['fingerprint'])")
run 1 check; says "bench all"; one_line
run 1 check --against 01ZZZZ; says "bench all"; one_line
run 0 check gemm --on this --rate "70 GFLOP/s" --dtype fp32; flat; has "a wide estimate from this host's components"; has "three quiet runs"
run 2 check memory --on this --rate "20 GB/s" --test quad; says "triad"; one_line
records "$id" gemm:70 triad:20 > "$work/one.jsonl"
run 0 store import "$work/one.jsonl"
run 0 check; has "2 cannot judge yet"
run 0 check --json; json "all(r['basis'] == 'host' and r['expected_from'] for r in j['results'])"
records "$id" gemm:70 triad:20 gemm:71 triad:21 gemm:69 triad:20 gemm:30:noisy triad:9:noisy > "$work/noisy.jsonl"
run 0 store import "$work/noisy.jsonl"
run 0 check; has "None of the 2 figures could be judged: the machine was busy"; has "measure again on a quiet machine"; lacks "low"; lacks "expected"
run 0 report --brief --format text; flat; has "? Is each figure normal?"; has "None of the 2 figures could be judged"; lacks "✓ Is each"
records "$id" gemm:70 triad:20 gemm:71 triad:21 gemm:69 triad:20 gemm:30:noisy triad:9:noisy gemm:70.5 triad:9 > "$work/low.jsonl"
run 0 store import "$work/low.jsonl"
run 3 check; has "low"; has "NUMA"
run 3 check --json; json "sorted(r['verdict'] for r in j['results']) == ['low', 'normal'] and all(r['basis'] == 'history' for r in j['results'])"
run 0 check --run 01M7EZ02; has "cannot judge yet"
run 3 check --against 01M7EZ03; has "low"; has "-57"
run 0 check --against 01M7EZ04; has "normal"
run 0 check --against 01M7EZ06; has "no verdict"
run 3 check --against 01M7EZ03 --json; json "j['results'][0]['p'] < 0.01 and j['results'][0]['intervals_apart'] and abs(j['results'][0]['ratio'] - 9/21) < 1e-6"
run 1 check --against 01ZZZZ; says "01ZZZZ"; one_line
run 2 check --against 01Z; says "too short"; one_line
run 1 check --against 01M7EZ; one_line # several
records "$id" gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:1 gemm:500 > "$work/peak.jsonl"
run 0 store import "$work/peak.jsonl"
run 3 check; has "impossible"; has "FLOP per clock"

# how old the figures are: said, and refused when asked
export JEOUL_STORE="$work/age.db"
aged() { records "$id" "$2" | python3 -c "import json,sys,time; r=json.loads(sys.stdin.read()); r['time_s']=time.time()-$1; r['id']=r['id'][:20]+'%06d'%$3; print(json.dumps(r))" > "$work/aged.jsonl"; run 0 store import "$work/aged.jsonl"; }
aged $((9 * 86400)) gemm:70 1
run 0 check; has "9 d ago"
run 0 check --json; json "abs(j['results'][0]['age_s'] - 9 * 86400) < 600"
run 1 check --max-age "7 d"; says "9 d ago"; says "max-age"; one_line
run 0 check --max-age "10 d"; has "9 d ago"
aged 120 triad:20 2
run 0 check --max-age "7 d" --json; json "[r['kind'] for r in j['results']] == ['memory']"; says "1 results are older"
run 2 check --max-age 7; says "--max-age"; one_line
run 2 check --max-age "0 s"; one_line
run 2 check gemm --on h100-sxm5 --rate "750 TFLOP/s" --max-age "7 d"; one_line
records "$id" gemm:71 | python3 -c "import json,sys,time; r=json.loads(sys.stdin.read()); r['time_s']=time.time()+864000; print(json.dumps(r))" > "$work/future.jsonl"
run 1 store import "$work/future.jsonl"; one_line; says "10 days in the future" # a clock that was wrong is no proof of youth

# calibrate: the CPU becomes a device
# a host that does the same thing at two speeds in quiet runs is called unsteady
export JEOUL_STORE="$work/u.db"
records "$id" triad:40 triad:21 triad:40 triad:20 gemm:70 gemm:70 gemm:58 > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 0 check; has "unsteady: 1 of 2 figures"; lacks " low"; run 0 check --lang ko; has "불안정"
run 0 check --json; json "j['unsteady'] is True and j['n_jumps'] == 1 and not j['bad']"
export JEOUL_STORE="$work/b.db"
run 1 calibrate; says "jeoul bench"; one_line
run 1 calibrate --show; one_line
run 0 predict gpt-305m --on this; flat; has "as listed for 2 of the 64 cores"
records "$id" gemm:70:noisy triad:20:noisy > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 1 calibrate; says "--noisy"; one_line
export JEOUL_STORE="$work/c.db"
records "$id" gemm:70 triad:20 > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 0 calibrate; has "70 GFLOP/s"; has "20 GB/s"
run 0 calibrate --show; has "origin: measured"; has "2026-11-15"; has "01M7EZ00"
run 0 calibrate --show --json; json "len(j['files']) == 2"
run 0 predict gpt-305m --on this --batch 1 --seq 128; has "measured here on 2026-11-15"; has "cpu:this"
run 0 predict gpt-305m --on this --batch 1 --seq 128 --json; json "j['system'] == 'cpu:this'"
step=$(python3 -c "import json; j=json.load(open('$work/out')); print(j['step_s']['value'] if isinstance(j['step_s'], dict) else j['step_s'])")
records "$id" gemm:70 triad:20 gemm:140 triad:40 > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 0 calibrate --json; json "j['figures'][0]['measured'] == 140e9 and j['device'] == 'cpu:this'"
run 0 predict gpt-305m --on this --batch 1 --seq 128 --json
json "0.45 < (j['step_s']['value'] if isinstance(j['step_s'], dict) else j['step_s']) / $step < 0.6" # twice as fast
run 0 predict gpt-305m --on rtx-3090 --batch 1 --seq 128; lacks "measured here"
run 0 catalog validate "$work/data/jeoul/this/$id"
run 0 calibrate --forget --lang ko; has "지웠습니다"
run 0 predict gpt-305m --on this; flat; has "measured here on" # what the store has still counts
run 2 calibrate --data x; says "--fit"; one_line

# ... and GPUs get parameters of their own
export JEOUL_MACHINE="$machines/hgx-h100-8gpu" JEOUL_STORE="$work/d.db"
id=$("$JEOUL" probe --from "$JEOUL_MACHINE" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['fingerprint'])")
run 0 predict llama-3-8b --on this --json; before=$(python3 -c "import json; j=json.load(open('$work/out')); print(j['step_s']['value'] if isinstance(j['step_s'], dict) else j['step_s'])")
records "$id" gpu-gemm:550 gpu-triad:2700 gpu-h2d:40 nccl:200 > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 3 check; has "low"
run 0 calibrate; has "550 TFLOP/s"; has "200 GB/s"
run 0 calibrate --json; json "len(j['figures']) == 4 and j['device'] == 'h100-sxm5' and all(f['parameter'] for f in j['figures'])"
run 0 catalog validate "$work/data/jeoul/this/$id"
run 0 predict llama-3-8b --on this; flat; has "measured here on 2026-11-15"
run 0 predict llama-3-8b --on this --json
json "(j['step_s']['value'] if isinstance(j['step_s'], dict) else j['step_s']) > 1.15 * $before" # a third slower products
run 0 calibrate --forget

# ... what the model has no rate for keeps nobody from being judged
export JEOUL_STORE="$work/e.db"
records "$id" gpu-gemm:700 gpu-triad:2700 gpu-pageable:6 gpu-within:1300 nccl-alone:900 > "$work/o.jsonl"; run 0 store import "$work/o.jsonl"
run 0 check; has "3 normal"; has "1 no expectation yet"; has "1 cannot judge yet"
run 0 check --lang ko; has "GPU0 일반"
run 0 check --json; json "[r['what'] for r in j['results'] if 'pageable' in r['what']] == ['256 MiB h2d GPU0 pageable']"
json "sum(r['basis'] == 'none' for r in j['results']) == 1 and sum(r['verdict'] == 'unjudged' for r in j['results']) == 1"
run 0 calibrate --json; json "len(j['figures']) == 2"
finish
