#!/bin/sh
# SPDX-License-Identifier: MIT
# `wallsample causal`: ticks find a system call that a program makes often as seldom as it runs.
. "${SOURCE:?}/tests/cli/common.sh"

# The program makes a call every 20 us that writes 4 KiB to memory; the call takes 4 to 6 % of its
# time. Stops alone find the call at 28 to 45 % of the ticks. One tick in 64 takes no CPU, and so
# finds the call that often.
MOST=15
# With at least this number of ticks, the share is above MOST by chance less than once in a million
# runs.
LEAST_TICKS=500

needs_ptrace
[ "$(nproc)" -ge 2 ] || { echo 'one CPU: the program cannot run beside a tick'; exit 77; }
skip_with_asan 'ticks take too long'
# Without a real-time class a busy CPU may not be taken in time.
if ! chrt -f 1 true 2>/dev/null; then
	echo 'a real-time class is not permitted here'
	exit 77
fi
ACTOR=$BUILD/tests/bench/bench_calls
actor 20 pwrite 60
run causal -p "$actor" --progress var:sink --select '^call$' --speedups 0,50 --tick 5ms -d 8s \
	-f json -q -o "$dir/calls.json"
if [ "$status" -gt 1 ]; then
	complain "status $status"
	finish
fi
sum() {
	grep -o "\"$1\": *[0-9]*" "$dir/calls.json" | awk -F: '{ sum += $2 } END { print sum + 0 }'
}
ticks=$(sum ticks)
chosen=$(sum chosen)
echo "$chosen of $ticks ticks found the call"
if [ "$ticks" -lt "$LEAST_TICKS" ]; then
	echo 'the machine is too busy'
	exit 77
fi
[ $((chosen * 100)) -le $((MOST * ticks)) ] || complain "ticks found the call too often"
finish
