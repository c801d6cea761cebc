#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each header of the program and of its tests compiles alone: its includes are complete. Those of
# tests/replay are parts of programs in C++.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

failed=0
for header in $(find include src -name "*.h") $(find tests -path tests/replay -prune -o -name "*.h" -print); do
	printf '#include "%s"\n' "$(basename "$header")" |
		${CC:-gcc} -std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fsyntax-only \
			-I"$(dirname "$header")" -Iinclude -Isrc -x c - ||
		{ printf '%s does not compile alone\n' "$header"; failed=1; }
done
exit $failed
