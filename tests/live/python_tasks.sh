#!/bin/sh
# SPDX-License-Identifier: MIT
# A dump has the tasks of asyncio, each with the frames, lines and awaiting tasks that the program
# itself knows, while one of them goes from place to place: with every CPython from 3.14 on. Of an
# older one it says that it does not have them.
. "${SOURCE:?}/tests/live/python_common.sh"

dumps=25 # a program that looks for a bug may want more: PYTHON_DUMPS
newest=

tasks() {
	newest=$version
	start_python "$SOURCE/tests/live/targets/python_tasks.py"
	set --
	while [ "$#" -lt "${PYTHON_DUMPS:-$dumps}" ]; do
		set -- "$@" "$dir/dump.$#"
		"$WALLSAMPLE" dump -q -f json -p "$target" >"$dir/dump.$(($# - 1))" 2>"$err"
		status=$?
		# 1: not all stacks of threads, as when one gets no CPU
		[ "$status" -le 1 ] || complain "$version: status $status: $(cat "$err")"
	done
	end_python
	"$judging" -B "$SOURCE/tests/live/python_tasks_check.py" "$says" "$@" ||
		complain "$version: tasks are wrong, of $python"
}

# Its own loop will do: what is looked for is the module _asyncio.
none() {
	start_python -c 'import asyncio, sys; print("ready", flush=True); sys.stdin.read()'
	"$WALLSAMPLE" dump -q -p "$target" >"$out" 2>"$err"
	end_python
	grep -q 'only CPython 3.14 and later tell where they are' "$out" ||
		complain "$version: it does not say that its tasks are not shown"
}

each_version() {
	case $version in
	3.[0-9].* | 3.1[0-3].*) none ;;
	*) tasks ;;
	esac
}

each_python each_version
[ -n "$newest" ] || [ "$failed" != 0 ] || {
	echo 'no CPython 3.14 or later'
	exit 77
}
finish
