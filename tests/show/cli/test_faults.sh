#!/bin/bash
# Every allocation and every write to the disk fails once: what is printed as an answer is the whole answer, what is said to be stored is
# stored, and everything else ends with an error. Some places of each by default, all of them with JEOUL_FAULTS=all.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1
grep -q "__asan_init\|__tsan_init" "$JEOUL" && skip "a sanitizer has its own memory"
[[ -f ${JEOUL_FAKE_FAULTS:-} ]] || skip "no JEOUL_FAKE_FAULTS"
export JEOUL_TODAY=2026-11-15 TZ=UTC
n_runs=0

# fault KIND:N COMMAND...: output in out, errors in err; ends as the program does
fault() { local at=$1; shift; n_runs=$((n_runs + 1)); LD_PRELOAD=$JEOUL_FAKE_FAULTS JEOUL_FAULT=$at timeout 60 "$JEOUL" "$@" 2>err | cat >out; return "${PIPESTATUS[0]}"; }
# calls KIND COMMAND...: how many calls of the kind it makes
calls() { local kind=$1; shift; fault "$kind:0" "$@"; sed -n 's/^faults: //p' err; }
# places N: which of 1..N are tried
places() { if [[ ${JEOUL_FAULTS:-} == all ]]; then seq 1 "$1"; else { seq 1 2; seq 3 $((1 + $1 / 5)) "$1"; echo "$1"; } | awk -v n="$1" '$1 <= n' | sort -nu; fi; }

# --- memory
printf 'title: t\nsystems: [2x rtx-3090, aws:p3.2xlarge]\nworkload: {model: gpt2-124m}\ncost: {buy: ["rtx-3090 desktop 2200 USD"], rent: ["1 USD/h"]}\n' > s.yaml
printf 'gpu: 2x rtx-3090\npsu: 1000 W\n' > b.yaml
line() { printf '{"record_version":1,"id":"01JC00000000000000000000%s","time_s":10,"kind":"gemm","backend":"cpu","origin":"measured","metrics":[]}\n' "$1"; }
for i in 10 11 12; do line $i; done > old.jsonl
for i in 20 21 22 23 24; do line $i; done > new.jsonl
run 0 store import old.jsonl --store "$work/m.db"
answer() { sed '/"\(search_s\|configurations_per_s\)":/d' out | tr -s ' \n' ' ' | sed -E 's/ combinations in [0-9.]+ [a-zµ]+/ combinations/'; } # how long a search took is no part of it
torture() { # ARGS...
	local n code good_code good
	"$JEOUL" "$@" >out 2>/dev/null </dev/null; good_code=$?
	good=$(answer)
	n=$(calls alloc "$@")
	[[ -n $n ]] || { bad "jeoul $*: no allocations counted: $(head -c 300 err)"; return; }
	for at in $(places "$n"); do
		for how in "$at" "$at!"; do
			fault "alloc:$how" "$@" </dev/null; code=$?
			if [[ $code -ge 124 ]]; then bad "jeoul $*: allocation $how of $n: ended with $code"
			elif [[ $code == "$good_code" && $(answer) != "$good" ]]; then bad "jeoul $*: allocation $how of $n: another answer with exit $code"
			elif [[ $code != "$good_code" && $(wc -l <err) != 1 ]]; then bad "jeoul $*: allocation $how of $n: exit $code with $(wc -l <err) lines: $(head -c 200 err)"
			elif grep -q "not JSON\|not a record" err; then bad "jeoul $*: allocation $how of $n: blames the file: $(head -c 200 err)"
			else ok; fi
		done
	done
}
forms() { torture "$@"; torture "$@" --json; }
forms predict gpt2-124m --on "4x rtx-3090" --batch 4
forms compare gpt2-124m --on rtx-3090 --on rtx-4090
forms flops gpt2-124m
forms fit gpt2-124m --on rtx-3090
forms plan gpt2-124m --on "2x rtx-3090"
forms cost --buy "rtx-3090 desktop 2200 USD" --rent "1 USD/h"
forms build b.yaml
forms audit "$JEOUL_SOURCE/examples/seed-000.yaml"
forms catalog list gpus
forms catalog show rtx-3090
forms check allreduce --on "2x aws:p5.48xlarge" --size 16GB --algbw "190 GB/s"
forms store list --store "$work/m.db"
forms probe --from "$JEOUL_SOURCE/tests/fixtures/machines/supermicro-10x-rtx3090"
forms import "$JEOUL_SOURCE/tests/fixtures/logs/osu-allreduce.txt" --dry-run
# the JSON library aborts, or takes what it could not keep for a mistake of the file: every place of it
printf '{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32, "num_attention_heads": 32, "vocab_size": 32000, "note": "%s"}' "$(printf 'x%.0s' {1..900})" > config.json
JEOUL_FAULTS=all torture flops config.json
for form in text html markdown json; do torture report s.yaml --format $form; done
torture help predict; torture --version; torture man; torture completion bash
echo "memory: $n_runs runs"

# --- disk: a store of three results, five more on their way
ids() { "$JEOUL" store export --store "$1" 2>&1 | grep -o '"id":"[0-9A-Z]*"' | cut -c31-32 | sort | tr '\n' ' '; }
fill() { rm -rf d; mkdir d; cp m.db d/a.db; }
n_memory=$n_runs
fill; n=$(calls disk store import new.jsonl --store "$work/d/a.db")
[[ ${n:-0} -ge 3 ]] && ok || bad "only '$n' writes of the disk: $(cat err)"
for at in $(JEOUL_FAULTS=all places "${n:-0}"); do
	for how in "$at" "$at!"; do
		fill; fault "disk:$how" store import new.jsonl --store "$work/d/a.db"; code=$?
		there=$(ids "$work/d/a.db")
		case "$code $there" in
		"0 10 11 12 20 21 22 23 24 ") ok ;;
		"0 "*) bad "disk $how of $n: exit 0, but only $there are there" ;;
		"1 10 11 12 "*) if [[ $(cat out) == *"5 new"* && $there != *24* ]]; then bad "disk $how: said stored"; else ok; fi ;;
		*) bad "disk $how of $n: exit $code, $there: $(cat err)" ;;
		esac
	done
done
# a new store, and a page into a file: whole or not at all
n=$(calls disk report s.yaml --format html -o "$work/page.html"); cp page.html good.html
for at in $(seq 1 "${n:-0}"); do
	echo before > page.html; fault "disk:$at" report s.yaml --format html -o "$work/page.html"; code=$?
	if [[ $code == 0 ]]; then cmp -s page.html good.html && ok || bad "disk $at of $n: exit 0 with another page"
	else [[ $(cat page.html) == before && $(ls | grep -c part) == 0 ]] && ok || bad "disk $at of $n: exit $code and the old page is gone or a part is left"; fi
done

# --- PostgreSQL: a server that cannot be reached (the spool is on our disk), then one whose own disk is full
server=$JEOUL_SOURCE/tests/facts/store/pg_server.sh
url=$(chmod 755 "$work"; bash "$server" start "$work/pg") || { echo "$url"; skip_part "no PostgreSQL server"; finish; }
trap 'bash "$server" stop "$work/pg" >/dev/null 2>&1; umount "$work/small" 2>/dev/null; rm -rf "$work"' EXIT
run 0 store import old.jsonl --store "$url"
bash "$server" stop "$work/pg"
n=$(calls disk store import new.jsonl --store "$url")
[[ ${n:-0} -ge 2 ]] && ok || bad "only '$n' writes of the spool: $(cat err)"
for at in $(seq 1 "${n:-0}"); do
	for how in "$at" "$at!"; do
		rm -rf "$XDG_DATA_HOME"; fault "disk:$how" store import new.jsonl --store "$url"; code=$?
		n_waiting=$(cat "$XDG_DATA_HOME"/jeoul/*spool* "$XDG_DATA_HOME"/jeoul/*/*spool* 2>/dev/null | grep -c '"id":"01JC')
		if [[ $code == 0 && $n_waiting != 5 ]]; then bad "spool, disk $how of $n: exit 0 with $n_waiting of 5 waiting: $(cat out)"; else ok; fi
	done
done
rm -rf "$XDG_DATA_HOME"; url=$(bash "$server" start "$work/pg")
mkdir small
if [[ $(id -u) == 0 ]] && mount -t tmpfs -o size=1m,mode=777 none small 2>/dev/null; then
	chown --reference=pg/data small
	psql -X -q "$url" -c "CREATE TABLESPACE small LOCATION '$work/small'" && psql -X -q "$url" -c "ALTER TABLE jeoul_record SET TABLESPACE small"
	kept=0
	for round in $(seq 100 125); do
		for i in $(seq 10 99); do line $i | sed "s/01JC00/01J$round/; s/\"cpu\"/\"cpu$(printf 'x%.0s' {1..300})\"/"; done > round.jsonl
		"$JEOUL" store import round.jsonl --store "$url" >out 2>err || break
		kept=$((kept + 90))
	done
	n_server=$(psql -X -At "$url" -c "SELECT count(*) FROM jeoul_record WHERE id LIKE '01J1%'")
	n_waiting=$(find "$XDG_DATA_HOME" -type f -exec cat {} + 2>/dev/null | grep -o '"id":"01J1[0-9]*' | sort -u | wc -l)
	[[ $n_server -gt 0 && $n_server -lt $kept ]] && ok || bad "the disk of the server was not full: $n_server of $kept"
	[[ $((n_server + n_waiting)) -ge $kept ]] && ok || bad "$kept acknowledged, $n_server in the server, $n_waiting waiting"
	grep -q "wait" err && ok || bad "that results wait is not said: $(cat out err)"
	echo "full server: $kept acknowledged, $n_server there, $n_waiting waiting; $(head -c 200 err)"
fi
echo "disk: $((n_runs - n_memory)) runs"
finish
