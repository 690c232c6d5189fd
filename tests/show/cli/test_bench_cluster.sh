#!/bin/bash
# A cluster in one command: hosts of a list (a stand-in for ssh), a launcher, hosts that cannot be started, ranks that die, stop or hang.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_SSH="$work/ssh" JEOUL
cat > "$work/ssh" <<'S'
#!/bin/bash
# -o BatchMode=yes HOST jeoul ...
host=$3; shift 4
case $host in
gone) exit 255 ;;
dies) "$JEOUL" "$@" & pid=$!; sleep 2; kill -KILL $pid; wait $pid ;;
stops) "$JEOUL" "$@" & pid=$!; echo $pid > "$(dirname "$0")/stopped"; sleep "$JEOUL_STOP_S"; kill -STOP $pid; while kill -0 $pid 2>/dev/null; do sleep 0.1; done ;;
*) exec "$JEOUL" "$@" ;;
esac
S
chmod +x "$work/ssh"
port=$((20000 + $$ % 20000))

run 2 bench cluster; one_line; says "hosts"
run 2 bench cluster --hosts=-oProxyCommand=x; one_line; says "not a host"
run_some() { "$JEOUL" bench cluster 127.0.0.1 --port $((port += 7)) "$@" > "$work/out" 2> "$work/err"; code=$?; out=$(cat "$work/out") err=$(cat "$work/err"); }
run_some --hosts a,b,c; [ $code = 0 ] || [ $code = 3 ] && ok || bad "ended with $code: $(cat "$work/err")"
has "4 ranks over TCP"; has "All-reduce"; narrow
run_some --hosts a,b --lang ko --json
json "j['n_ranks'] == 3 and len(j['allreduce']) == 4 and j['ended_early'] is None and all(sum(x is None for x in r['to_Bps']) == 1 for r in j['ranks'])"
json "all(r['gemm_flopps'] is None or r['gemm_flopps'] > 0 for r in j['ranks']) and all(r['mem_Bps'] > 0 for r in j['ranks'])"
# a host that cannot be started is said; the others are measured
run_some --hosts a,gone,b --json; json "j['n_ranks'] == 3"; says "gone could not be started"
run 1 bench cluster 127.0.0.1 --port $((port += 7)) --hosts gone
# a rank that dies or stops is named, within ten seconds after it; what was measured is shown
for JEOUL_STOP_S in 1.5 0.7 0.3; do # a fast machine is done before it stops: sooner, then
	export JEOUL_STOP_S
	run_some --hosts a,stops,b; kill -KILL "$(cat "$work/stopped")" 2>/dev/null; [ $code = 1 ] && break
done
[ $code = 1 ] && ok || bad "a stopped rank ended with $code"
flat; has "early:"; has "is stuck"; has "ranks over TCP"
run_some --hosts a,dies,b
flat; if [ $code = 1 ]; then has "died"; else [ $code = 0 ] || [ $code = 3 ] && ok; fi # all was done before it
if command -v mpirun >/dev/null && "$JEOUL" bench list | grep -q '^ *mpi *ready'; then
	mpirun --allow-run-as-root --oversubscribe -np 3 "$JEOUL" bench cluster --json > "$work/out" 2> "$work/err"
	json "j['n_ranks'] == 3 and j['over'] == 'MPI' and len(j['allreduce']) == 4"
fi
finish
