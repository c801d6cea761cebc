#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Comments, messages and manuals are standard technical English. words.txt lists expressions that
# the reader has to decode, each with a better one, and the places that may keep them.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
list=tests/lint/words.txt
files=$(find src include man README CONTRIBUTING NEWS tests/README -type f \
	\( -name '*.[ch]' -o -name '*.js' -o -name '*.[157]' -o -name README -o -name CONTRIBUTING -o -name NEWS \))
failed=0
while IFS=$'\t' read -r expression better allowed; do
	case $expression in '' | '#'*) continue ;; esac
	# Word splitting is wanted: a list of file names.
	# shellcheck disable=SC2086
	found=$(grep -nwE "$expression" $files | grep -vE "^(${allowed:-none}):")
	[ -n "$found" ] || continue
	failed=1
	printf '"%s": write %s\n' "$expression" "$better"
	sed 's/^/    /' <<<"$found"
done <"$list"
exit $failed
