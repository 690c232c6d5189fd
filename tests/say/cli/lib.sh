# Shared by the tests of the command line: run the program, look at what it says and how it ends.
set -u
n_ok=0 n_bad=0
export JEOUL_TODAY=2026-11-15
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

ok() { n_ok=$((n_ok + 1)); }
bad() { n_bad=$((n_bad + 1)); echo "FAILED: $*"; }

# run CODE ARGS...: the exit code must be CODE; output in $out, errors in $err
run() {
	local code=$1; shift
	timeout 60 "$JEOUL" "$@" >"$work/out" 2>"$work/err"
	local got=$?
	out=$(cat "$work/out") err=$(cat "$work/err")
	if [ "$got" = "$code" ]; then ok; else bad "jeoul $* ended with $got, not $code: $err"; fi
}
has() { if [[ "$out" == *"$1"* ]]; then ok; else bad "output lacks '$1': ${out:0:400}"; fi; }
# the output as one line: what is said may be broken anywhere
flat() { out=$(tr -s ' \n' ' ' <<< "$out"); }
lacks() { if [[ "$out" != *"$1"* ]]; then ok; else bad "output has '$1'"; fi; }
says() { if [[ "$err" == *"$1"* ]]; then ok; else bad "error lacks '$1': $err"; fi; }
# one line on standard error, nothing on standard output
one_line() { if [ -z "$out" ] && [ "$(wc -l < "$work/err")" = 1 ]; then ok; else bad "not one clear line: out='${out:0:200}' err='$err'"; fi; }
# json EXPRESSION: a Python expression over the parsed output `j` must be true
json() { if python3 -c "import json,sys; j=json.load(open(sys.argv[1])); sys.exit(0 if ($1) else 1)" "$work/out"; then ok; else bad "JSON: $1"; fi; }
finish() { echo "$n_ok passed, $n_bad failed"; [ "$n_bad" = 0 ]; }
