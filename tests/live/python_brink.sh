#!/bin/sh
# SPDX-License-Identifier: MIT
# While a thread stands still for its Python stack, nothing is read that somebody would have to
# provide first, who may be that very thread: neither it nor the sampler waits for ever. Nor is it
# while nobody does, because a thread that was asked may begin to at any time.
. "${SOURCE:?}/tests/live/python_common.sh"

tried=

# brink_with WHERE OPTION
brink_with() {
	start_python "$SOURCE/tests/live/targets/python_brink.py" "$1"
	if grep -q '^none$' "$says" 2>/dev/null; then
		end_python
		return
	fi
	tried=yes
	rm -f "$recording"
	what="$version: $1: wallsample record $2"
	timeout -s KILL 20 "$WALLSAMPLE" record -o "$recording" -p "$target" -r 200 -d 1 "$2" \
		>"$out" 2>"$err" </dev/null
	status=$?
	end_python
	expect_late_at_most "$recording"
	grep -q '^turns [1-9]' "$says" || complain "$version: the target has not gone on"
}

brink() {
	brink_with frame --no-jitter
	brink_with frame --stop-all
	brink_with list --no-jitter
}

each_python brink
if [ -z "$tried" ]; then
	echo 'no userfaultfd for faults of others'
	exit 77
fi
finish
