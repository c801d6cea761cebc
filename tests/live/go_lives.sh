#!/bin/sh
# SPDX-License-Identifier: MIT
# Goroutines that come and go: those of a program that begins anew by exec, and those of requests,
# more than have a record each.
. "${SOURCE:?}/tests/live/go_common.sh"

build_go "$dir/lives" go_lives || exit 77

# record MODE: its report is in $out
record() {
	run record -o "$dir/$1.wsdb" --max-overhead 100 --max-stopped 100 -- "$dir/lives" "$1"
	[ "$status" -eq 1 ] || expect_status 0
	run report --full "$dir/$1.wsdb"
}

# has COUNT WHAT: "120 goroutines main.after"
has() {
	grep -q "^ *$1 $2 " "$out" && return
	complain "there are not $1 $2"
	grep goroutines "$out"
}

# What was known of the first program's says nothing of the second, in the same place.
record exec
has 80 'goroutines main.before'
has 120 'goroutines main.after'

# Threads that begin behind 10,000 goroutines are known by their ids; and goroutines that share a
# record do not each have a row of the recording at each tick, of which there are some 300.
record requests
has '' 'goroutines main.third'
grep -q '^ *[1-9][0-9]* *lives ' "$out" || complain 'there are no threads'
! grep -q '^ *0 *lives ' "$out" || complain 'there are threads without an id'
size=$(wc -c <"$dir/requests.wsdb")
[ "$size" -lt 2000000 ] || complain "the recording has $size bytes"
finish
