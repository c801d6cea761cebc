#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# C and C++ files name their licence in the first line, and a comment that says what they are for
# begins in the second. Scripts, programs in other languages, manual pages and configure.ac name it in
# one of the first two lines. None of them has white space at the end of a line. Not checked: local.mk
# (parts of Makefile.am), style sheets (they are copied into pages), data and plain texts.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

failed=0
complain() {
	printf '%s: %s\n' "$1" "$2"
	failed=1
}

while read -r file; do
	[ -e "$file" ] || continue # .ci is not in a release
	case $file in
	*.[ch] | *.cc | *.cpp)
		[ "$(head -n 1 "$file")" = '/* SPDX-License-Identifier: MIT */' ] ||
			complain "$file" 'the first line is not the licence'
		sed -n 2p "$file" | grep -q '^/\*' ||
			complain "$file" 'the second line does not begin to say what the file is for'
		;;
	*)
		sed -n 1,2p "$file" |
			grep -qE '^(#|//|/\*|\.\\"|dnl) SPDX-License-Identifier: MIT( \*/)?$' ||
			complain "$file" 'the first two lines do not name the licence'
		;;
	esac
	grep -qE '[[:space:]]+$' "$file" && complain "$file" 'white space at the end of a line'
done < <(find src tests include contrib tools man -type f \
	-regex '.*\.\([ch]\|cc\|cpp\|def\|proto\|js\|sh\|py\|go\|jl\|rs\|awk\|toml\|[1-9]\)'
	printf '%s\n' bootstrap .ci/run tools/syscall-names configure.ac Makefile.am .clang-format \
		.clang-tidy .editorconfig)

exit $failed
