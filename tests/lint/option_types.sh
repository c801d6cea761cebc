#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A row of the option table whose type is not the type of its field does not compile: each field of
# the table is given a macro of another type in turn, and the compiler must refuse each.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
table=src/cli/option_table.c

compiles() {
	${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -fsyntax-only -Iinclude -Isrc \
		-x c - 2>/dev/null
}

compiles <"$table" || { echo "$table does not compile as it is"; exit 1; }

failed=0
wrong=0
# Prints "LINE FROM TO": a line of the table, its macro, and one of another type.
while read -r line from to; do
	wrong=$((wrong + 1))
	sed -E "${line}s/$from\\(([^,)]*)(, enum [a-z_]+, [a-z_]+)?\\)/$to/" "$table" | compiles ||
		continue
	echo "$table:$line: the field of $from also compiles as $to"
	failed=1
done < <(awk '
	/^#define/ || !match($0, /OPT_[A-Z]+\(/) { next }
	{
		from = substr($0, RSTART, RLENGTH - 1)
		print NR, from, from == "OPT_TEXT" ? "OPT_NUMBER(\\1)" : "OPT_TEXT(\\1)"
		print NR, from, from == "OPT_FLAG" ? "OPT_REGEX(\\1)" : "OPT_FLAG(\\1)"
		if (from == "OPT_CHOICE") {
			print NR, from, "OPT_CHOICE(\\1,enum\\ error_kind,by_words)"
			print NR, from, "OPT_CHOICE(\\1,int,by_words)"
		}
	}' "$table")
[ "$wrong" -gt 100 ] || { echo "only $wrong wrong rows were found to try"; failed=1; }
exit $failed
