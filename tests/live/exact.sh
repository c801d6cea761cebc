#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that makes a system call of 0.1 us every 20 us is not shown in that call: its samples are
# exact, because the CPUs are occupied while the stops are requested.
. "${SOURCE:?}/tests/cli/common.sh"

ACTOR=$BUILD/tests/bench/bench_calls
# The call takes 1 % of the CPU time. Without occupied CPUs it had 38 % of the samples.
MOST=12
# A share of at least this number of samples is above MOST by chance once in a million runs.
LEAST_SAMPLES=300

needs_ptrace_of_actor() {
	run record -p "$actor" -d 3 -r 300 --max-overhead 100 --max-stopped 100 -o "$dir/calls.wsdb"
	if [ "$status" -eq 3 ]; then
		echo 'ptrace is not permitted here'
		exit 77
	fi
	expect_late_at_most "$dir/calls.wsdb"
}

# figure NAME: a figure of "cost", "running" in the report as JSON.
figure() {
	grep -o '"running": *{[^}]*}' "$dir/calls.json" | grep -o "\"$1\": *[0-9]*" |
		grep -o '[0-9]*$'
}

actor 20 getppid 60
needs_ptrace_of_actor
run report -f json -o "$dir/calls.json" "$dir/calls.wsdb"
expect_status 0
run report -f folded --state R -o "$dir/calls.folded" "$dir/calls.wsdb"
expect_status 0
run info "$dir/calls.wsdb"
grep -qE '^Exact +[0-9]+ of [0-9]+ samples of running threads$' "$out" ||
	complain "info does not give the number of exact samples"

samples=$(figure samples)
exact=$(figure exact)
if [ -z "$samples" ] || [ -z "$exact" ]; then
	complain "JSON has no number of exact samples"
	finish
fi
if [ "$samples" -lt "$LEAST_SAMPLES" ] || [ $((exact * 4)) -lt "$samples" ]; then
	echo "the machine is too busy: $exact of $samples samples are exact"
	exit 77
fi
share=$(awk '{ all += $NF } /;call(;|$| )/ { call += $NF }
	END { printf("%d", (all > 0) ? 100 * call / all : 100) }' "$dir/calls.folded")
[ "$share" -le "$MOST" ] || complain "the call has $share % of the samples, more than $MOST %"
finish
