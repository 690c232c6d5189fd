#!/bin/bash
# What a hostile tester found: files, folders, names and figures that are not what they seem.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# A planted folder of measurements changes nothing: what validate and calibrate --fit read lies beside the program or is named.
mkdir -p plant/data/validation
echo "planted" > plant/data/validation/power.csv
cp "$JEOUL" alone
(cd plant && JEOUL_DATA= "$work/alone" validate --set power >"$work/out" 2>"$work/err"); code=$?
out=$(cat out) err=$(cat err)
[[ $code == 1 ]] && ok || bad "validate without data ended with $code"
says "measurements are not installed"; one_line
(cd plant && JEOUL_DATA= "$work/alone" calibrate --fit >"$work/out" 2>"$work/err"); code=$?
out=$(cat out) err=$(cat err)
[[ $code == 1 ]] && ok || bad "calibrate --fit without data ended with $code"
says "measurements are not installed"

# Loops of a network's text come to an end, also those that do nothing.
mkdir -p bomb/models
printf '%s\n' 'convnets:' '  - id: bomb' '    name: Bomb' '    item: image' '    unit: images' '    units_per_item: 1' '    optimizer: adam' \
	'    source: "x"' '    members: [bomb]' '    words: |' '      ^bomb' '    program: |' '      in 3 8 8' '      for a 199990 { for b 200000 { } }' '      conv 8 3' > bomb/models/networks.yaml
limit_s=10 run 2 flops bomb --catalog bomb; says "does not come to an end"; one_line

# A file without an end is not read without an end, and a pipe that nobody writes to is not waited for.
truncate -s 300M huge; mkfifo pipe
if ! grep -q __asan_init "$JEOUL"; then # whose shadow is larger than any limit
	(ulimit -v 1500000; exec "$JEOUL" validate huge) >out 2>err; code=$?
	out=$(cat out) err=$(cat err)
	[[ $code == 1 ]] && ok || bad "validate of 300 MB ended with $code"
	says "larger than 268 MB"; one_line
fi
# ... nor is little memory waited for without an end
if ! grep -q __asan_init "$JEOUL"; then
	(ulimit -v 100000; within "" "$JEOUL" bench gemm --size 256 --time "1 s" --no-store) >out 2>err; code=$?
	out=$(cat out) err=$(cat err)
	[[ $code == 1 ]] && ok || bad "bench gemm in 100 MB ended with $code"
	says "address space is limited"; one_line
fi
run 1 import huge; says "a line of more than 256 MiB"; one_line
run 1 check huge; says "a line of more than 256 MiB"; one_line
limit_s=4
for command in import check audit report "store import"; do
	# shellcheck disable=SC2086
	for device in /dev/zero /dev/urandom; do run 1 $command $device --lang en; says "it is a device, not a file"; one_line; done
	# shellcheck disable=SC2086
	run 1 $command pipe --lang en; says "it is a pipe without a writer"; one_line
done
run 1 predict ./pipe --on rtx-4090 --lang en; says "it is a pipe without a writer"; one_line
(sleep 0.3; echo "a machine of 8 GPUs" >pipe) & run 0 audit pipe; wait $!
run 0 audit <(sleep 2; echo "a machine of 8 GPUs")
limit_s=

# Dates leave room for what is reckoned from them.
run 2 cost --buy "rtx-3090 desktop 2200 USD" --rent "1 USD/h" --start 9999-01-01; says "calendar from 1900 to 2999"; one_line
run 0 cost --buy "rtx-3090 desktop 2200 USD" --rent "1 USD/h" --start 2999-01-01
run 2 cost --buy "rtx-3090 desktop 2200 USD" --rent "1 USD/h" --household "1e300 kWh"; one_line
run 2 cost --buy "rtx-3090 desktop 2200 USD" --rent "1 USD/h" --demand "1e300 W"; one_line

# What is wrong in a scenario stands at a place in a file: exit 1 and where.
scenario() { printf 'title: t\nsystems: [2x rtx-3090]\n%s\n' "$1" > s.yaml; }
for wrong in 'util: 0 %' 'util: 1e300' 'horizon: 1e300 y' 'fx: 1e300' 'fx: -3' 'household: 1e300 kWh' 'household: -1 kWh' 'tariff: nowhere' 'kwh: 3 apples'; do
	scenario "cost: {buy: [\"rtx-3090 desktop 2200 USD\"], rent: [\"1 USD/h\"], $wrong}"
	run 1 report s.yaml; one_line; says "s.yaml:3:"
done
scenario 'scaling: {system: nobody}
workload: {model: gpt2-124m}'
run 1 report s.yaml; one_line; says "s.yaml:3:"
scenario 'scaling: {modes: [nonsense]}
workload: {model: gpt2-124m}'
run 1 report s.yaml; one_line; says "s.yaml:3:"

# Characters that give orders to a terminal, or turn the text around, are no part of a name.
for text in '\u202Ex' '\e[31mx' '\u0085x' '\u2066x'; do
	printf 'title: "%s"\nsystems: [2x rtx-3090]\n' "$text" > s.yaml
	run 1 report s.yaml; one_line; says "s.yaml:1:8"; says "turns the text around"
	printf 'title: t\nclaims:\n  - {text: "%s", value: 3 h}\n' "$text" > s.yaml
	run 1 audit s.yaml; one_line; says "s.yaml:3:"
	printf 'gpu: 2x rtx-3090\nname: "%s"\n' "$text" > s.yaml
	run 1 build s.yaml; one_line; says "s.yaml:2:"
	mkdir -p over; printf 'sources:\n  evil: {title: "%s"}\n' "$text" > over/sources.yaml
	run 1 catalog list gpus --catalog over; one_line; says "over/sources.yaml:2:"
done
run 2 report $'\e[31m\u202e.yaml'; one_line
[[ "$err" != *$'\e'* && "$err" != *$'\u202e'* ]] && ok || bad "an error has control characters of a name"

# A choice that there is not: all that there are, not the word of the help.
run 2 predict gpt2-124m --on rtx-3090 --precision fp9; says "'fp9' is not one of fp32, tf32, fp16"; one_line
run 2 bench train --precision fp6; says "is not one of fp32"; one_line
run 1 bench train --precision fp8 --backend cpu; says "fp8 needs a GPU"; one_line

# No colour for a terminal that has none; colour for one that has.
if command -v script >/dev/null; then
	for term in dumb xterm; do
		TERM=$term script -qec "$JEOUL predict gpt2-124m --on rtx-3090" /dev/null >"out.$term" 2>/dev/null </dev/null
	done
	grep -q $'\e' out.dumb && bad "escapes on TERM=dumb" || ok
	[[ -s out.dumb ]] && grep -q $'\e' out.xterm && ok || bad "no colour on TERM=xterm"
fi

# Relative folders of the environment are nobody's.
mkdir -p here relc/jeoul/catalog; echo "nonsense: 1" > relc/jeoul/catalog/gpus.yaml
(export HOME="$work/here" XDG_DATA_HOME=reld XDG_CONFIG_HOME=relc; "$JEOUL" store list >out 2>err && "$JEOUL" catalog list gpus >/dev/null 2>>err) && ok || bad "relative XDG folders: $(cat err)"
[[ ! -e reld ]] && grep -q "here/.local" out && ok || bad "a relative XDG_DATA_HOME was used: $(cat out)"

# A store that may be read, not written, by somebody who is not root.
line='{"record_version":1,"id":"01JC0000000000000000000010","time_s":10,"kind":"gemm","backend":"cpu","origin":"measured","metrics":[]}'
mkdir ro; echo "$line" > r.jsonl; run 0 store import r.jsonl --store "$work/ro/a.db"
chmod 755 "$work"; chmod 755 alone; chmod 444 ro/a.db r.jsonl; chmod 555 ro
as() { if [[ $(id -u) == 0 ]]; then setpriv --reuid=65534 --regid=65534 --clear-groups env HOME=/nonexistent "$@"; else "$@"; fi; }
if as "$work/alone" --version >/dev/null 2>&1; then
	as "$work/alone" store export --store "$work/ro/a.db" >out 2>err; code=$?
	[[ $code == 0 && $(cat out) == *01JC0000000000000000000010* ]] && ok || bad "a store that may only be read: $code $(cat err)"
	sed 's/0010"/0011"/' r.jsonl > r2.jsonl; chmod 444 r2.jsonl
	as "$work/alone" store import r2.jsonl --store "$work/ro/a.db" >out 2>err; code=$?
	out=$(cat out) err=$(cat err)
	[[ $code == 1 ]] && ok || bad "a write into it ended with $code: $out"
	says "may be read, not written"
	chmod 755 ro
	as "$work/alone" store export --store "$work/ro/a.db" >out 2>err && ok || bad "a file that may only be read: $(cat err)"
fi

# Logs with figures that cannot be: said, and not kept; all others are.
osu() { printf '# OSU MPI Allreduce Latency Test v7.2\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n'; printf '%s\n' "$@"; }
osu "4 1.00 0.00 2.00 1000" "8 0.00 0.00 0.00 1000" "16 3.00 2.00 4.00 1e308" "32 nan 1.00 2.00 1000" "64 -4.00 1.00 2.00 1000" "128 1e400 1.00 2.00 1000" "256 5.00 6.00 7.00 1000" "512 5.00 4.00 6.00 1000" > osu.log
run 0 import osu.log --store "$work/osu.db"
has "line 4: dropped: a row of OSU"; has "the same, 5 more"
run 0 store export --store "$work/osu.db"
[[ $(wc -l <out) == 2 ]] && ok || bad "$(wc -l <out) rows of OSU were kept, not 2"
# Who listens has given up what it does not need, and still serves.
port=$((20000 + $$ % 20000))
"$JEOUL" bench net --listen --port $port --once >listen.out 2>&1 &
listener=$!
for _ in $(seq 100); do grep -q "port [0-9]" listen.out && break; sleep 0.1; done
if [[ $("$JEOUL" --version) == *seccomp* ]]; then
	for _ in $(seq 50); do grep -qs "^Seccomp:.*2" /proc/$listener/status && break; sleep 0.1; done
	grep -qs "^Seccomp:.*2" /proc/$listener/status && grep -qs "^NoNewPrivs:.*1" /proc/$listener/status && ok || bad "the listener is not confined"
fi
run 0 bench net --to 127.0.0.1 --port $port --time 2s --json
wait $listener && ok || bad "a confined listener ended with $?: $(cat listen.out)"

# a PostgreSQL server without an end: remarks for ever, one row after the other, an error that gives orders to a terminal
if "$JEOUL" doctor --json 2>/dev/null | python3 -c 'import json,sys; sys.exit(not any(p["name"] == "PostgreSQL" and p["present"] for p in json.load(sys.stdin)["parts"]))' 2>/dev/null || ldconfig -p | grep -q libpq.so.5; then
	for mode in trickle-auth trickle-param trickle-query bigrow error; do
		port=$((20000 + RANDOM % 20000))
		python3 "$(dirname "$0")/hostile_postgres.py" $mode $port >pg.out 2>/dev/null & pg=$!
		for _ in $(seq 200); do grep -qs ready pg.out && break; sleep 0.05; done
		([[ $JEOUL == */asan/* ]] || ulimit -v 3000000; within 40 "$JEOUL" store list --store "postgresql://u@127.0.0.1:$port/d?sslmode=disable&gssencmode=disable") >out 2>err; code=$?
		out=$(cat out) err=$(cat err)
		[[ $code == 1 ]] && ok || bad "a PostgreSQL server ($mode) ended it with $code: $err"
		one_line
		kill $pg; wait $pg 2>/dev/null
	done
fi

# characters that turn text around or begin a line are no part of a name, nor of a diff that is shown
for c in '\u200f' '\u2028' '\u061c'; do run 2 predict "$(printf "gpt2$c")" --on rtx-4090; one_line; done
sed "s/performance: 989 TFLOPS/performance: 1,979 TFLOPS $(printf '\u202e')/" "$JEOUL_SOURCE/tests/fixtures/notes/cards.md" > turned.md
run 1 audit turned.md --fix; says "turns the text around"; one_line

# JSON whose tree would be eighty times as large, tags of YAML by the thousand, a supply without connectors, a far future
python3 -c "print('[' + ','.join(['{}'] * 2700000) + ']')" > tree.json
([[ $JEOUL == */asan/* ]] || ulimit -v 3000000; within 20 "$JEOUL" flops tree.json) >out 2>err; code=$?
[[ $code == 1 ]] && ok || bad "eight megabytes of empty objects ended with $code"
python3 -c "
for i in range(40000): print('%%TAG !t%d! tag:x,%d:' % (i, i))
print('---'); print('title: a')" > tags.yaml
limit_s=5 run 1 report tags.yaml; says "tags (!name) are not taken"; one_line
run 0 build --gpu rtx-4090 --gpu-8pin 0 --psu "1000 W"; [[ $out == *nan* ]] && bad "nan in: $out" || ok
finish
