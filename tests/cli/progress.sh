#!/bin/sh
# SPDX-License-Identifier: MIT
# The progress line is drawn on a terminal alone, fits it, and is gone in the end.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor park
pid=$actor
return=$(printf '\r')

# on_terminal COLUMNS WORDS…: every line and every redrawn one is a line of $err
on_terminal() {
	columns=$1
	shift
	what="wallsample $* on a terminal of $columns columns"
	"$BUILD/tests/cli/actor" terminal "$columns" "$WALLSAMPLE" -p "$pid" -d 500ms "$@" \
		>"$out" 2>"$dir/raw" </dev/null
	status=$?
	tr "$return" '\n' <"$dir/raw" >"$err"
	expect_status 0
}

drawn='^wallsample: [0-9.]* s of 500 ms, [0-9,]* samples* of 1 thread'
on_terminal 80
grep -q "$drawn (Ctrl-C ends) *\$" "$err" || complain "$what: no progress in $(cat "$err")"
# the last thing of all are spaces that hide it
[ -z "$(tail -n 1 "$err" | tr -d ' ')" ] || complain "$what: left behind $(tail -n 1 "$err")"
on_terminal 60
grep -q "$drawn *\$" "$err" || complain "$what: no progress in $(cat "$err")"
on_terminal 20
widest=$(grep '^wallsample: [0-9]' "$err" | wc -L)
[ "$widest" -eq 19 ] || complain "$what: progress is $widest columns wide"
grep -q '^ \{20\}' "$err" && complain "$what: erased more than there is"

on_terminal 80 -q
expect_empty "$err"
# what else is said on the terminal would be mixed up with it
on_terminal 80 -v
grep -q "$drawn" "$err" && complain "$what: progress in $(cat "$err")"

run -p "$pid" -d 500ms
expect_status 0
grep -q "$drawn" "$err" && complain "$what: progress in $(cat "$err")"
grep -q "$return" "$err" && complain "$what: a line was redrawn where nobody looks"

finish
