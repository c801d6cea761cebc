#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The scripts of pages and pictures: strict, without syntax errors, and without a name that is
# declared and never used.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
command -v node >/dev/null 2>&1 || { echo 'node is not there'; exit 77; }
failed=0
complain() {
	printf '%s\n' "$*"
	failed=1
}

for script in src/*/*.js tests/unit/web/*.js; do
	node --check "$script" || failed=1
	grep -qE '^[[:space:]]*"use strict";$' "$script" || complain "$script: not strict"
	# Words in comments and strings are neither uses of a name nor code.
	code=$(sed -E 's|//.*||; s|"[^"]*"||g' "$script" | perl -0pe 's|/\*.*?\*/||gs')
	grep -oE '\b(var|eval|with|innerHTML|document\.write)\b *[ (=]' <<<"$code" &&
		complain "$script: what is above is not allowed"
	names=$(grep -oE '\b(function|const|let) +[A-Za-z_]+' <<<"$code" | sed 's/.* //' | sort -u)
	for name in $names; do
		[ "$(grep -owF -- "$name" <<<"$code" | wc -l)" -gt 1 ] ||
			complain "$script: $name is never used"
	done
done
exit $failed
