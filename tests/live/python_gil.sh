#!/bin/sh
# SPDX-License-Identifier: MIT
# Who has the interpreter's lock, who waits for it, and who needs it not: of programs that know.
. "${SOURCE:?}/tests/live/python_common.sh"

# GIL_WORDS is for those who look for a bug: --stop-all, other rates and durations.
words=${GIL_WORDS:--r 250 -d 1}

sample() {
	start_python "$SOURCE/tests/live/targets/python_gil.py" "$1"
	# The main thread has let go of the lock when it is in read(0, ...): futexes are not at 0.
	until read -r _ first _ <"/proc/$target/syscall" && [ "$first" = 0x0 ]; do
		kill -0 "$target" || { complain "$what: has ended"; finish; }
		sleep 0.01
	done
	record_in_part -p "$target" --max-overhead 100 --max-stopped 100 $words
	end_python
	judge "$1" "$says"
}

lock() {
	case $python in *t) return ;; esac # has none
	sample loops
	sample hash
	sample hold
}

each_python lock
finish
