#!/bin/bash
# Files that are long, deep or repeat themselves take time in proportion to their size: each of these once took minutes, or as long as its square.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
cpu_s=8
grep -q __asan_init "$JEOUL" && cpu_s=60

# long CODE ARGS...: ends with CODE within $cpu_s of processor time
long() {
	local code=$1 got; shift
	ran=$*
	(ulimit -t "$cpu_s"; exec "$JEOUL" "$@") >"$work/out" 2>"$work/err"; got=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	[ "$got" = "$code" ] && ok || bad "jeoul $* ended with $got, not $code, in ${cpu_s} s of processor time: $err"
}

# A training log that slows down all along: every place was compared with a median of its own.
awk 'BEGIN { for (i = 1; i <= 120000; i++) printf "iter %d: loss 2.0000, time %.2fms, mfu 1%%\n", i, 100 + i / 2000 + i % 7 / 10 }' >slow.log
long 3 check slow.log --json
json 'j["drift_frac"] > 0.3 and [f["key"] for f in j["findings"]] == ["drift"]'
# ... one that changes at one step is found there, also where groups of steps are compared
awk 'BEGIN { for (i = 1; i <= 50000; i++) printf "iter %d: loss 2.0000, time %.2fms, mfu 1%%\n", i, (i < 30000 ? 100 : 130) + i % 7 / 10 }' >shift.log
long 3 check shift.log --json
json '[abs(f["at_step"] - 30000) <= 2500 for f in j["findings"] if f["key"] == "shift"] == [True]'
# Steps without a time, and a pause behind each: every one was looked for in all.
awk 'BEGIN { for (i = 1; i <= 100000; i++) printf "step: %d tps: 9\nSaving checkpoint\n", i }' >pauses.log
long 1 check pauses.log; says "with a step time"

# A captured program: modules within modules, of which each call leaves and enters all, and lists of a million tensors.
{
	printf 'jeoul-program 1\ntitle deep\nunit samples 1\nworld 1 0\ngraph 0\n'
	awk 'BEGIN { for (i = 1; i <= 60000; i++) printf "m %d %d a L\n", i, i - 1; print "t 1 f32 8x8\no 1 aten.relu 1 1\np forward"; for (i = 0; i < 20000; i++) printf "k 1 %d 0\n", i % 2 ? 60000 : 1; print "end 20000" }'
} >deep.jprog
long 1 predict deep.jprog --on rtx-4090; says "at most 200 deep"; one_line
{
	printf 'jeoul-program 1\ntitle lists\nunit samples 1\nworld 1 0\ngraph 0\nt 1 f32 8x8\nt 2 f32 8x8x8x8\n'
	awk 'BEGIN { for (i = 0; i < 4096; i++) l = l (i ? "," : "") "1*65536"; for (i = 1; i <= 20; i++) printf "o %d aten._foreach_add_.List %s -\n", i, l
		printf "o 21 aten.convolution_backward 2*3 %s\no 22 aten._scaled_dot_product_efficient_attention_backward 2*4,%s 2\n", l, substr(l, 9)
		print "p update"; for (i = 1; i <= 22; i++) printf "k %d 0 0\n", i; print "end 22" }'
} >lists.jprog
long 0 predict lists.jprog --on rtx-4090 --json

# A profiler's trace whose marks all overlap: each gap was compared with all of them. Numbers beyond any id are none.
awk 'BEGIN { printf "{\"schemaVersion\":1,\"deviceProperties\":[{\"name\":\"H100\"}],\"traceEvents\":[{\"cat\":\"cpu_op\",\"name\":\"aten::bmm\",\"ts\":1,\"dur\":1,\"args\":{\"External id\":1e99}}"
	for (i = 0; i < 30000; i++) {
		printf ",{\"cat\":\"user_annotation\",\"name\":\"Optimizer.step#%d\",\"ts\":%d,\"dur\":1000000000}", i, i
		printf ",{\"cat\":\"kernel\",\"name\":\"k%d\",\"ts\":%d,\"dur\":1,\"args\":{\"correlation\":%s}}", i % 100, 1000000 + 10 * i, i ? i : "1e300"
		printf ",{\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"ts\":%d,\"dur\":3,\"args\":{\"correlation\":%d}}", 999995 + 10 * i, i
	}
	print "]}" }' >marks.json
long 3 check marks.json --json; json 'j["n_kernels"] == 30000 and [f["key"] for f in j["findings"]] == ["unfused_optimizer"]'
finish
