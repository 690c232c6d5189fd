#!/bin/bash
# -o: what is there is written to as `cp` would, and a file is whole or as it was.
set -uo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1
scenario=$JEOUL_SOURCE/examples/seed-000.yaml
report() { "$JEOUL" report "$scenario" --format md -o "$1"; }

report plain.md >/dev/null || fail "a new file"
grep -q . plain.md || fail "the new file is empty"

# a pipe is written to and stays a pipe
mkfifo pipe; cat pipe >got & reader=$!
report pipe >/dev/null || fail "a pipe"
[[ -p pipe ]] || { kill $reader; fail "the pipe was replaced"; }
wait $reader
cmp -s got plain.md || fail "the pipe's reader got something else"

# a device too (a node of our own: the system's stays out of danger)
if mknod null c 1 3 2>/dev/null && : 2>/dev/null >null; then
	report null >/dev/null || fail "a device"
	[[ -c null ]] || fail "the device was replaced"
fi

# a link stays one, what it names is replaced and keeps its mode; a link to nothing is refused
mkdir d; echo old >d/file; chmod 640 d/file; ln -s d/file link
report link >/dev/null || fail "a link"
[[ -L link ]] || fail "the link was replaced"
cmp -s d/file plain.md || fail "what the link names was not written"
[[ $(stat -c %a d/file) == 640 ]] || fail "mode $(stat -c %a d/file), was 640"
ln -s d/new dangling; report dangling >/dev/null 2>err; [[ $? == 1 ]] || fail "a link to nothing: exit code"
[[ -L dangling && ! -e d/new ]] && grep -q "a link to a file that is not there" err || fail "a link to nothing was followed: $(cat err)"
# a pipe that no program reads is not waited for
mkfifo alone; timeout 20 "$JEOUL" report "$scenario" --format md -o alone >/dev/null 2>err; [[ $? == 1 ]] || fail "a pipe without a reader: exit code"
grep -q "a pipe that no program reads" err || fail "a pipe without a reader: $(cat err)"

# two names of one file stay two names
echo old >one; ln one two; report one >/dev/null; cmp -s one two || fail "a hard link was torn"

# a file that may not be written stays
echo keep >ro; chmod 444 ro
report ro >/dev/null 2>err; [[ $? == 1 ]] || fail "0444: exit code"
[[ $(cat ro) == keep && $(wc -l <err) == 1 ]] || fail "0444 was overwritten, or not said in one line: $(cat err)"

# a limit on the size: one line, nothing left behind, what was there stays
echo keep >limited
(ulimit -f 1; report limited >/dev/null 2>err); code=$?
[[ $code == 1 && $(cat limited) == keep ]] || fail "a full disk: $code"
! ls ./*.part 2>/dev/null || fail "a half file is left"
"$JEOUL" report "$scenario" -o . >/dev/null 2>err; [[ $? != 0 ]] || fail "a folder"
# a name that a terminal would obey is refused, and shown without what it obeys
for name in $'\e[31mx.md' $'\xe2\x80\xaex.md' $'x\ny.md'; do
	report "$name" >out 2>err && fail "an odd name"
	[[ $(wc -l <err) == 1 && ! -e $name ]] || fail "an odd name in more than a line, or written: $(cat err)"
	! grep -q $'\e\|\xe2\x80\xae' out err || fail "escapes of a file name reach the terminal"
done

# folders that are not absolute are nobody's: a catalog in the next folder changes nothing
mkdir -p conf/jeoul/catalog && echo 'nonsense: [' >conf/jeoul/catalog/x.yaml
XDG_CONFIG_HOME=conf "$JEOUL" flops gpt-305m >/dev/null 2>err || fail "a relative XDG_CONFIG_HOME was read: $(cat err)"

# a choice is named by what may be chosen
"$JEOUL" bench gemm --dtype fp99 2>err; [[ $? == 2 ]] && grep -q "fp32, tf32, fp16" err || fail "choices: $(cat err)"
echo "output: fine"
