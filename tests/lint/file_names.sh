#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Base names of C files are unique in the tree: debuggers and logs show nothing else.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

twice=$(find src tests include -name '*.[ch]' | sed 's|.*/||' | sort | uniq -d)
for name in $twice; do
	printf 'more than one file is called %s:\n' "$name"
	find src tests include -name "$name"
done
[ -z "$twice" ]
