#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each file names its licence in its first line (a script in its second), and C files go on
# with a comment that says what they are for. No white space at the end of lines.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99

failed=0
complain() {
	printf '%s: %s\n' "$1" "$2"
	failed=1
}

while read -r file; do
	case $file in
	*.[ch] | *.cc | *.cpp)
		[ "$(head -n 1 "$file")" = '/* SPDX-License-Identifier: MIT */' ] ||
			complain "$file" 'the first line is not the licence'
		sed -n 2p "$file" | grep -q '^/\*' ||
			complain "$file" 'the second line does not begin to say what the file is for'
		;;
	*)
		sed -n 1,2p "$file" | grep -q '^# SPDX-License-Identifier: MIT$' ||
			complain "$file" 'the first two lines do not name the licence'
		;;
	esac
	grep -qE '[[:space:]]+$' "$file" && complain "$file" 'white space at the end of a line'
done < <(find src tests include contrib tools bootstrap .ci -name '*.[ch]' -o -name '*.cc' -o -name '*.cpp' \
	-o -name '*.sh' -o -name '*.py' -o -name '*.toml' -o -name bootstrap -o -path .ci/run 2>/dev/null)

exit $failed
