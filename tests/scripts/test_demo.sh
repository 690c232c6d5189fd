#!/bin/bash
# The demonstration on a poor machine: a processor of no name, one core, seconds to measure in; both languages, and it ends 0.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_bad=0
bad() { n_bad=$((n_bad + 1)); echo "FAILED: $*"; }
mkdir "$work/machine"
printf 'jeoul capture 1\nfile /proc/cpuinfo\n\tmodel name\t: Nonsense 1 @ 1.00GHz\n\tflags\t: sse2\nfile /proc/meminfo\n\tMemTotal: 8000000 kB\nend 2\n' > "$work/machine/machine.txt"
export JEOUL_DEMO_DIR="$work/demo" JEOUL_STORE="$work/store.db" XDG_DATA_HOME="$work/data" JEOUL_DEMO_SECONDS=3
one=""; command -v taskset >/dev/null && one="taskset -c $(taskset -cp $$ | sed 's/.*: *//; s/[-,].*//')"
for lang in en ko; do
	JEOUL_MACHINE="$work/machine" JEOUL_DEMO_LANG=$lang $one bash "$JEOUL_SOURCE/scripts/demo" >"$work/out" 2>"$work/err" || bad "$lang: ended with $?: $(cat "$work/err")"
	grep -q 'Nonsense 1' "$work/out" || bad "$lang: the machine is not shown"
	grep -q 'h100-sxm5' "$work/out" || bad "$lang: no GPU beside it"
done
$one bash "$JEOUL_SOURCE/scripts/demo" >"$work/out" 2>"$work/err" || bad "live: ended with $?: $(cat "$work/err")"
for page in report machine; do for lang in ko en; do [ -s "$work/demo/$page.$lang.html" ] || bad "no $page.$lang.html"; done; done
[ $n_bad = 0 ]
