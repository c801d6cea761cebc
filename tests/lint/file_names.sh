#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Base names of C files are unique in the tree: debuggers and logs show nothing else. Scripts of
# tests that have an interpreter may be executed: make starts them by their names.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
failed=0

twice=$(find src tests include -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d)
for name in $twice; do
	printf 'more than one file is called %s:\n' "$name"
	find src tests include -name "$name"
	failed=1
done
for script in tests/*/*.sh; do
	if [ ! -x "$script" ] && head -n 1 "$script" | grep -q '^#!'; then
		echo "$script may not be executed: chmod +x"
		failed=1
	fi
done
exit $failed
