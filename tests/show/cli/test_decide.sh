#!/bin/bash
# The picks of recommend for questions of all purposes, budgets, currencies and sizes: what somebody has read and would sign.
. "$(dirname "$0")/lib.sh"
cd "$JEOUL_SOURCE" || exit 1
n=$(wc -l < tests/golden/decide/questions)
[ "$n" -ge 40 ] && ok || bad "only $n questions"
scripts/decide "$JEOUL" > "$work/picks" 2> "$work/err"
[ -s "$work/err" ] && bad "$(head -3 "$work/err")" || ok
[ "$(grep -c '^\$ jeoul recommend' "$work/picks")" = "$n" ] && ok || bad "not every question was answered"
if cmp -s tests/golden/decide/picks.txt "$work/picks"; then ok; else
	bad "picks differ (scripts/decide writes them anew; read them): $(diff tests/golden/decide/picks.txt "$work/picks" | head -6 | cut -c1-200)"
fi
finish
