#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample is killed while it holds a Python thread for its stack: the thread runs on.
. "${SOURCE:?}/tests/live/python_common.sh"

killed() {
	start_python "$SOURCE/tests/live/targets/python_gil.py" loops
	tid=$(sed -n 's/^thread [^ ]* \([0-9]*\)$/\1/p' "$says" | head -n 1)
	"$judging" "$SOURCE/tests/live/python_killed.py" "$WALLSAMPLE" "$target" "$tid" 10 \
		>"$out" 2>&1 </dev/null || complain "$version: $(cat "$out")"
	end_python
	[ "$(grep -c '^cpu ' "$says")" = 2 ] || complain "$version: its threads have not ended"
}

each_python killed
finish
