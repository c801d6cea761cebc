#!/bin/sh
# SPDX-License-Identifier: MIT
# While a thread stands still for its Python stack, nothing is read that somebody would have to
# provide first, who may be that very thread: neither it nor the sampler waits for ever.
. "${SOURCE:?}/tests/live/python_common.sh"

tried=

brink_with() {
	start_python "$SOURCE/tests/live/targets/python_brink.py"
	if grep -q '^none$' "$says" 2>/dev/null; then
		end_python
		return
	fi
	tried=yes
	rm -f "$recording"
	what="$version: wallsample record $1"
	timeout -s KILL 20 "$WALLSAMPLE" record -o "$recording" -p "$target" -r 200 -d 1 "$1" \
		>"$out" 2>"$err" </dev/null
	status=$?
	end_python
	expect_status 0
	grep -q '^turns [1-9]' "$says" || complain "$version: the target has not gone on"
}

brink() {
	brink_with --no-jitter
	brink_with --stop-all
}

each_python brink
if [ -z "$tried" ]; then
	echo 'no userfaultfd for faults of others'
	exit 77
fi
finish
