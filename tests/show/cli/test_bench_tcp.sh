#!/bin/bash
# Collectives between hosts that join by themselves, here all on loopback: the first prints nccl-tests' columns and keeps the records, the
# others say one line; strangers are refused; mistakes get one line.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME=$work/data
port() { python3 -c "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); p = s.getsockname()[1]; print(p if p < 60000 else p - 5000)"; }

# team CODE RANKS COLLECTIVE ARGS...: rank 0 in $out and $err, the others in $work/to.N
team() {
	local code=$1 n=$2 coll=$3 pids=() got p; shift 3
	p=$(port)
	for i in $(seq 2 "$n"); do
		timeout 60 "$JEOUL" bench "$coll" --to 127.0.0.1 --port "$p" >"$work/to.$i" 2>&1 & pids+=($!)
	done
	timeout 60 "$JEOUL" bench "$coll" --listen --ranks "$n" --port "$p" "$@" >"$work/out" 2>"$work/err"; got=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	[ "$got" = "$code" ] && ok || bad "bench $coll --listen $* ended with $got, not $code: $err"
	for pid in "${pids[@]}"; do wait "$pid" && ok || bad "a rank that joined failed: $(cat "$work"/to.*)"; done
	for i in $(seq 2 "$n"); do
		[ "$(wc -l < "$work/to.$i")" = 1 ] && grep -qE "^Took part as rank [1-9][0-9]* of $n; the results are with 127.0.0.1\.$" "$work/to.$i" && ok || bad "not one line: $(cat "$work/to.$i")"
	done
}
for c in allreduce allgather reducescatter broadcast reduce alltoall sendrecv; do
	team 0 3 $c -b 1K -e 256K -f 16 -n 3 -w 1 --no-store --json
	json "len(j['records']) == 6 and all(r['backend'] == 'tcp' and r['kind'] == '$c' and r['params']['n_ranks'] == 3 and r['params']['n_wrong'] == 0 for r in j['records'])"
done
# the columns, and the store; --to takes everything from the one that listens
team 0 2 allreduce -b 64K -e 4M -f 8 -n 4 -w 1 -d bfloat16 -o avg
[[ "$err" == *"Listening on 127.0.0.1 port"*"joined, 2 of 2"* ]] && ok || bad "no word of who came: $err"
has "backend tcp, 2 ranks minBytes 65536 maxBytes 4194304"
python3 - "$work/out" <<'P' && ok || bad "the columns cannot be read: ${out:0:600}"
import sys
rows = [l.split() for l in open(sys.argv[1]) if l.strip() and l.lstrip()[0].isdigit()]
assert [int(r[0]) for r in rows] == [65536, 524288, 4194304], rows
for r in rows:
    size, count, dtype, op, root = int(r[0]), int(r[1]), r[2], r[3], r[4]
    assert count * 2 == size and (dtype, op, root) == ("bfloat16", "avg", "-1") and len(r) == 13, r
    for at in (5, 9):
        us, algbw, busbw, wrong = float(r[at]), float(r[at + 1]), float(r[at + 2]), r[at + 3]
        assert us > 0 and abs(algbw - size / us / 1e3) < 0.02 + 0.01 * algbw and abs(busbw - algbw) < 0.02 and wrong == "0", r
P
run 0 store list --json; json "len(j['records']) == 6 and all(r['backend'] == 'tcp' for r in j['records'])"
# a stranger is refused with one line and disturbs nobody
p=$(port)
timeout 60 "$JEOUL" bench allreduce --listen --port "$p" -b 1K -n 2 -w 1 --no-store --lang ko >"$work/first" 2>"$work/said" & pid=$!
python3 - "$p" <<'P' && ok || bad "the stranger was not sent away"
import socket, sys, time
for _ in range(100):
    try:
        s = socket.create_connection(("127.0.0.1", int(sys.argv[1])), 5); break
    except OSError: time.sleep(0.1)
s.sendall(b"GET / HTTP/1.0\r\n\r\n"); s.settimeout(10)
try: sys.exit(0 if s.recv(1) == b"" else 1)
except ConnectionResetError: sys.exit(0)
P
run 2 bench allgather --to 127.0.0.1 --port "$p"; one_line; says "waits for 'jeoul bench allreduce --to'"
run 0 bench allreduce --to 127.0.0.1 --port "$p" --json; json "j['rank'] == 1 and j['n_ranks'] == 2"
wait $pid && ok || bad "the strangers disturbed it: $(cat "$work/said")"
[ "$(grep -c 거절 "$work/said")" = 2 ] && ok || bad "not two lines about the strangers: $(cat "$work/said")"
# a rank that is killed is named, what was measured is kept
p=$(port)
timeout 60 "$JEOUL" bench allreduce --listen --port "$p" -b 1K -e 64M -f 4 --time "40 s" --no-store >"$work/out" 2>"$work/err" & pid=$!
"$JEOUL" bench allreduce --to 127.0.0.1 --port "$p" >"$work/to.2" 2>&1 & other=$!
for _ in $(seq 200); do grep -q '^ .* float ' "$work/out" && break; sleep 0.1; done
kill -9 $other; wait $other 2>/dev/null; wait $pid; [ $? = 1 ] && ok || bad "a dead rank is no failure"
grep -q "rank 1 died" "$work/err" && grep -q '^# Avg bus' "$work/out" && ok || bad "not named, or rows lost: $(tail -2 "$work/err")"
# training between hosts: the same losses as between processes of one, and only with the same options
mkdir "$work/catalog"
cat >"$work/catalog/tiny.yaml" <<'YAML'
models:
  - { id: tiny-gpt, name: Tiny GPT, family: gpt2, n_layers: 2, hidden: 64, heads: 2, kv_heads: 2, head_dim: 32, ffn: 256, vocab: 499, seq: 32,
      positions: 64, tied: false, bias: true, final_norm: true, source: gpt-305m-note, date: 2025 }
YAML
train=(--catalog "$work/catalog" bench train --model tiny-gpt --threads 1 --seq 32 --steps 2 --batch 2 --no-store --json)
timeout 60 "$JEOUL" "${train[@]}" --workers 2 --mode ddp,zero3 >"$work/alone" 2>"$work/err"
if grep -q "multiplies matrices" "$work/err"; then skip_part "training: $(cat "$work/err")"; else
	p=$(port)
	timeout 60 "$JEOUL" "${train[@]}" --mode ddp,zero3 --listen --port "$p" >"$work/first" 2>"$work/said" & pid=$!
	run 2 "${train[@]}" --to 127.0.0.1 --port "$p"; says "other options"
	run 0 "${train[@]}" --mode ddp,zero3 --to 127.0.0.1 --port "$p"; json "j['rank'] == 1"
	wait $pid && ok || bad "training over TCP: $(cat "$work/said")"
	python3 - "$work/alone" "$work/first" <<'P' && ok || bad "training over TCP is another training"
import json, sys
a, b = ([(r["params"]["n_workers"], r["params"]["mode"], [m["median"] for m in r["metrics"] if m["name"] == "loss"]) for r in json.load(open(f))["records"]] for f in sys.argv[1:])
assert a == b and len(a) == 2, (a, b)
P
fi
# a secret: who has another one, or none, is told so and takes no place
printf 'a secret of some length\n' >"$work/secret"; printf 'another of some length\n' >"$work/other"; printf 'short' >"$work/short"
p=$(port)
timeout 60 "$JEOUL" bench allreduce --listen --port "$p" -b 1K -n 2 -w 1 --no-store --secret-file "$work/secret" >"$work/first" 2>"$work/said" & pid=$!
for _ in $(seq 100); do grep -q Listening "$work/said" && break; sleep 0.1; done
run 2 bench allreduce --to 127.0.0.1 --port "$p"; one_line; says "asks for a secret"
run 2 bench allreduce --to 127.0.0.1 --port "$p" --secret-file "$work/other" --lang ko; one_line; says "공유 키가 다릅니다"
run 0 bench allreduce --to 127.0.0.1 --port "$p" --secret-file "$work/secret"
wait $pid && ok || bad "with a secret: $(cat "$work/said")"
run 2 bench allreduce --to 127.0.0.1 --secret-file "$work/short"; one_line; says "can be guessed"
run 1 bench net --to 127.0.0.1 --secret-file "$work/nowhere"; one_line; says "No such file"
# Ctrl-C ends a listener at once, whatever is at its door
for what in net allreduce; do
	python3 - "$what" "$(port)" <<'P' && ok || bad "bench $what --listen did not end at once"
import os, signal, socket, subprocess, sys, time
what, port = sys.argv[1], sys.argv[2]
one = subprocess.Popen([os.environ["JEOUL"], "bench", what, "--listen", "--port", port], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
for _ in range(100):
    try: idle = [socket.create_connection(("127.0.0.1", int(port)), 5)]; break
    except OSError: time.sleep(0.1)
idle += [socket.create_connection(("127.0.0.1", int(port)), 5) for _ in range(20)]
start = time.time(); one.send_signal(signal.SIGINT); one.wait(20)
sys.exit(0 if time.time() - start < 3 else 1)
P
done
# mistakes
run 2 bench allreduce --backend tcp; one_line; says "--listen ADDR --ranks N"
run 2 bench allreduce --listen --to 127.0.0.1; one_line; says "give --to or --listen"
run 2 bench allreduce --to 127.0.0.1 --ranks 3; one_line; says "--ranks goes with --listen"
run 2 bench allreduce 10.0.0.5; one_line; says "--to 10.0.0.5"
run 2 bench allreduce --listen --backend shm; one_line; says "--backend tcp"
run 2 bench reduce --listen --ranks 2 -r 2; one_line; says "ranks 0 to 1"
run 2 bench allreduce --listen no.such.address; one_line; says "not an address of this host"
run 1 bench allreduce --listen --port "$(port)" --timeout "200 ms"; says "only 1 of 2 ranks came"
run 0 bench list; has "tcp"
finish
