#!/bin/sh
# SPDX-License-Identifier: MIT
# A language that is added by one folder and one row (tests/live/toy) is in every report and filter:
# its frames, lock, markers, plumbing and titles, from a recording.
. "${SOURCE:?}/tests/cli/common.sh"

WALLSAMPLE=$BUILD/tests/live/toy/wallsample_toy
ACTOR=$BUILD/tests/live/bin/toy_program

needs_trace() {
	run record -p "$actor" -d 2 -r 200 --max-overhead 100 --max-stopped 100 -o "$dir/toy.wsdb"
	[ "$status" -ne 3 ] || exit 77
	expect_late_at_most "$dir/toy.wsdb"
}

# has WHAT PATTERN…: the report has a line for each extended regular expression.
has() {
	what=$1
	shift
	for pattern; do
		grep -qE -e "$pattern" "$out" || complain "$what: no line matches $pattern"
	done
}

lacks() {
	what=$1
	shift
	for pattern; do
		! grep -qE -e "$pattern" "$out" || complain "$what: a line matches $pattern"
	done
}

report() {
	run report "$@" "$dir/toy.wsdb"
	expect_status 0
}

run record --help
has "--runtime" 'julia, python, toy'

actor
needs_trace

report --full
has text '^Runtime   ToyVM 1\.0$' "^Your functions, including the native code" \
	'inner \(program\.toy\)' 'outer \(program\.toy\)' '\[toy: frames not readable\]' \
	"^The interpreter's lock \(big lock\)$" 'toy-[0-9]+ .*[1-9][0-9]*\.[0-9]+%$' \
	'Lock holders' 'toy_spin \(toy_program\)'
lacks text 'toy_execute' 'toy_call' 'execute_instruction' 'toy_thread_main'

report -f folded -o -
has folded '^main;outer;inner;toy_spin [0-9]+$' '^main;outer;inner;toy_lock_take;' \
	'^\[toy: frames not readable\];lost;pause [0-9]+$'
lacks folded 'toy_execute' 'toy_call'

report -f folded --interpreter-frames -o -
has "with plumbing" 'toy_thread_main;toy_execute;main;execute_instruction;toy_call;toy_execute;outer;'

report -f folded --native=only -o -
has "native only" 'toy_execute;execute_instruction;toy_lock_take' 'toy_spin'
lacks "native only" ';outer;' ';inner;' '\[toy: '

report -f folded --native=none -o -
has "no native frames" '^main;outer;inner [0-9]+$'
lacks "no native frames" 'toy_spin'

report -f folded --gil=has -o -
has "holders" '^main;outer;inner;toy_spin '
lacks "holders" 'lost'

report -f folded --gil=wait -o -
has "waiters" '^main;outer;inner;toy_lock_take;'
lacks "waiters" 'toy_spin' 'lost'

report -f folded --by gil -o -
has "states of the lock" '^\[has GIL\] [0-9]+$' '^\[GIL wait\] [0-9]+$'

report -f svg -o -
has SVG '<g class="p"><title>inner' '">Toy</text>'

report -f pprof -o "$dir/toy.pb.gz"
gzip -dc "$dir/toy.pb.gz" | tr -c '[:print:]' '\n' >"$out"
has pprof '^inner' '/srv/program\.toy' 'frames not readable'
lacks pprof 'toy_execute'

run report -f html -o "$dir/toy.html" "$dir/toy.wsdb"
if [ "$status" -eq 0 ]; then
	cp "$dir/toy.html" "$out"
	has HTML '<span class="swatch p"></span>Toy</li>' 'inner \(program\.toy\)' 'big lock'
fi
finish
