#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample is killed while it holds a Python thread for its stack: the thread runs on.
. "${SOURCE:?}/tests/live/python_common.sh"

killed() {
	start_python "$SOURCE/tests/live/targets/python_gil.py" loops
	"$judging" -B "$SOURCE/tests/live/killed.py" "$target" 10 "$WALLSAMPLE" -p "$target" \
		-d 60 -r 5000 --max-overhead 100 -q >"$out" 2>&1 </dev/null ||
		complain "$version: $(cat "$out")"
	end_python
	[ "$(grep -c '^cpu ' "$says")" = 2 ] || complain "$version: its threads have not ended"
}

each_python killed
finish
