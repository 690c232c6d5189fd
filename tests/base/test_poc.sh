#!/bin/bash
# jeoul-poc refuses what would break at run time, with the place.
set -u
poc=$JEOUL_BUILD/jeoul-poc
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
refused() { # what the message says, the file on standard input
	cat >"$dir/ko.po"
	if "$poc" names "$dir/out.c" "$dir/ko.po" 2>"$dir/err"; then echo "taken: $1"; bad=1; return; fi
	grep -q -- "$1" "$dir/err" || { echo "wanted '$1', got:"; cat "$dir/err"; bad=1; }
	[ ! -e "$dir/out.c" ] || { echo "left a file: $1"; bad=1; }
}
refused 'ko.po:2: the translation does not take the same arguments' <<'P'
#, c-format
msgid "%d of %s"
msgstr "%s: %d"
P
refused 'ko.po:2: the translation does not take the same arguments' <<'P'
#, c-format
msgid "%d of %s"
msgstr "%d"
P
refused 'ko.po:3: the same msgid twice' <<'P'
msgid "a"
msgstr "b"
msgid "a"
msgstr "c"
P
refused 'ko.po:2: a text in quotes' <<'P'
msgid "a"
msgstr "b
P
refused 'ko.po:2: not understood' <<'P'
msgid "a"
msgid_plural "as"
msgstr[0] "b"
P
cat >"$dir/ko.po" <<'P'
#, c-format
msgid "%d of %s, %.3g %zu 100 %%"
msgstr "%2$s: %1$d, %3$g %4$zu 100 %%"
P
"$poc" names "$dir/out.c" "$dir/ko.po" && grep -q '"ko", 1, rows_0' "$dir/out.c" || { echo "a good file was refused"; bad=1; }
exit $bad
