#!/bin/sh
# SPDX-License-Identifier: MIT
# A deadlock of which the interpreter's lock is a part is told, with the Python functions, by a dump
# of the process, while it is sampled, and of a core file of it.
. "${SOURCE:?}/tests/live/python_common.sh"

# Is the thread in futex(2), which is call 202 or 98, for this word?
waits_for() {
	read -r number word _ <"/proc/$target/task/$1/syscall" &&
		{ [ "$number" = 202 ] || [ "$number" = 98 ]; } && [ "$word" = "$2" ]
}

expect_deadlock() {
	[ "$status" -eq 4 ] || complain "$what: exit status $status, wanted 4"
	expect_in "$out" 'Deadlock of 2 threads'
	grep -q 'waits for GIL, held by' "$out" && grep -q 'waits for mutex .*, held by' "$out" &&
		grep -q 'keeper' "$out" && grep -q 'taker' "$out" && return
	complain "$what: the deadlock is not told whole"
	sed -n 's/^/    /; 1,20p' "$out"
}

# keeper() asks for the lock every 5 ms: a core that found it outside of its wait, as one may,
# is of no use here, and one that found it awake in it is made, of x86-64.
take_core() {
	core=$dir/core.$target
	for _ in 1 2 3 4 5 6 7 8; do
		gcore -o "$dir/core" "$target" >/dev/null 2>&1 && [ -s "$core" ] || return 1
		[ "$(uname -m)" = x86_64 ] || return 0
		cp "$core" "$dir/returning"
		"$judging" -B "$SOURCE/tests/live/core_returns.py" "$dir/returning" "$keeper"
		case $? in
		0) return 0 ;;
		3) ;;
		*) break ;;
		esac
	done
	complain "$version: of no core file can be made what is wanted"
	return 1
}

check_core() {
	command -v gcore >/dev/null 2>&1 && take_core || return
	run dump --core "$core"
	what="$version: dump of a core file"
	expect_deadlock
	if [ -e "$dir/returning" ]; then
		run dump --core "$dir/returning"
		what="$version: dump of a core file, of a thread about to ask for the lock again"
		expect_deadlock
	fi
	rm -f "$dir/core.$target" "$dir/returning"
}

check() {
	start_python "$SOURCE/tests/live/targets/python_deadlock.py"
	read -r taker keeper mutex <"$says"
	until waits_for "$taker" "$mutex"; do
		kill -0 "$target" 2>/dev/null || break
	done

	run dump -p "$target"
	what="$version: dump"
	expect_deadlock
	run -p "$target" -d 0.5
	what="$version: report"
	expect_status 0
	expect_in "$err" 'deadlock'
	grep -q 'GIL' "$out" || complain "$what: nothing of the GIL"
	check_core
	kill -KILL "$target" 2>/dev/null
	wait "$target" 2>/dev/null
	exec 5>&- 6<&-
}

# The first and the last of them stand for all.
pythons=$(printf '%s\n' $pythons | sed -n '1p; $p' | sort -u)
each_python check
finish
