#!/bin/sh
# SPDX-License-Identifier: MIT
# --realtime: on a busy machine at least half of the samples of running threads are exact, and a
# function has its true share; a started command inherits neither the class nor the limit of CPU
# time.
. "${SOURCE:?}/tests/cli/common.sh"

ACTOR=$BUILD/tests/bench/bench_calls
# The program makes a call of 0.1 us every 20 us: 0.5 % of its time.
MOST=5
# With at least this number of samples, the share is above MOST by chance less than once in a
# million runs.
LEAST_SAMPLES=120

# figure NAME: a figure of "cost", "running" in the report as JSON.
figure() {
	grep -o '"running": *{[^}]*}' "$dir/calls.json" | grep -o "\"$1\": *[0-9]*" |
		grep -o '[0-9]*$'
}

run --realtime -d 0.1 -q -- cat /proc/self/limits /proc/self/stat
if grep -q 'refuses a real-time class\|scheduling class of its own' "$err"; then
	echo 'a real-time class is not permitted here'
	exit 77
fi
if [ "$status" -eq 3 ]; then
	echo 'ptrace is not permitted here'
	exit 77
fi
grep -q '^Max realtime timeout *unlimited' "$out" || complain "the command inherits a limit"
# Field 41 is the scheduling policy; the name of the command has no space.
[ "$(awk '/^[0-9]+ \(cat\)/ { print $41 }' "$out")" = 0 ] || complain "the command inherits a class"

for i in 1 2 3 4 5 6 7 8; do
	sh -c 'while :; do :; done' &
	actors="$actors $!"
done
actor 20 getppid 60
run record --realtime -p "$actor" -d 16 -r 100 --max-overhead 100 --max-stopped 100 -o "$dir/calls.wsdb"
expect_late_at_most "$dir/calls.wsdb"
run report -f json -o "$dir/calls.json" "$dir/calls.wsdb"
expect_status 0
run report -f folded --state R -o "$dir/calls.folded" "$dir/calls.wsdb"
expect_status 0
samples=$(figure samples)
exact=$(figure exact)
echo "$exact of $samples samples are exact"
if [ -z "$samples" ] || [ -z "$exact" ]; then
	complain "JSON has no number of exact samples"
	finish
fi
if [ "$exact" -lt "$LEAST_SAMPLES" ]; then
	echo "the machine is too busy"
	exit 77
fi
# 74 to 88 % are: a tick whose timer is late has no exact sample.
[ $((exact * 2)) -ge "$samples" ] || complain "fewer than half of the samples are exact"
share=$(awk '{ all += $NF } /;call(;|$| )/ { call += $NF }
	END { printf("%d", (all > 0) ? 100 * call / all : 100) }' "$dir/calls.folded")
# The program spins: it is never asleep.
run report -f folded --state S,D -o "$dir/asleep.folded" "$dir/calls.wsdb"
expect_status 0
! grep -qE ';(first|second|call)[; ]' "$dir/asleep.folded" ||
	complain "a spinning thread is asleep: $(head -3 "$dir/asleep.folded")"
[ "$share" -le "$MOST" ] || complain "the call has $share % of the samples, more than $MOST %"
finish
