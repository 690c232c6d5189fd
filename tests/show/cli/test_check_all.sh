#!/bin/bash
# Everything that `bench all` prints here has an expectation that says where it is from; none of it, measured twice on whatever machine this
# is, is called low or impossible.
. "$(dirname "$0")/lib.sh"
export XDG_DATA_HOME="$work/data" JEOUL_STORE="$work/a.db" JEOUL_DATA="$JEOUL_SOURCE/data"

run 0 bench all --quick --dir "$work"
run 0 check --json
json "len(j['results']) >= 16"
# where the folder is on a disk
[ "$(stat -f -c %T "$work")" = tmpfs ] || json "sorted(r['what'] for r in j['results'] if r['kind'] == 'storage')"
json "all(r['basis'] != 'none' and r['expected_lo'] < r['expected'] <= r['expected_hi'] for r in j['results'])"
json "all(r['expected_from'] for r in j['results'] if r['basis'] == 'host')"
json "not any(r['verdict'] in ('first', 'low', 'impossible') for r in j['results'])"
run 0 check --lang ko
[[ $out == *예상* || $out == *"판정 보류"* ]] && ok || bad "neither an expectation nor why there is no verdict: ${out:0:400}" # a busy machine makes all noisy
finish
