#!/bin/bash
# scripts/setup as an ordinary user without sudo on a machine that has nothing: one line that names every package, and it stops.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n_bad=0
bad() { n_bad=$((n_bad + 1)); echo "FAILED: $*"; }
mkdir "$work/bin" "$work/tree"
for tool in bash grep cat find mktemp timeout mkdir sed tail dirname; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
printf '#!/bin/bash\necho 1000\n' > "$work/bin/id"
printf '#!/bin/bash\nexit 1\n' > "$work/bin/dpkg-query"
printf '#!/bin/bash\necho called > "%s/apt"; exit 100\n' "$work" > "$work/bin/apt-get"
chmod +x "$work/bin/id" "$work/bin/dpkg-query" "$work/bin/apt-get"
setup() { (cd "$work/tree" && PATH="$work/bin" bash "$JEOUL_SOURCE/scripts/setup" "$@") >"$work/out" 2>"$work/err" </dev/null; }

for job in build test lint fuzz bench package; do
	setup $job && bad "$job: ended 0 without what it needs"
	[ "$(wc -l < "$work/err")" = 1 ] && [ ! -s "$work/out" ] || bad "$job: not one line: $(cat "$work/out" "$work/err")"
	grep -q 'apt-get install gcc libc6-dev' "$work/err" || bad "$job: the line names no packages: $(cat "$work/err")"
done
setup test
for p in chromium firefox-esr fonts-noto-cjk nodejs npm postgresql locales gettext iproute2 openmpi-bin libcmocka-dev clang; do
	grep -q " $p\\b" "$work/err" || bad "test: $p is not named"
done
[ ! -e "$work/apt" ] || bad "it tried to install"
setup nonsense; [ $? = 2 ] || bad "an unknown job is no usage error"

# everything but a browser: nothing is skipped unsaid
printf '#!/bin/bash\n[ "${@: -1}" != chromium ] && [ "${@: -1}" != firefox-esr ] && echo ok installed\n' > "$work/bin/dpkg-query"
setup test || bad "optional parts stop it"
grep -q 'web/firefox (firefox-esr)' "$work/err" || bad "it does not say that Firefox is left out: $(cat "$work/err")"
grep -q 'web/report (chromium)' "$work/err" || bad "it does not say what is left out: $(cat "$work/err")"
[ $n_bad = 0 ]
