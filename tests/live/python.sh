#!/bin/sh
# SPDX-License-Identifier: MIT
# The Python stacks of threads that stand still are those that the interpreter itself knows, with
# their lines, and among the native frames they are where they belong: with every CPython there is.
. "${SOURCE:?}/tests/live/python_common.sh"

shapes() {
	start_python "$SOURCE/tests/live/targets/python_shapes.py"
	record -p "$target" -d 0.3
	end_python
	judge shapes "$says"
}

# What an interpreter does at its end it does outside of all functions of the program: nothing is
# missing there.
at_end() {
	rm -f "$recording"
	what="$version: wallsample record -- python"
	"$WALLSAMPLE" record -r 500 -o "$recording" -- "$python" -c 'x = list(zip(range(2000000)))' \
		>"$out" 2>"$err" </dev/null
	status=$?
	[ "$status" -eq 1 ] || expect_status 0
	recorded=$status
	"$WALLSAMPLE" report -f folded -o "$out" "$recording" 2>"$err"
	status=$?
	expect_status "$recorded"
	grep Py_FinalizeEx "$out" >"$dir/end"
	expect_not_in "$dir/end" 'not readable'
}

# A process that begins Python anew all the time has it to its end, and one kind of it.
again() {
	rm -f "$recording"
	what="wallsample record -- $judging python_execs.py"
	"$WALLSAMPLE" record -r 300 -o "$recording" -- "$judging" -S \
		"$SOURCE/tests/live/targets/python_execs.py" 80 >"$out" 2>"$err" </dev/null
	status=$?
	[ "$status" -eq 1 ] || expect_status 0
	recorded=$status
	"$WALLSAMPLE" report -f folded -o "$out" "$recording" 2>"$err"
	status=$?
	expect_status "$recorded"
	expect_in "$out" 'last;spin'
	"$WALLSAMPLE" info "$recording" >"$out" 2>"$err"
	[ "$(grep -o 'CPython' "$out" | wc -l)" -le 1 ] || complain "$what: runtimes are repeated"
}

again
each_python shapes
each_python at_end
finish
