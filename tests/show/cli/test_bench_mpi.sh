#!/bin/bash
# Collectives under mpirun: every rank takes part, only the first speaks, results are right.
. "$(dirname "$0")/lib.sh"
command -v mpirun >/dev/null || skip "no mpirun (package openmpi-bin)"
if ! "$JEOUL" bench list --json | python3 -c "import json,sys; sys.exit(0 if [b for b in json.load(sys.stdin)['backends'] if b['name'] == 'mpi'][0]['present'] else 1)"; then
	skip "$("$JEOUL" bench list | grep -A3 '^  mpi' | tail -n +2 | tr -s ' ' | tr -d '\n')"
fi
root=""; [ "$(id -u)" = 0 ] && root=--allow-run-as-root
mpi() { # CODE RANKS ARGS...
	local code=$1 n=$2; shift 2
	timeout 100 mpirun $root --oversubscribe -np "$n" "$JEOUL" "$@" >"$work/out" 2>"$work/err"
	local got=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	if [ "$got" = "$code" ]; then ok; else bad "mpirun jeoul $* ended with $got, not $code: $err"; fi
}
for c in allreduce allgather reducescatter broadcast reduce alltoall sendrecv; do
	mpi 0 3 bench $c -b 1K -e 64K -f 8 -n 3 -w 1 --no-store --json
	json "len(j['records']) == 6 and all(r['backend'] == 'mpi' and r['kind'] == '$c' and r['params']['n_ranks'] == 3 and r['params']['n_wrong'] == 0 for r in j['records'])"
done
for d in int8 half bfloat16 double; do for o in sum prod min avg; do
	[ $o$d = avgint8 ] && continue
	mpi 0 2 bench allreduce -b 4K -n 2 -w 1 -d $d -o $o --no-store --json; json "all(r['params']['n_wrong'] == 0 for r in j['records'])"
done; done
mpi 0 2 bench allreduce -b 1K -n 2 -w 1 --no-store; [ "$(grep -c '^# Avg bus' "$work/out")" = 1 ] && ok || bad "more than one rank speaks"
mpi 2 2 bench allreduce -b 8Q; [ "$(grep -c 8Q "$work/err")" = 1 ] && ok || bad "more than one rank complains: $err"
finish
