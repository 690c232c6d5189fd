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
test -s "$dir/usr/share/man/man1/jeoul.1" -a -s "$dir/usr/share/man/ko/man1/jeoul-predict.1" -a -s "$dir/usr/share/bash-completion/completions/jeoul"

# The answers of the library are the program's, to the byte; errors are values.
"${CC:-cc}" -std=c17 -Wall -Wextra -Werror -o "$dir/ask" "$JEOUL_SOURCE/examples/c/ask.c" "${flags[@]}"
export LD_LIBRARY_PATH=$lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
"$dir/ask" predict '{"model": "llama-3-8b", "on": "8x h100-sxm5", "batch": 1}' > "$dir/asked"
"$JEOUL" predict llama-3-8b --on "8x h100-sxm5" --batch 1 --json > "$dir/printed"
cmp "$dir/asked" "$dir/printed"
code=0
"$dir/ask" predict '{"model": "llama-3-8b", "onn": "x"}' > "$dir/asked" 2> "$dir/err" || code=$?
test "$code" = 2 -a ! -s "$dir/asked"
grep -q 'did you mean "on"' "$dir/err"

# What a program may link stays: a symbol that went, came or changed its version is a break. A new one is a line here and in src/api.map.
nm -D --defined-only "$lib/libjeoul.so" | awk '{print $3}' | grep -v '^JEOUL_[0-2]$' | sort > "$dir/symbols"
diff - "$dir/symbols" <<'EOF'
jeoul_ask@@JEOUL_1
jeoul_ask_reading@@JEOUL_2
jeoul_close@@JEOUL_0
jeoul_free@@JEOUL_1
jeoul_gpu_fact@@JEOUL_0
jeoul_open@@JEOUL_0
jeoul_system_parse@@JEOUL_0
jeoul_version@@JEOUL_0
EOF
# Nothing of the program's comes with it but what it says it needs.
test "$(pkg-config --modversion jeoul)" = "$("$JEOUL" --version | sed -n '1s/^jeoul \([0-9.]*\).*/\1/p')"
