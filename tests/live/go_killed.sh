#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample is killed while it holds a thread of a Go program, in the stop of a sample or while a
# dump holds all of them for the goroutines: the thread runs on.
. "${SOURCE:?}/tests/live/go_common.sh"

if ! python3 -B -c 'import subprocess' 2>/dev/null; then
	echo 'no python3 to watch it'
	exit 77
fi

killed() {
	what=$1
	shift
	python3 "$SOURCE/tests/live/killed.py" "$target" 10 "$WALLSAMPLE" "$@" \
		>"$out" 2>&1 </dev/null || complain "$what: $(cat "$out")"
}

build_go "$dir/demos" go_demos -ldflags '-s -w' || exit 77
rm -f "$dir/in" "$dir/line"
mkfifo "$dir/in" "$dir/line"
"$dir/demos" channel <"$dir/in" >"$dir/line" &
target=$!
actors="$actors $target"
exec 5>"$dir/in"
read -r said <"$dir/line"
[ "$said" = ready ] || complain "it said '$said'"
killed 'sampling' -p "$target" -d 60 -r 5000 --max-overhead 100 -q
killed 'a dump' dump -p "$target"
exec 5>&-
wait "$target" || complain 'it has not ended as it does by itself'
finish
