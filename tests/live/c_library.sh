#!/bin/sh
# SPDX-License-Identifier: MIT
# The time of a cancellable call belongs to the function that the program called: functions of the C
# library that only make the system call are left out, those of glibc 2.41 and later, which a program
# imitates, and those of musl, which have no names. Where no function of the C library has a name,
# the time belongs to the one that the program called.
. "${SOURCE:?}/tests/cli/common.sh"

# leaf_is FUNCTION…: each stack in $out ends with one of these functions, and each function ends a
# stack.
leaf_is() {
	sed 's/ [0-9]*$//; s/.*;//' "$out" | sort -u >"$dir/leaf"
	printf '%s\n' "$@" | sort -u >"$dir/wanted"
	diff "$dir/wanted" "$dir/leaf" >"$dir/diff" || complain "leaf functions: $(cat "$dir/diff")"
}

# build COMPILER FLAG…: makes the program $ACTOR.
build() {
	"$@" -g -O1 -fno-optimize-sibling-calls -o "$dir/program" \
		"$SOURCE/tests/live/targets/cancel_calls.c" -pthread || finish
	ACTOR=$dir/program
}

needs_ptrace

if [ "$(uname -m)" = x86_64 ] && command -v cc >/dev/null; then
	build cc -DOWN_PLUMBING
	actor
	run -p "$actor" -d 1 -f folded -o -
	expect_status 0
	grep -q ';reader;read [0-9]*$' "$out" || complain 'glibc: no stack ends in reader;read'
	! grep -q 'syscall_cancel' "$out" || complain 'glibc: plumbing is shown'
	run -p "$actor" -d 1 -f folded --interpreter-frames -o -
	grep -q ';read;__syscall_cancel;__internal_syscall_cancel;__syscall_cancel_arch ' "$out" ||
		complain 'glibc: --interpreter-frames does not show the plumbing'

	cc -g -O1 -shared -fPIC -s -o "$dir/libc-2.99.so" \
		"$SOURCE/tests/live/targets/cancel_library.c" || finish
	cc -g -O1 -fno-optimize-sibling-calls -DOWN_LIBRARY -o "$dir/program" \
		"$SOURCE/tests/live/targets/cancel_calls.c" \
		"$dir/libc-2.99.so" -Wl,-rpath,"$dir" -pthread || finish
	actor
	run -p "$actor" -d 1 -f folded -o -
	expect_status 0
	# One frame for three: that of the function to which the exported one has jumped.
	grep -q ';reader;libc-2.99.so+0x[0-9a-f]* [0-9]*$' "$out" ||
		complain "nameless library: $(grep reader "$out")"
fi

if ! command -v musl-gcc >/dev/null; then
	[ "$failed" = 0 ] || finish
	echo 'musl-gcc is missing'
	exit 77
fi
build musl-gcc
actor
run -p "$actor" -d 1 -f folded -o -
expect_status 0
grep -q ';reader;read [0-9]*$' "$out" || complain 'musl: no stack ends in reader;read'
grep -q 'main;poll [0-9]*$' "$out" || complain 'musl: no stack ends in main;poll'
! grep -q 'memset' "$out" || complain 'musl: memset is shown'
leaf_is read poll clock_nanosleep
# main() saves the frame pointer register, in which musl has argc.
build musl-gcc -fno-omit-frame-pointer
actor
run -p "$actor" -d 1 -f folded -o -
expect_status 0
grep -q 'main;poll [0-9]*$' "$out" || complain 'musl with frame pointers: no stack ends in main;poll'
leaf_is read poll clock_nanosleep
finish
