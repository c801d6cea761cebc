#!/bin/sh
# SPDX-License-Identifier: MIT
# Python stacks of forked processes, in sub-interpreters, in programs that Python is a part of, and
# of a program that becomes a Python while it is sampled.
. "${SOURCE:?}/tests/live/python_common.sh"

script=$SOURCE/tests/live/targets/python_parts.py

# part NAME: the process that it says it is about.
part() {
	start_python "$script" "$1"
	record -p "$(cut -d ' ' -f 1 "$says")" -d 0.15
	end_python
	judge parts "$says"
}

has_module() {
	"$python" -c "import $1" 2>/dev/null
}

# Not where the interpreter is no library, or its headers are missing.
build_embedding() {
	[ -x "$python-config" ] || return
	prefix=$("$python" -c 'import sys; print(sys.prefix)')
	${CC:-cc} -O2 -g -pthread "$SOURCE/tests/live/targets/embeds.c" -o "$dir/embeds" \
		$("$python-config" --includes) $("$python-config" --embed --ldflags) \
		-Wl,-rpath,"$prefix/lib" 2>/dev/null
}

# The program is known from the first look on or a little later: it is looked at for longer.
embedded() {
	build_embedding || return
	real=$python
	python=$dir/embeds
	start_python
	record_in_part -p "$target" -d 0.3
	end_python
	judge parts "$says"
	python=$real
}

# While nobody has said what it is, it has native functions alone.
becoming() {
	rm -f "$recording"
	"$WALLSAMPLE" record -o "$recording" -- sh -c 'exec "$@" </dev/null' sh \
		"$python" "$script" become >"$says" 2>"$err"
	judge becomes
}

parts() {
	part fork
	part thread
	part pool
	if has_module _interpreters || has_module _xxsubinterpreters; then
		part sub
		part deep
	fi
	embedded
	becoming
}

each_python parts
finish
