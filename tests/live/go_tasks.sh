#!/bin/sh
# SPDX-License-Identifier: MIT
# Goroutines are what the program itself says of them, in each kind of program, on one processor of
# Go's and on many: those that wait, those that run, and those that are in C.
. "${SOURCE:?}/tests/live/go_common.sh"

check() {
	what=$1
	shift
	if "$BUILD/tests/live/go_tasks" "$@" >"$out" 2>&1; then
		printf '%s: %s\n' "$what" "$(tail -n 1 "$out")"
	else
		complain "$what: goroutines are not what they are"
		cat "$out"
	fi
}

# While the runtime moves a running goroutine to a smaller stack, frame pointers on the new one lead
# to the old one; nothing in the goroutine says so. Where it grows, its status does.
export GODEBUG=gcshrinkstackoff=1

tasks() {
	check "$1, waiting" "$2" quiet
	for processors in 1 8; do
		export GOMAXPROCS=$processors
		check "$1, $processors at once" "$2" busy 2
	done
	GODEBUG=$GODEBUG,asyncpreemptoff=1 check "$1, without signals" "$2" busy 2
	unset GOMAXPROCS
}

# Without sections, as some packers leave it: e_shoff, e_shnum and e_shstrndx are zero.
bare() {
	cp "$dir/stripped" "$dir/bare"
	dd if=/dev/zero of="$dir/bare" bs=1 seek=40 count=8 conv=notrunc 2>"$err"
	dd if=/dev/zero of="$dir/bare" bs=1 seek=60 count=4 conv=notrunc 2>"$err"
	check 'bare, waiting' "$dir/bare" quiet
	check 'bare, running' "$dir/bare" busy 2
}

# What the table of layouts says is what the program says.
layout() {
	version=$("$go" version "$dir/plain" | sed 's/.*go1\.\([0-9]*\).*/\1/')
	patch=$("$go" version "$dir/plain" | sed -n 's/.*go1\.[0-9]*\.\([0-9]*\).*/\1/p')
	"$BUILD/tools/go-layout" -c "$version" "${patch:-0}" "$dir/plain" ||
		complain 'the table of layouts is not right'
}

# A version that is not in the table has what its DWARF says, or one line.
unknown() {
	build_go "$dir/unknown" go_tasks -ldflags '-X runtime.buildVersion=go1.99.1' || return
	check 'unknown version, waiting' "$dir/unknown" quiet
	build_go "$dir/unknown" go_tasks -ldflags '-s -w -X runtime.buildVersion=go1.99.1'
	"$BUILD/tests/live/go_tasks" "$dir/unknown" quiet >"$out" 2>"$err" </dev/null
	[ "$(grep -c 'version 1.99.1 is not known' "$out")" = 1 ] ||
		complain 'unknown version: nothing says so, or too much'
}

each_go tasks go_tasks
unknown
[ -e "$dir/stripped" ] && bare
[ -e "$dir/plain" ] && layout
export CGO_ENABLED=1
build_go "$dir/foreign" go_foreign && check 'in C' "$dir/foreign" foreign
build_go "$dir/foreign-stripped" go_foreign -ldflags '-s -w' &&
	check 'in C, stripped' "$dir/foreign-stripped" foreign
finish
