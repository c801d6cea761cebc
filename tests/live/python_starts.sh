#!/bin/sh
# SPDX-License-Identifier: MIT
# Threads that have just started have Python frames, also if they get the memory of threads that
# have ended, and each is sampled from the tick on that follows its start.
. "${SOURCE:?}/tests/live/python_common.sh"

sample() {
	start_python "$SOURCE/tests/live/targets/python_starts.py" "$1"
	record_in_part -p "$target" --max-overhead 100 --max-stopped 100 -r 100 -d 1
	end_python
	judge "$1" 2>&1
}

starts() {
	sample one
	sample server
}

each_python starts
finish
