#!/bin/bash
# SPDX-License-Identifier: MIT
# expand.sh FILE: prints the golden file tests/replay/FILE, a page or picture. A line such as
# "@src/web/report.js@" is replaced by the style sheet or script of this path in the source tree.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
while IFS= read -r line; do
	if [[ $line =~ ^@(src/[a-z]+/[a-z]+\.(js|css))@$ ]]; then
		cat "${BASH_REMATCH[1]}" || exit 1
	else
		printf '%s\n' "$line"
	fi
done <"tests/replay/$1"
