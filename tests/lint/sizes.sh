#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Functions up to 60 lines, files up to 500, headers up to 200, lines up to 100 columns. The
# tests of one module stay in one file, which may then have 800.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

# "FILE" or "FILE FUNCTION", and the reason behind it. Tables of facts may be long.
exceptions='
'
failed=0

is_exception() {
	[[ $exceptions == *$'\n'"$1 "* ]]
}

complain() {
	is_exception "$1" && return
	printf '%s: %s\n' "$1" "$2"
	failed=1
}

for file in $(find include src tests -name '*.[ch]'); do
	[ -e "$file" ] || continue
	most=500
	case $file in
	tests/*) most=800 ;;
	*.h) most=200 ;;
	esac
	lines=$(wc -l <"$file")
	[ "$lines" -le "$most" ] || complain "$file" "$lines lines, wanted at most $most"
	width=$(LC_ALL=C.UTF-8 wc -L <"$file")
	[ "$width" -le 100 ] || complain "$file" "a line of $width columns, wanted at most 100"
done

# A function's body stands between braces in the first column; its name is the last word
# before an opening parenthesis that began a line above.
while read -r file name lines; do
	complain "$file $name" "$lines lines, wanted at most 60"
done < <(awk '
	FNR == 1 { inside = 0; name = "?" }
	/^[A-Za-z_].*\(/ && !inside { name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name) }
	/^\{/ { inside = 1; start = FNR }
	/^\}/ && inside {
		inside = 0
		if (FNR - start - 1 > 60)
			print FILENAME, name, FNR - start - 1
	}' $(find src tests -name '*.c'))

exit $failed
