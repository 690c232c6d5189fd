# Shared by the tests of the command line: run the program, look at what it says and how it ends.
set -u
n_ok=0 n_bad=0 n_skipped=0 ran=
export JEOUL_TODAY=2026-11-15
work=$(mktemp -d)
export XDG_CONFIG_HOME="$work/.config" XDG_DATA_HOME="$work/.data"
unset JEOUL_STORE JEOUL_MACHINE
trap 'rm -rf "$work"' EXIT

ok() { n_ok=$((n_ok + 1)); }
bad() { n_bad=$((n_bad + 1)); echo "FAILED: $*"; }

# within SECONDS COMMAND...: processor time, so that what else the machine does changes nothing; the clock ends what waits for ever. Without SECONDS
# (""): the clock alone, since a benchmark takes the time of all processors.
within() {
	local limit=$1; shift
	[ -n "$limit" ] || { timeout 280 "$@"; return; }
	sanitized && limit=$((limit * 4))
	(ulimit -t "$limit"; exec timeout 280 "$@")
}
# run CODE ARGS...: the exit code must be CODE; output in $out, errors in $err
run() {
	local code=$1; shift
	ran=$*
	within "${limit_s:-}" "$JEOUL" "$@" >"$work/out" 2>"$work/err"
	local got=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	if [ "$got" = "$code" ]; then ok; else bad "jeoul $* ended with $got, not $code: $err"; fi
}
has() { if [[ "$out" == *"$1"* ]]; then ok; else bad "output lacks '$1': ${out:0:400}"; fi; }
# like GLOB: a figure of the fit may move; a range of it is named
like() { if [[ "$out" == *$1* ]]; then ok; else bad "output lacks '$1': ${out:0:400}"; fi; }
# the output as one line: what is said may be broken anywhere
flat() { out=$(tr -s ' \n' ' ' <<< "$out"); }
lacks() { if [[ "$out" != *"$1"* ]]; then ok; else bad "output has '$1'"; fi; }
says() { if [[ "$err" == *"$1"* ]]; then ok; else bad "error lacks '$1': $err"; fi; }
# one line on standard error, nothing on standard output
one_line() { if [ -z "$out" ] && [ "$(wc -l < "$work/err")" = 1 ]; then ok; else bad "not one clear line: out='${out:0:200}' err='$err'"; fi; }
# ask EXPRESSION: a Python expression over what was printed (ask.py) must be true
ask() {
	local answer=
	[ -n "${ASK_PID:-}" ] || coproc ASK { exec python3 "$(dirname "${BASH_SOURCE[0]}")/ask.py" "$work/out"; }
	printf '%s\0' "$1" >&"${ASK[1]}"
	read -r answer <&"${ASK[0]}"
	if [ "$answer" = yes ]; then ok; else bad "jeoul $ran: $1: $answer"; fi
}
# json EXPRESSION: the same over the parsed output `j`
json() { ask "bool($1)"; }
# narrow [PATTERN]: no line is wider than 80 columns, but for those that match
narrow() { ask "not wide(${1:+r'$1'}) or str(wide(${1:+r'$1'}))"; }
# a sanitizer is slow and looks at how an answer is made, not at the answer: what only repeats a way through the program is left to the other build
sanitized() { [ "${is_sanitized:=$(grep -c -m 1 __asan_init "$JEOUL")}" = 1 ]; }
# few_rows EVERY: a folder for JEOUL_DATA, "$work/few", with one in so many published rows of every set
few_rows() {
	local file
	mkdir -p "$work/few/validation"
	for file in "$JEOUL_SOURCE"/data/validation/*.csv; do awk -v n="$1" 'NR == 1 || NR % n == 2' "$file" >"$work/few/validation/${file##*/}"; done
}
# what cannot be tried here: the whole script, or a part of it (ctest then says "skipped" unless something failed)
skip() { echo "skipped: $*"; exit 77; }
skip_part() { echo "skipped: $*"; n_skipped=$((n_skipped + 1)); }
finish() {
	echo "$n_ok passed, $n_bad failed, $n_skipped skipped"
	[ "$n_bad" = 0 ] || exit 1
	[ "$n_skipped" = 0 ] || exit 77
}
