#!/bin/bash
# Code comes from where the system or the program has it, never from the folder somebody happens to be in.
set -euo pipefail
fail() { echo "FAIL: $*" >&2; exit 1; }
tmp=$(mktemp -d); trap 'rm -rf "$tmp"' EXIT

# every ELF file that was built: no element of its search path is empty or relative; what is unpacked anywhere looks beside itself ($ORIGIN)
n=0
while read -r file; do
	[[ $(head -c4 "$file" | tr -d '\0') == $'\x7fELF' ]] || continue
	n=$((n + 1))
	path=$(readelf -d "$file" 2>/dev/null | sed -n 's/.*(R\(UN\)\?PATH).*\[\(.*\)\]/\2/p')
	[[ -z $path ]] && continue
	while read -r element; do
		[[ $element == /* || ($file == */portable/* && ($element == '$ORIGIN' || $element == '$ORIGIN/../lib')) ]] || fail "$file: search path '$path' has '$element'"
	done < <(tr ':' '\n' <<<"$path")
done < <(find "$JEOUL_BUILD" -type f \( -perm -u+x -o -name '*.so*' \) -not -path '*/CMakeFiles/*')
[[ $n -ge 5 ]] || fail "only $n ELF files looked at"

# a libmpi in the working directory is not even tried; the loader says where it looks
if [[ -f $JEOUL_BUILD/jeoul-mpi.so ]]; then
	cp "$JEOUL_FAKE_NVML" "$tmp/libmpi.so.40"
	(cd "$tmp" && LD_DEBUG=libs "$JEOUL" bench list) >"$tmp/out" 2>&1 || fail "bench list"
	grep -q "trying file=.*libmpi" "$tmp/out" || fail "MPI was not asked for: nothing was tested"
	! grep "trying file=[^/]" "$tmp/out" || fail "a library of the working directory was tried"
fi

# a library variable is an absolute path or nothing
cp "$JEOUL_FAKE_NVML" "$tmp/fake.so"
(cd "$tmp" && JEOUL_NVML=./fake.so "$JEOUL" probe --json) >"$tmp/out" || fail "probe"
grep -q "not an absolute path" "$tmp/out" || fail "JEOUL_NVML=./fake.so was not refused: $(cat "$tmp/out")"
(cd "$tmp" && JEOUL_MPI_MODULE=jeoul-mpi.so "$JEOUL" bench list) >"$tmp/out" 2>&1 || fail "bench list"
grep -q "JEOUL_MPI_MODULE=jeoul-mpi.so: not an absolute path" "$tmp/out" || fail "relative JEOUL_MPI_MODULE: $(cat "$tmp/out")"

# ... and nothing where the program has other rights than who runs it
if [[ $(id -u) == 0 ]] && cp "$JEOUL" "$tmp/jeoul" && chown 65534 "$tmp/jeoul" && chmod 4755 "$tmp/jeoul" && chmod 755 "$tmp" &&
	[[ $(cd / && "$tmp/jeoul" --version | head -1) == jeoul* ]]; then
	JEOUL_NVML="$tmp/fake.so" LD_DEBUG=files "$tmp/jeoul" probe --json >"$tmp/out" 2>&1 || true
	grep -q "fake.so" "$tmp/out" && fail "JEOUL_NVML was followed with other rights"
	JEOUL_NVML="$tmp/fake.so" "$JEOUL" probe --json | grep -q "fake.so\|NVIDIA" || fail "the stand-in is not seen even with equal rights"
fi
echo "libraries: $n ELF files, fine"

# built so that a mistake ends the program instead of being used
head=$(readelf -hldW "$JEOUL") names=$(readelf -sW --dyn-syms "$JEOUL")
[[ $head == *"Type:"*"DYN"*INTERP* ]] || grep -q __asan_init <<<"$names" || fail "not position independent"
[[ $head == *GNU_RELRO* ]] || fail "tables of pointers can be written (no RELRO)"
[[ $head == *BIND_NOW* || $head == *"Flags: NOW"* ]] || fail "tables of pointers are filled late (no BIND_NOW)"
[[ $(grep GNU_STACK <<<"$head") == *" RW "* ]] || fail "the stack can be executed"
[[ $(grep LOAD <<<"$head") != *RWE* ]] || fail "a part is writable and executable"
[[ $names == *__stack_chk_fail* ]] || fail "no guards on the stack"
grep -q __asan_init <<<"$names" || grep -q "__v\?snprintf_chk\|__memcpy_chk" <<<"$names" || fail "copies are not checked (_FORTIFY_SOURCE)"
if [[ $(uname -m) == x86_64 ]] && command -v objdump >/dev/null; then
	[[ $(objdump -d --disassemble=jl_cli_main "$JEOUL") == *endbr64* ]] || fail "functions are no marked places to jump to (CET)"
fi
[[ $("$JEOUL" --version) == *"kernel  "*"bench --listen"* ]] || fail "--version does not say what confines listeners"
echo "hardened: fine"
