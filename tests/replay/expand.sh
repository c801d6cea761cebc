#!/bin/bash
# SPDX-License-Identifier: MIT
# expand.sh FILE: prints a golden page or picture with the styles and scripts of the source tree in
# place of the lines "@src/web/report.js@" that stand for them.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
while IFS= read -r line; do
	if [[ $line =~ ^@(src/[a-z]+/[a-z]+\.(js|css))@$ ]]; then
		cat "${BASH_REMATCH[1]}" || exit 1
	else
		printf '%s\n' "$line"
	fi
done <"tests/replay/$1"
