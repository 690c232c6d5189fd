#!/bin/bash
# Many machines of one kind: the slow one is found, nobody else is accused; a long load on one of them.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db"

# fleet SLOW_NODE FACTOR SEED: three quiet runs and a disturbed one of six figures on each of sixteen nodes
fleet() {
	python3 - "$@" <<'P'
import json, random, sys
slow, factor, rng = int(sys.argv[1]), float(sys.argv[2]), random.Random(int(sys.argv[3]))
figures = [("gemm", "cuda", {"dtype": "bf16", "m": m, "n": m, "k": m, "device": 0}, "gemm_flopps", 7e14) for m in (2048, 4096, 8192)] + [
    ("memory", "cuda", {"test": t, "size_B": 1 << 30, "device": 0}, "mem_Bps", 3e12) for t in ("triad", "copy")] + [
    ("link", "cuda", {"test": "h2d", "size_B": 1 << 28, "pinned": 1, "device": 0}, "link_Bps", 5.5e10)]
n = 0
for node in range(16):
    own = [rng.gauss(0, 0.012) for _ in figures]
    for run in range(4):
        for i, (kind, backend, params, metric, rate) in enumerate(figures):
            noisy = run == 3
            value = rate * 2.718281828 ** (own[i] + rng.gauss(0, 0.015)) * (factor if node == slow else 1) * (0.6 if noisy else 1)
            n += 1
            print(json.dumps({"record_version": 1, "id": "01M7EZ%04d" % n + "0" * 16, "time_s": 1794725087.0 + n, "kind": kind, "backend": backend,
                "origin": "measured", "machine": "fc7a64ccd723a047", "machine_name": "1x H200", "node": "node%02d" % node, "run": "01M7EZ%02d%02d" % (node, run) + "0" * 16,
                "params": params, "metrics": [{"name": metric, "n": 20, "median": value}], "noise": {"noisy": noisy, **({"why": "made up"} if noisy else {})}}))
P
}

fleet 11 0.85 1 > "$work/slow.jsonl"; run 0 store import "$work/slow.jsonl"
run 3 check --fleet; has "node11 is slow"; lacks "node10 is slow"; has "like the others"
run 3 check --fleet --json
json "j['n_slow'] == 1 and j['nodes'][0]['node'] == 'node11' and j['nodes'][0]['slow'] and -0.2 < j['nodes'][0]['score_frac'] < -0.1"
json "len(j['nodes']) == 16 and all(n['n_records'] == 24 and n['n_noisy'] == 6 and n['n_figures'] == 6 for n in j['nodes'])"
run 3 check --fleet --lang ko; has "node11"; has "느립니다"
for seed in 2 3 4 5 6 7 8; do
	export JEOUL_STORE="$work/$seed.db"
	fleet 99 1 $seed > "$work/f.jsonl"; run 0 store import "$work/f.jsonl"
	run 0 check --fleet; has "none of 16 machines is slow"
done
# one figure alone, a link at half its width
python3 - "$work/f.jsonl" > "$work/g.jsonl" <<'P'
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["kind"] == "link" and r["node"] == "node03":
        r["metrics"][0]["median"] *= 0.5
    print(json.dumps(r))
P
export JEOUL_STORE="$work/g.db"; run 0 store import "$work/g.jsonl"
run 3 check --fleet; has "node03 is slow"; has "link"; run 3 check --fleet --json; json "j['n_slow'] == 1 and j['nodes'][0]['worst_kind'] == 'link' and j['nodes'][0]['slow_in_worst']"
# too few of a kind, nothing at all, questions that do not fit
grep -E '"node0[01]"' "$work/f.jsonl" > "$work/two.jsonl"; export JEOUL_STORE="$work/two.db"; run 0 store import "$work/two.jsonl"
run 0 check --fleet; has "no verdict"
export JEOUL_STORE="$work/none.db"; run 1 check --fleet; one_line; says "bench all"
run 2 check --fleet gemm; one_line; says "fleet"
# the name of a node is kept where it is said
export JEOUL_STORE="$work/n.db"
JEOUL_NODE=rack1 run 0 bench memory --size "1 MiB" --time "100 ms"
run 0 bench memory --size "1 MiB" --time "100 ms" --node rack2
run 0 store export; has '"node":"rack1"'; has '"node":"rack2"'
# machines that are built alike are judged by their own results
run 1 check; one_line; says "rack1"; says "JEOUL_NODE"
own=$("$JEOUL" store export | grep '"node":"rack1"' | grep -o '"id":"[^"]*"' | tr -d '\n"')
run 0 check --node rack1 --json; json "j['results'] and all(r['id'] in '$own' for r in j['results'])"
run 1 check --node rack3; one_line; says "bench all"

# a long load
JEOUL_BENCH_FAKE="rate=1e12 jitter=0.01" run 0 bench soak --backend fake --time "1 s" --no-store; has "it passed the load"
JEOUL_BENCH_FAKE="rate=1e12 jitter=0.01 drift=1e-4" run 3 bench soak --backend fake --time "8 s" --no-store; has "failed under the load"; has "slower than it began"
JEOUL_BENCH_FAKE="wrong=3" run 3 bench soak --backend fake --time "1 s" --no-store --lang ko; has "3"
run 0 bench soak --time "2 s" --json; json "j['records'][0]['kind'] == 'soak' and j['records'][0]['metrics'][0]['name'] == 'gemm_flopps' and j['records'][0]['params']['n_wrong'] == 0"
run 2 bench soak --time "0 s"; one_line
run 1 bench soak --backend shm --time "1 s"; one_line; says "does not measure this"
# A kind that lacks a figure is left out with its reason; alone it is refused, and so is a name that nobody knows
run 0 plan llama-3-8b --kinds trainium2,h100-sxm5 --gpus 8 --tokens 1e10 --lang en; flat; has "Left out trainium2:"; has "the 8 trainium2 of a host are joined is not known"; has "8 x h100-sxm5"
run 2 plan llama-3-8b --kinds trainium2 --gpus 8 --tokens 1e10; one_line; says "trainium2 of a host are joined is not known"
run 1 plan llama-3-8b --kinds h100-sxm5,nonsense-9000 --gpus 8; one_line; says "nonsense-9000"

finish
