#!/bin/sh
# SPDX-License-Identifier: MIT
# Waits of one name are counted over time: five threads that sleep at the same time, in less than
# half of the time, are five at once, and no row of the table has fewer threads than its mean.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
if ! command -v jq >/dev/null 2>&1; then
	echo 'jq is missing'
	exit 77
fi

# most_of KIND: the largest number of threads that waited at once, of the wait of this kind.
most_of() {
	jq -r --arg kind "$1" '[.waits[] | select(.kind == $kind) | .most_at_once] | join(" ")' \
		"$dir/report.json"
}

actor together 5
for rate in 20 100; do
	run -q -d 3 -r "$rate" -f json -o "$dir/report.json" -p "$actor"
	expect_status 0
	for kind in 'time to pass' 'semaphore'; do
		most=$(most_of "$kind")
		[ "$most" = 5 ] || complain "$what: $kind: '$most' threads at once, not 5"
	done
done
end_actor "$actor"
finish
