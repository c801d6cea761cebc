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

each_python shapes
finish
