#!/bin/bash
# The frame of all commands: help, version, man page, completion, languages, exit codes.
. "$(dirname "$0")/lib.sh"

run 2; has "Usage: jeoul"
run 0 help all; has "catalog show"; run 0 --help; has "help all"; lacks "bench sendrecv"; [ "$(wc -l <"$work/out" 2>/dev/null || echo 0)" -le 40 ] || bad "help is longer than a screen"
run 0 help catalog show; has "Examples"
run 0 catalog show --help; has "--json"
run 2 catalog; has "catalog list"
run 0 --version; has "jeoul 0."; has "libyaml"
run 0 version
run 2 ctalog; one_line; says "catalog"
run 2 catalog shw; one_line; says "catalog show"
run 2 catalog list --jsn; one_line; says "--json"
run 0 --help --lang ko; has "사용법"
LC_ALL=ko_KR.UTF-8 run 0 catalog show rtx-3090; has "메모리"
LC_ALL=ko_KR.UTF-8 run 1 catalog show rtx-309; one_line; says "rtx-3090"
run 0 catalog show rtx-3090 --lang=en; has "memory"; lacks $'\033'
# a page fits an 80-column terminal (addresses of sources may be longer)
page() { # ARGS...
	run 0 "$@"; narrow 'http|github'
}
for lang in en ko; do
	page catalog show "2x(10x rtx-3090 via pcie4-no-p2p) over 10gbe-lacp2" --lang $lang
	page catalog show "4x rtx-3090 via nvlink4-switch" --hypothetical --lang $lang
	page catalog show aws:p5.48xlarge --lang $lang
	for kind in gpus cpus links systems models families tariffs rules sources params; do page catalog list $kind --lang $lang; done
	page catalog prices --limit 1000 --lang $lang
	page catalog prices --sort spot --limit 1000 --lang $lang
	page catalog prices --sort buy --limit 1000 --lang $lang
	page catalog prices --gpu h100 --limit 1000 --lang $lang
	page catalog show hopper --lang $lang
done
# global options may stand in front; every command has --json, or says why not
run 0 --lang ko help; has "사용법"
run 0 --lang=ko catalog list; has "가속기"
run 2 --lang ko; has "사용법"
run 0 --json catalog list; json "j['gpus'] > 80"
run 0 --catalog "$JEOUL_SOURCE/catalog" catalog show rtx-3090; has "GeForce"
run 0 --json --version; json "j['version'] and any(p['name'] == 'libyaml' and p['present'] for p in j['parts'])"
run 0 version --json; json "len(j['parts']) > 3"
run 0 help --json; json "'catalog show' in [c['command'] for c in j['commands']]"
run 0 help catalog show --json; json "j['command'] == 'catalog show' and j['summary']"
run 0 help catalog --json; json "len(j['commands']) == 6"
run 0 catalog show --help --json; json "j['command'] == 'catalog show'"
run 2 man --json; one_line; says "help --json"
run 2 completion bash --json; one_line
run 0 version --lang ko; run 0 help all --lang ko; has "구성 요소"
run 2 catalog list gpu; one_line; says "did you mean gpus?"
run 2 catalog list gpu --lang ko; one_line; says "혹시 gpus인가요?"
run 0 man; has ".TH JEOUL"
run 0 man --lang ko; has ".SH 종료 코드"; lacks "SYNOPSIS"
if command -v man >/dev/null; then run 0 man; MANWIDTH=80 man --warnings -l "$work/out" >/dev/null 2>"$work/roff" || bad "man page"; [ -s "$work/roff" ] && bad "roff: $(cat "$work/roff")"; fi
run 0 completion bash; bash -n "$work/out" || bad "bash completion does not parse"
source "$work/out"; COMP_WORDS=(jeoul catalog sh); COMP_CWORD=2; _jeoul; [ "${COMPREPLY[*]}" = show ] && ok || bad "completion of 'catalog sh': ${COMPREPLY[*]}"
COMP_WORDS=(jeoul catalog prices --reg); COMP_CWORD=3; _jeoul; [ "${COMPREPLY[*]}" = --region ] && ok || bad "completion of '--reg': ${COMPREPLY[*]}"
# offers LINE: what bash would offer behind it, as one line
offers() {
	COMP_LINE=$1; COMP_POINT=${#1}
	read -ra COMP_WORDS <<< "${1//:/ : }"; [ "${1% }" = "$1" ] || COMP_WORDS+=("")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=(); _jeoul; echo "${COMPREPLY[*]}"
}
while IFS='|' read -r line want; do
	got=$(offers "$line"); [[ " $got " == *" $want "* ]] && ok || bad "completion of '$line': $got"
done <<'EOF'
jeoul predict |gpt2-124m
jeoul predict vit-|vit-b-16
jeoul predict llama-3-8b --on |this
jeoul predict llama-3-8b --on rtx-40|rtx-4090
jeoul predict llama-3-8b --on aws:p5.48|p5.48xlarge
jeoul predict llama-3-8b --precision |fp32 tf32 fp16 bf16 fp8
jeoul predict llama-3-8b --framework un|unsloth
jeoul serve llama-3-8b --engine |vllm sglang trtllm
jeoul bench allreduce --minb|--minbytes
jeoul catalog show h100-s|h100-sxm5
jeoul cost --lang |ko en
EOF
[ -z "$(offers "jeoul predict llama-3-8b --batch ")" ] && ok || bad "a number has no words"
run 0 completion zsh; has "#compdef jeoul"; has "'--precision[format of the matrix products]:value:(fp32 tf32 fp16 bf16 fp8)'"; has "]:value:(\$_jeoul_systems)'"; has "'*:value:(\$_jeoul_models)'"; has "rtx-4090"
if command -v zsh >/dev/null; then zsh -n "$work/out" && ok || bad "zsh completion does not parse"; fi
run 0 completion fish; has "complete -c jeoul -n __fish_use_subcommand -a predict"; has "-l precision -r -d 'format of the matrix products' -f -a 'fp32 tf32 fp16 bf16 fp8'"; has "-a '\$_jeoul_models'"; has "set -g _jeoul_systems this "
if command -v fish >/dev/null; then
	got=$(cd "$work" && HOME=$work fish -c "source $work/out; complete -C 'jeoul catalog sh'; complete -C 'jeoul predict --prec'; complete -C 'jeoul predict --precision b'" 2>&1)
	[[ $got == *show* && $got == *--precision* && $got == *bf16* ]] && ok || bad "fish completion: $got"
fi
run 2 completion csh; one_line; says "bash, zsh and fish"
# a man page for every command, none with a complaint of the formatter
"$JEOUL" help --json | python3 -c "import json, sys; print(*(c['command'] for c in json.load(sys.stdin)['commands']), sep='\n')" > "$work/commands"
while read -r -a words; do
	run 0 man "${words[@]}" --lang ko; has ".SH 모든 명령의 옵션"; ask "[l for l in text.split(chr(10)) if chr(4) in l or (l.isascii() and l[:1].islower() and len(l.split()) > 2 and 'jeoul' not in l and ':' not in l)] == []"
	run 0 man "${words[@]}"; has ".TH JEOUL-$(tr a-z- A-Z- <<< "${words[0]}")"; has ".SH SYNOPSIS"
	[ -z "$(command -v man)" ] || [ -z "$(MANWIDTH=80 man --warnings -l "$work/out" 2>&1 >/dev/null)" ] || bad "man ${words[*]}: $(MANWIDTH=80 man --warnings -l "$work/out" 2>&1 >/dev/null)"
done < "$work/commands"
run 2 man nonsense; one_line

# what is missing here, and the command that brings it
run 0 doctor; has "PostgreSQL"; narrow
run 0 doctor --lang ko; has "이 장비"; narrow
JEOUL_MACHINE="$JEOUL_SOURCE/tests/fixtures/machines/gpuless-arm64-vm" JEOUL_LIBPQ=/nowhere/libpq.so JEOUL_OPENBLAS=/nowhere/blas.so run 0 doctor; has "apt-get install libopenblas0 libpq5"; has "no such GPU"
JEOUL_NVML=/nowhere/nvml.so JEOUL_CUBLASLT=/nowhere/blas.so JEOUL_NCCL=/nowhere/nccl.so JEOUL_MACHINE="$JEOUL_SOURCE/tests/fixtures/machines/hgx-h100-8gpu" run 0 doctor; has "apt-get install nvidia-driver cuda-libraries-12-9 libnccl2"; narrow
JEOUL_LIBPQ=/nowhere/libpq.so run 0 doctor --json; json "[(p['present'], p['command']) for p in j['parts'] if p['part'] == 'PostgreSQL'] == [(False, 'apt-get install libpq5')]"
json "all(p['present'] or p['why'] and p['command'] for p in j['parts']) and 'libpq5' in j['install']"
JEOUL_SQLITE=/nowhere/libsqlite3.so run 0 doctor --json; json "[(p['present'], p['command']) for p in j['parts'] if p['part'] == 'SQLite'] == [(False, 'apt-get install libsqlite3-0')]"
"$JEOUL" catalog list systems | head -1 >/dev/null; [ "${PIPESTATUS[0]}" = 0 ] && ok || bad "a closed pipe is an error"
"$JEOUL" catalog list > /dev/full 2>"$work/err"; [ $? = 1 ] && ok || bad "a full disk is not noticed"
"$JEOUL" bench memory --size "1 MiB" --time "50 ms" --no-store > /dev/full 2>"$work/err"; [ $? = 1 ] && ok || bad "a full disk is not noticed by a benchmark"

# 80 columns: help of everything, the version, the backends, a card; an option's own choices cannot be broken
run 0 help --json
names=$(python3 -c "import json; print(chr(10).join(c['command'] for c in json.load(open('$work/out'))['commands']))")
for lang in en ko; do
	while read -r name; do
		run 0 help $name --lang $lang
		narrow '^ *--'
	done <<< "$names"
	for args in help version "bench list" "catalog show rtx-3090" "catalog show h200-nvl"; do
		run 0 $args --lang $lang
		narrow '^ *--'
	done
done
finish
