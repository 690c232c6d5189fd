#!/bin/bash
# `this` on any machine: a CPU that nobody knows, one core, /sys hidden, GPUs that are not listed; captured, and live in a namespace of
# its own where that is allowed.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_DATA="$JEOUL_SOURCE/data"
unset JEOUL_NVML
machines=$JEOUL_SOURCE/tests/fixtures/machines

# machine NAME CPUINFO [no-sys]: the small virtual machine with another processor
machine() {
	mkdir -p "$work/$1"
	python3 - "$machines/gpuless-arm64-vm/machine.txt" "$2" "${3:-}" > "$work/$1/machine.txt" <<'P'
import sys
path, cpuinfo, no_sys = sys.argv[1:]
records, out = [], []
for line in open(path).read().split("\n"):
    if line.startswith("\t"):
        records[-1].append(line)
    elif line and not line.startswith(("end ", "jeoul capture")):
        records.append([line])
for r in records:
    name = r[0].split(" ")[1]
    if no_sys and name.startswith("/sys"):
        continue
    if name == "/proc/cpuinfo":
        r[1:] = ["\t" + t for t in cpuinfo.replace("\\t", "\t").split("|")]
    if name == "/proc/sys/kernel/arch" and "flags" in cpuinfo:
        r[1:] = ["\tx86_64"]
    out.append(r)
print("jeoul capture 1")
for r in out:
    print("\n".join(r))
print("end %d" % len(out))
P
	export JEOUL_MACHINE="$work/$1"
}
# what must end well on any machine, in both languages
works() {
	local lang
	for lang in en ko; do
		run 0 probe --from "$JEOUL_MACHINE" --lang $lang
		run 0 predict gpt2-124m --on this --lang $lang; flat; has "cpu:this"; has "bench all --quick"
		run 0 compare gpt2-124m --baseline this --on h100-sxm5 --lang $lang; flat; has "cpu:this"
		run 0 report "$JEOUL_SOURCE/examples/demo.yaml" --lang $lang; flat; has "bench all --quick"
		run 0 report --lang $lang
	done
	run 0 predict gpt2-124m --on this --json; json "j['system'] == 'cpu:this' and j['step_s']['lo'] < 0.75 * j['step_s']['value']"
	run 0 predict resnet-50 --on this --batch 8; flat; has "cpu:this"
}
step() { run 0 predict gpt2-124m --on this --batch 4 --seq 512 --json; python3 -c "import json; print(json.load(open('$work/out'))['step_s']['value'])"; }
less() { if python3 -c "import sys; sys.exit(0 if $1 < $2 else 1)"; then ok; else bad "$3: $1 is not below $2"; fi; }

x86="processor\t: 0|vendor_id\t: NoSuchMaker|model name\t: Frobnicator 9000 @ 3.00GHz|flags\t\t: fpu sse2"
machine nonsense "$x86 avx avx2 fma avx512f|processor\t: 1"; works
run 0 predict gpt2-124m --on this; flat; has "not in the catalog: estimated from its cores"; has "3 GHz, AVX-512"
run 0 compare gpt2-124m --batch 4 --seq 512 --baseline this --on h100-sxm5 --json # an estimated baseline is part of the doubt
json "0.45 < j['systems'][0]['at_same_batch']['speedup']['lo'] / j['systems'][0]['at_same_batch']['speedup']['value'] < 0.75"
wide=$(step)
machine narrow "$x86 avx avx2 fma|processor\t: 1"; avx2=$(step); less "1.4 * $wide" "$avx2" "AVX2 is slower than AVX-512"
machine plain "$x86|processor\t: 1"; sse=$(step); less "2 * $avx2" "$sse" "SSE2 is slower than AVX2"
machine hidden "$x86 avx avx2" no-sys; works; has "1 x 3 GHz"
one=$(step); less "1.6 * $avx2" "$one" "one core is slower than two"
machine unnamed "nothing\t: here" no-sys; works
machine arm "CPU implementer\t: 0x7f|CPU part\t: 0x123|Features\t: fp asimd sve"; works; has "2 x"; run 2 predict gpt2-124m --on this --precision bf16; one_line; fp32=$(step)
machine bf16 "CPU implementer\t: 0x7f|CPU part\t: 0x123|Features\t: fp asimd sve bf16"; works
less "$(step)" "1.01 * $fp32" "bf16 is not chosen by itself"; run 0 predict gpt2-124m --on this; flat; lacks "no matrix units"; has "bf16 instead of fp32"
run 0 predict gpt2-124m --on this --precision bf16 --batch 4 --seq 512 --json; json "0.5 * $fp32 < j['step_s']['value'] < 0.85 * $fp32"

# a quiet result replaces the estimate; a disturbed one only where it is above it
machine measured "$x86 avx avx2|processor\t: 1"
id=$("$JEOUL" probe --from "$JEOUL_MACHINE" --json | python3 -c "import json,sys; print(json.load(sys.stdin)['fingerprint'])")
python3 "$(dirname "$0")/check_records.py" "$id" gemm:7:noisy triad:70:noisy > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 0 predict gpt2-124m --on this; flat; has "memory measured here on"; has "the rest not in the catalog: estimated"; has "it was disturbed"
export JEOUL_STORE="$work/b.db"
python3 "$(dirname "$0")/check_records.py" "$id" gemm:70 triad:20 > "$work/n.jsonl"; run 0 store import "$work/n.jsonl"
run 0 predict gpt2-124m --on this; flat; has "● this"; has "measured here on"; lacks "estimated from"
run 0 report "$JEOUL_SOURCE/examples/demo.yaml" --json; json "any('measured here on' in str(b) for b in j['blocks'])"
export JEOUL_STORE="$work/c.db"

# live: nothing under /sys, and a processor of no name with one core
unset JEOUL_MACHINE
if unshare -m -r true 2>/dev/null; then
	printf 'processor\t: 0\nmodel name\t: Frobnicator 9000\nflags\t\t: sse2\n' > "$work/cpuinfo"
	for args in "probe" "predict gpt2-124m --on this" "report $JEOUL_SOURCE/examples/demo.yaml --lang ko" "report --lang en"; do
		unshare -m -r sh -c "mount -t tmpfs none /sys && mount --bind '$work/cpuinfo' /proc/cpuinfo && exec \"\$@\"" sh timeout 60 "$JEOUL" $args >"$work/out" 2>"$work/err"
		code=$?
		if [ $code = 0 ]; then ok; else bad "without /sys: jeoul $args ended with $code: $(cat "$work/err")"; fi
		grep -q 'Frobnicator 9000' "$work/out" || [ "${args%% *}" = predict ] && ok || bad "jeoul $args: not the machine without a name"
	done
else
	echo "skipped: no private mount namespace here, /sys cannot be hidden from a running program"
fi
finish
