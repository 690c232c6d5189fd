#!/bin/bash
# Garbage of every kind gets one clear line and exit code 1 or 2; no crash, no hang.
. "$(dirname "$0")/lib.sh"

refuse() { # ARGS...
	within 60 "$JEOUL" "$@" >"$work/out" 2>"$work/err"
	local got=$?
	out=$(tr -d '\0' < "$work/out") err=$(cat "$work/err")
	if [ $got = 1 ] || [ $got = 2 ]; then ok; else bad "jeoul ${*:0:80} ended with $got"; fi
	one_line
}
for text in "" " " "99999999999x rtx-3090" "0x rtx-3090" "-1x rtx-3090" "2x(2x(2x rtx-3090)) over 10gbe" "2x(rtx-3090" "rtx-3090)" "4x" "x" "via" \
	"4x rtx-3090 via" "4x rtx-3090 via warp-drive" "2x rtx-3090 over 10gbe over 10gbe" $'\xff\xfe\xfd' $'rtx\x01-3090' "cpu:" "aws:" "((((((((((" \
	"$(printf '2x(%.0s' {1..500})" "$(head -c 3000 /dev/zero | tr '\0' a)" "rtx-3090 junk words behind"; do
	refuse catalog show "$text"
done
refuse catalog show
refuse catalog show a b
refuse catalog list nonsense
refuse catalog prices --limit -3
refuse catalog prices --limit 1e9
refuse catalog prices --limit
refuse nonsense
refuse catalog nonsense
refuse --nonsense
refuse catalog show rtx-3090 --lang xx

# What was typed wrong is a usage error
usage() { run 2 "$@"; one_line; }
usage catalog prices --limit 0
usage catalog prices --region ''
usage catalog prices --provider ' '
usage catalog prices --gpu=
usage catalog search ''
usage catalog search rtx ''
usage catalog show ''
usage --lang xx help
usage --jsn help; says "'--json'"
# said as it was written, on one line
usage catalog show '-1x rtx-3090'; says "'-1x rtx-3090'"
usage catalog show $'rtx\n\033[31m3090'; says "'rtx??[31m3090'"
if grep -q $'\033' "$work/err"; then bad "a control character is echoed"; else ok; fi

plant() { mkdir -p "$work/$1"; cat > "$work/$1/x.yaml"; refuse catalog show rtx-3090 --catalog "$work/$1"; }
head -c 65536 /dev/urandom | plant random
printf 'gpus:\n  - id: "\xff\xfe"\n' | plant not-utf8
printf '' | plant empty
printf 'gpus: [' | plant cut
printf 'a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\ngpus: *c\n' | plant alias-bomb
python3 -c "print('gpus: ' + '[' * 50000)" | plant deep
(echo 'gpus:'; yes '  - id: a' | head -c 104857600) | plant huge
mkdir "$work/csv"; printf 'kind,provider\n\0\0' > "$work/csv/p.csv"; refuse catalog show rtx-3090 --catalog "$work/csv"
finish
