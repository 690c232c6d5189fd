#!/bin/bash
# Install into an empty folder, then build and run examples/c the way a stranger would: pkg-config, shared library.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$JEOUL_BUILD" --prefix "$dir/usr" >/dev/null
unset PKG_CONFIG_SYSROOT_DIR # the folder it was installed to is no part of a sysroot
export PKG_CONFIG_PATH
PKG_CONFIG_PATH=$(dirname "$(find "$dir" -name jeoul.pc)")${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
lib=$(dirname "$(find "$dir" -name 'libjeoul.so')")
read -ra flags < <(pkg-config --define-variable=prefix="$dir/usr" --cflags --libs jeoul)
"${CC:-cc}" -std=c17 -Wall -Wextra -Werror -o "$dir/links" "$JEOUL_SOURCE/examples/c/links.c" "${flags[@]}" -lm
out=$(LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$dir/links" "125x aws:p5.48xlarge")
echo "$out"
grep -q '125 x 8 x h100-sxm5' <<< "$out"
grep -q 'between nodes, per node *400 GB/s' <<< "$out"
if LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$dir/links" "3x no-such-gpu" 2>"$dir/err"; then echo "an unknown GPU was accepted"; exit 1; fi
grep -q 'no-such-gpu' "$dir/err"
test -s "$dir/usr/share/man/man1/jeoul.1" -a -s "$dir/usr/share/bash-completion/completions/jeoul"
