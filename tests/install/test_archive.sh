#!/bin/bash
# The archive, twice the same bytes, unpacked somewhere and used with an empty environment; its SBOM names what lies in it.
set -eu
command -v strip >/dev/null && command -v objdump >/dev/null || { echo "skipped: no binutils"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export SOURCE_DATE_EPOCH=1763164800
for n in 1 2; do
	bash "$JEOUL_SOURCE/scripts/tarball" "$dir/$n" >"$dir/out" 2>&1 || { cat "$dir/out"; grep -q 'build it on Debian 12' "$dir/out" && exit 77; exit 1; }
done
cat "$dir/out"
cmp "$dir"/1/*.tar.gz "$dir"/2/*.tar.gz
cmp "$dir"/1/*.cdx.json "$dir"/2/*.cdx.json
mkdir "$dir/some where"
tar -C "$dir/some where" -xzf "$dir"/1/*.tar.gz
root=$(echo "$dir/some where"/jeoul-*)
cd /
env -i HOME="$dir" "$root/bin/jeoul" predict llama-3-8b --on "8x h100-sxm5" --json >"$dir/one"
"$JEOUL" predict llama-3-8b --on "8x h100-sxm5" --json >"$dir/two"
cmp "$dir/one" "$dir/two"
env -i HOME="$dir" "$root/bin/jeoul" doctor --json | grep -A2 '"published runs"' | grep -q '"for"' # finds its data beside itself:
env -i HOME="$dir" "$root/bin/jeoul" validate --set power >/dev/null
# a store is opened with the library that came along
env -i HOME="$dir" LD_DEBUG=libs "$root/bin/jeoul" store list 2>&1 | grep -q "calling init: $root/.*/libsqlite3\.so\.0"
python3 - "$dir"/1/*.cdx.json "$root" <<'END'
import hashlib, json, pathlib, sys
bom, root = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2])
assert bom["bomFormat"] == "CycloneDX" and bom["metadata"]["component"]["name"] == "jeoul"
files = {c["name"]: c["hashes"][0]["content"] for c in bom["components"] if c["type"] == "file"}
assert files["bin/jeoul"] == hashlib.sha256((root / "bin" / "jeoul").read_bytes()).hexdigest()
assert set(files) == {str(p.relative_to(root)) for p in root.rglob("*") if p.is_file() and not p.is_symlink()}
assert any("jansson" in c["name"] for c in bom["components"] if c["type"] == "library")
END
