#!/bin/bash
# jeoul store: list, show, note, export, import, merge, delete, as a person would use them.
. "$(dirname "$0")/lib.sh"
export TZ=UTC XDG_DATA_HOME="$work/data"
unset JEOUL_STORE
logs="$JEOUL_SOURCE/tests/fixtures/logs"

run 0 store list; has "no results yet"
# a store that somebody named has to be there to be read
for at in "store list" "store export" "check --fleet"; do run 1 $at --store "$work/typo.db" --lang en; one_line; says "there is no such store"; done
JEOUL_STORE=$work/typo.db run 1 store list --lang ko; one_line; says "저장소가 없습니다"
[ ! -e "$work/typo.db" ] && ok || bad "looking made a store"
[ -e "$work/data" ] && bad "looking made a store" || ok
run 2 store list --store $'\e[31mx.db'; one_line; says "control character"
JEOUL_STORE=$'a\nb.db' run 2 store list; one_line; says "control character"
run 2 store list --store /dev/null; one_line; says "no plain file"
run 0 import "$logs/nccl-allreduce-2x8.txt" --machine "H100 시험"; has "10 results"
JEOUL_SQLITE=/nowhere/libsqlite3.so run 1 store list; one_line; says "SQLite is not available"; says "JEOUL_SQLITE"
mkfifo "$work/pipe"; JEOUL_SQLITE=$work/pipe run 1 store list; one_line; says "no plain file"
printf A >"$work/note.txt"; run 1 import "$logs/nccl-allreduce-2x8.txt" --store "$work/note.txt"; one_line; says "not an SQLite database"
[ "$(cat "$work/note.txt")" = A ] && ok || bad "somebody's file was written to"
run 0 store list; has "allreduce"; has "8 GiB float, 16 ranks"; has "10 of 10"
if python3 -c "import sys; sys.exit(max(map(len, open('$work/out', encoding='utf-8').read().split('\n')[:-2])) > 80)"; then ok; else bad "wider than 80 columns"; fi
run 0 store list --limit 3; has "3 of 10"
run 0 store list --kind gemm; has "nothing fits; 10"
run 0 store list --machine "H100 시험" --json; json "len(j['records']) == 10 and j['n_waiting'] == 0"
json "all(r['origin'] == 'imported' and r['machine_name'] == 'H100 시험' and 'nccl-allreduce-2x8.txt:' in r['source'] for r in j['records'])"
id=$(python3 -c "import json; print(json.load(open('$work/out'))['records'][0]['id'])")
run 0 store list --since 2099-01-01; has "nothing fits"
run 0 store list --since "100000 d"; has "10 of 10"
run 2 store list --since yesterday; says "--since"; one_line

run 0 store show "${id:18}"; has "$id"; has "H100 시험"; has "busbw_Bps"; has "8589934592"
run 0 store show "$id" --lang ko; has "가져옴"; has "측정 조건"
run 0 store show "$id" --json; json "j['id'] == '$id' and j['metrics'][0]['name'] == 'algbw_Bps'"
run 0 store note "$id" "after the BIOS update"; has "1 record"
run 0 store show "$id"; has "after the BIOS update"
run 0 store note "$id" --remove
run 0 store show "$id"; lacks "BIOS"
run 2 store note "$id"; one_line
run 2 store show xx; one_line
run 1 store show 7ZZZZZZZ; says "no record"; one_line

# out and in again: nothing is lost, nothing is doubled, keys of tomorrow stay
run 0 store export; cp "$work/out" "$work/all.jsonl"
[ "$(wc -l < "$work/all.jsonl")" = 10 ] && ok || bad "10 lines"
python3 - "$work/all.jsonl" <<'P'
import json, sys
lines = open(sys.argv[1]).read().splitlines()
first = json.loads(lines[0]); first["tomorrow"] = {"x": [1, 2]}; first["metrics"][0]["sigma_Bps"] = 5
open(sys.argv[1], "w").write("\n".join([json.dumps(first)] + lines[1:]) + "\n")
P
run 0 store import "$work/all.jsonl" --store "$work/b.db"; has "10 new, 0"
run 0 store import "$work/all.jsonl" --store "$work/b.db"; has "0 new, 10"
run 0 store export --store "$work/b.db"; cmp -s "$work/out" <(python3 -c "
import json,sys
lines=open('$work/all.jsonl').read().splitlines()
print('\n'.join(lines))") && ok || bad "export differs from what was imported"
run 0 store merge "$work/b.db"; has "0 new, 10"
run 0 store merge "$work/b.db" --store "$work/c.db"; has "10 new"
run 0 store export --store "$work/c.db"; has '"tomorrow": {"x": [1, 2]}'; has '"sigma_Bps": 5'
run 1 store merge "$work/nowhere.db"; says "nowhere.db"; one_line
[ -e "$work/nowhere.db" ] && bad "merge made a file" || ok

run 0 store delete "$id"; has "1 deleted"
run 1 store delete "$id"; one_line
run 0 store list --json; json "len(j['records']) == 9"

# a line that is no record: its place, and what came before it stays
{ head -2 "$work/all.jsonl"; echo '{"record_version":1,"id":"x"}'; } > "$work/bad.jsonl"
run 1 store import "$work/bad.jsonl" --store "$work/d.db"; says "bad.jsonl:3"; says "2 records before it"; one_line
run 0 store list --store "$work/d.db"; has "2 of 2"
head -c -30 "$work/all.jsonl" > "$work/torn.jsonl"
run 1 store import - --store "$work/d.db" < "$work/torn.jsonl"; says "-:10"

# damaged, foreign, newer: one clear line, not a byte changed
refuse() { # FILE WORD
	local before after; before=$(sha256sum < "$1")
	run 1 store list --store "$1"; says "$2"; one_line
	run 1 import "$logs/osu-bw.txt" --store "$1"; says "$2"; one_line
	after=$(sha256sum < "$1")
	[ "$before" = "$after" ] && ok || bad "$1 was changed"
}
head -c 5000 /dev/urandom > "$work/noise.db"; refuse "$work/noise.db" "not an SQLite database"
cp "$work/b.db" "$work/broken.db"; printf '\377%.0s' {1..3000} | dd of="$work/broken.db" bs=1 seek=4096 conv=notrunc status=none; refuse "$work/broken.db" "damaged"
python3 - "$work" <<'P'
import sqlite3, sys
w = sys.argv[1]
c = sqlite3.connect(w + "/cookies.db"); c.execute("CREATE TABLE t (a)"); c.commit(); c.close()
c = sqlite3.connect(w + "/newer.db"); c.execute("PRAGMA application_id = 1785032565"); c.execute("PRAGMA user_version = 99"); c.execute("CREATE TABLE t (a)"); c.commit(); c.close()
P
refuse "$work/cookies.db" "another program"
refuse "$work/newer.db" "newer jeoul"
run 2 store list --store "mysql://u:hunter2@h/d"; one_line
[[ "$err" != *hunter2* ]] && ok || bad "the password is shown"

# a server that is not there: results wait, and the list says so
if JEOUL_STORE="postgresql://u:hunter2@127.0.0.1:1/db" "$JEOUL" store list 2>&1 | grep -q "not available"; then
	skip_part "no libpq here"
else
	export JEOUL_STORE="postgresql://u:hunter2@127.0.0.1:1/db"
	run 0 import "$logs/osu-bw.txt"; says "3 results wait"
	run 1 store list; says "3 results wait"; one_line
	run 1 store list --lang ko; says "3건"
	run 0 store list --store "$work/c.db"; has "10 of 10"
	! grep -rq hunter2 "$work/err" "$work/out" "$work/data" && ok || bad "the password is somewhere"
	unset JEOUL_STORE
fi
# what does not stay is no store
for place in :memory: "file:x.db?mode=memory" sqlite::memory: "sqlite:file:x.db?mode=memory"; do
	run 2 store list --store "$place"; says "a file that stays"; one_line
done
# a line that is no record by its length, and one that never ends: said with its place, what came before is stored
line() { echo '{"record_version":1,"id":"01JC00000000000000000000'$1'","time_s":10,"kind":"gemm","backend":"cpu","origin":"measured","metrics":[]}'; }
{ line 01; head -c 40000000 /dev/zero | tr '\0' x; echo; line 02; } > "$work/huge.jsonl"
run 1 store import "$work/huge.jsonl" --store "$work/huge.db"; says "huge.jsonl:2"; says "1 records before it were stored"; one_line
[ "$("$JEOUL" store export --store "$work/huge.db" | wc -l)" = 1 ] && ok || bad "the record before it"
truncate -s 300M "$work/endless"; run 1 store import "$work/endless" --store "$work/huge.db"; says "endless:1"; one_line
# a damaged row hides no other one
{ line 03; line 04; } > "$work/sound.jsonl"
run 0 store import "$work/sound.jsonl" --store "$work/huge.db"
python3 -c "import sqlite3, sys; d = sqlite3.connect(sys.argv[1]); d.execute(\"update record set body = '{broken' where id like '%03'\"); d.commit()" "$work/huge.db"
run 1 store list --store "$work/huge.db"; has "2 of 3"; says "01JC0000000000000000000003"; says "store delete"
run 1 store list --store "$work/huge.db" --json; has '"id":"01JC0000000000000000000004"'
run 1 store export --store "$work/huge.db"; has '"id":"01JC0000000000000000000004"'
run 1 store merge "$work/huge.db" --store "$work/merged.db"; has "2 new"
run 0 store delete 01JC0000000000000000000003 --store "$work/huge.db"
run 0 store list --store "$work/huge.db"; has "2 of 2"
rm -f "$work/huge.jsonl"
finish
