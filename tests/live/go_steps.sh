#!/bin/sh
# SPDX-License-Identifier: MIT
# The stack of a goroutine is right after each single instruction: of programs with and without
# symbols, at a fixed address and at any.
. "${SOURCE:?}/tests/live/go_common.sh"

# This is for those who look for a bug.
steps=${GO_STEPS:-20000}

steps() {
	rm -f "$dir/line"
	mkfifo "$dir/line"
	GOMAXPROCS=1 GODEBUG=asyncpreemptoff=1 "$2" >"$dir/line" &
	target=$!
	actors="$actors $target"
	read -r said <"$dir/line"
	[ "$said" = ready ] || complain "$1: said '$said'"
	if "$BUILD/tests/live/go_steps" "$target" "$steps" >"$out" 2>&1; then
		printf '%s: %s\n' "$1" "$(tail -n 1 "$out")"
	else
		complain "$1: after single instructions stacks are wrong"
		cat "$out"
	fi
	kill -KILL "$target"
}

case $(uname -m) in
x86_64) ;;
*)
	echo 'calls and returns are told by the instructions of x86-64'
	exit 77
	;;
esac
each_go steps go_calls
finish
