#!/bin/bash
# SPDX-License-Identifier: MIT
# expand.sh FILE: prints the golden file tests/replay/FILE, a page or picture. A line such as
# "@src/web/report.js@" is replaced by the style sheet or script of this path in the source tree, and
# "@style@" and "@script@" by the hashes of a page's style sheet and script.
set -u
cd "${SOURCE:-$(dirname "$0")/../..}" || exit 99
# hash FILE…: what a browser computes of the text between the tags
hash() {
	{ echo && cat "$@"; } | sha256sum | sed 's/ .*//; s/../\\x&/g' | {
		read -r bytes
		printf '%b' "$bytes" | base64
	}
}

style=$(hash src/web/{palette,report,timeline}.css)
script=$(hash src/web/{labels,report,timeline}.js)
while IFS= read -r line; do
	line=${line//@style@/$style}
	line=${line//@script@/$script}
	if [[ $line =~ ^@(src/[a-z]+/[a-z]+\.(js|css))@$ ]]; then
		cat "${BASH_REMATCH[1]}" || exit 1
	else
		printf '%s\n' "$line"
	fi
done <"tests/replay/$1"
