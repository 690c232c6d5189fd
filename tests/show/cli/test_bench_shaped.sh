#!/bin/bash
# Two hosts on one machine: network namespaces joined by a link of known rate. bench net must not be faster than it; bench allreduce over TCP and
# MPI must move its bytes through the link. (bench/measure/netns-pair says what is needed.)
. "$(dirname "$0")/lib.sh"
pair=$JEOUL_SOURCE/bench/measure/netns-pair
name=jl$$
# a set-up that fails half-way skips and leaves nothing mounted
printf '#!/bin/bash\n[[ "$*" == "netns add "*-b ]] && exit 1\nexec %s "$@"\n' "$(command -v ip)" >"$work/ip"; chmod +x "$work/ip"
PATH="$work:$PATH" "$pair" up $name 1gbit >/dev/null 2>&1; [ $? = 77 ] || bad "a failed set-up does not skip"
grep -q "/run/netns/$name" /proc/self/mountinfo && bad "a failed set-up leaves namespaces mounted"
why=$("$pair" up $name 1gbit 2>&1); code=$?
[ $code = 0 ] || skip "$why"
trap '"$pair" down $name; rm -rf "$work"' EXIT

# find RATE_Bps: never faster than the link, whatever else the machine does; how close it comes is shown by bench/measure/shaped
find_rate() {
	ip netns exec $name-b timeout 60 "$JEOUL" bench net --listen 10.98.76.2 --once >"$work/listen" 2>&1 & local pid=$!
	for _ in $(seq 50); do grep -q . "$work/listen" && break; sleep 0.1; done
	ip netns exec $name-a timeout 60 "$JEOUL" bench net --to 10.98.76.2 --streams "$2" --time "6 s" --no-store --json >"$work/out" 2>"$work/err" || bad "bench net: $(cat "$work/err")"
	wait $pid
	# the better of the two ways: a machine that others use may starve one of them
	if python3 - "$work/out" "$1" <<'P'
import json, sys
rates = [m["median"] for r in json.load(open(sys.argv[1]))["records"] if not r["params"].get("both_ways") for m in r["metrics"] if m["name"] == "wire_Bps"]
wanted = float(sys.argv[2])
print("shaped %.3f Gb/s, found %s" % (8e-9 * wanted, " ".join("%.3f" % (8e-9 * r) for r in rates)))
sys.exit(0 if rates and all(0 < r < 1.05 * wanted for r in rates) else 1)
P
	then ok; else bad "faster than the link can be"; fi
}
find_rate 125e6 1
# an all-reduce between the two, over TCP
ip netns exec $name-b timeout 60 "$JEOUL" bench allreduce --to 10.98.76.1 >"$work/to" 2>&1 & pid=$!
ip netns exec $name-a timeout 60 "$JEOUL" bench allreduce --listen 10.98.76.1 -b 16M -n 4 -w 1 --no-store --json >"$work/out" 2>"$work/err" || bad "bench allreduce: $(cat "$work/err" "$work/to")"
wait $pid || bad "bench allreduce --to: $(cat "$work/to")"
json "len(j['records']) == 2 and all(r['params']['n_wrong'] == 0 and 0 < r['metrics'][0]['median'] < 1.05 * 125e6 for r in j['records'])"
python3 -c "import json; print('all-reduce over TCP %.0f MB/s of 125' % (json.load(open('$work/out'))['records'][0]['metrics'][0]['median'] / 1e6))"
if command -v mpirun >/dev/null && "$JEOUL" bench list --json | python3 -c "import json,sys; sys.exit(0 if [b for b in json.load(sys.stdin)['backends'] if b['name'] == 'mpi'][0]['present'] else 1)"; then
	timeout 120 "$pair" mpirun $name -np 2 "$JEOUL" bench allreduce -b 16M -n 4 -w 1 --no-store --json >"$work/out" 2>"$work/err" || bad "mpirun: $(cat "$work/err")"
	# not faster than the link: the bytes went through it; how close it comes is bench/measure's business, this machine may be busy
	json "all(r['params']['n_wrong'] == 0 and 0 < r['metrics'][0]['median'] < 1.05 * 125e6 for r in j['records'])"
	python3 -c "import json; print('all-reduce %.0f MB/s of 125' % (json.load(open('$work/out'))['records'][0]['metrics'][0]['median'] / 1e6))"
fi
finish
