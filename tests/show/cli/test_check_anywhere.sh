#!/bin/bash
# A verdict is the same in every folder and with every data folder: what it needs is in the program.
set -uo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
unset JEOUL_DATA
cp "$JEOUL" "$tmp/jeoul" # nothing lies beside it
judge() { "$tmp/jeoul" check allreduce --on "2x aws:p5.48xlarge" --size 16GB --algbw "$1" --json; }

(cd "$JEOUL_SOURCE" && judge "290 GB/s") >"$tmp/tree"; [[ $? == 0 ]] || fail "290 GB/s in the tree: not normal"
grep -q '"verdict": "normal"' "$tmp/tree" || fail "290 GB/s in the tree: $(cat "$tmp/tree")"
(cd / && judge "290 GB/s") >"$tmp/root"; [[ $? == 0 ]] || fail "290 GB/s from /: not normal"
cmp -s "$tmp/tree" "$tmp/root" || fail "another verdict from /: $(diff "$tmp/tree" "$tmp/root")"

# somebody else's rows, where they used to be looked for
mkdir -p "$tmp/planted/data/validation"
head -1 "$JEOUL_SOURCE/data/validation/collectives.csv" >"$tmp/planted/data/validation/collectives.csv"
for i in $(seq 40); do
	echo "u,n,exact-from-table,g$i,all_reduce,17179869184,16,2,H100,NVSwitch,EFA 400 GB/s,,$((50 + i % 9)),,float,nccl-tests,r,s$i|H100"
done >>"$tmp/planted/data/validation/collectives.csv"
for own in "" "$tmp/planted/data"; do
	(cd "$tmp/planted" && JEOUL_DATA=$own judge "290 GB/s") | cmp -s - "$tmp/tree" || fail "a planted file changed a verdict (JEOUL_DATA='$own')"
	(cd "$tmp/planted" && JEOUL_DATA=$own judge "60 GB/s") >/dev/null; [[ $? == 3 ]] || fail "60 GB/s with a planted file: not low"
done
echo "check anywhere: fine"
