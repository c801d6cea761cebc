#!/bin/sh
# SPDX-License-Identifier: MIT
# Go's functions have the names, files, lines and inlined functions that the runtime itself gives
# them, in each kind of program; and stripped programs those that the others have.
. "${SOURCE:?}/tests/live/go_common.sh"

# What a dump says of the sleeping thread against what the program says. The runtime writes
# [...] for the types of generic functions.
shape() {
	rm -f "$dir/line"
	mkfifo "$dir/line"
	"$2" >"$dir/line" &
	target=$!
	actors="$actors $target"
	sed '/^ready$/d' "$dir/line" >"$dir/said"
	run dump -p "$target" -f json -o "$dir/dump"
	expect_late_at_most "$dir/dump"
	kill -KILL "$target"
	tr '{' '\n' <"$dir/dump" | sed -n 's/.*"function": *"\([^"]*\)".*"file": *"\([^"]*\)".*"line": *\([0-9]*\).*/\1 \2:\3/p' |
		sed 's/\[go\.shape[^ ]*\]/[...]/' >"$dir/found"
	# The line of the innermost function is that of a later call.
	first=$(head -n 1 "$dir/said")
	sed -n "s|^${first%:*}:[0-9]*\$|$first|; /^main.asleep /,/^runtime.goexit /p" "$dir/found" \
		>"$dir/stack"
	expect_in "$dir/said" 'main.generic'
	if ! cmp -s "$dir/said" "$dir/stack"; then
		complain "$1: a stack is not what the runtime says"
		diff "$dir/said" "$dir/stack"
	fi
}

compare() {
	what=$1
	shift
	if "$BUILD/tests/live/go_compare" "$@" >"$out" 2>&1; then
		printf '%s: %s\n' "$what" "$(tail -n 1 "$out")"
	else
		complain "$what: names differ"
		cat "$out"
	fi
}

each_go shape go_shapes
if [ -e "$dir/plain" ] && [ -e "$dir/stripped" ]; then
	compare DWARF "$dir/plain"
	compare stripped "$dir/plain" "$dir/stripped"
fi
finish
