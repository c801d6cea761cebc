#!/bin/sh
# SPDX-License-Identifier: MIT
# Two wallsamples on one process: where one has stopped a thread, the other asks again, and what it
# misses is no failure.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

mkfifo "$dir/crowd"
"$BUILD/tests/live/bin/crowd" 4 2 4 <"$dir/crowd" >"$dir/ready" &
target=$!
actors="$actors $target"
exec 5>"$dir/crowd"
until [ -s "$dir/ready" ]; do sleep 0.1; done

for number in 1 2; do
	"$WALLSAMPLE" -q -p "$target" -r 200 -d 4 --max-overhead 100 --max-stopped 100 -f json \
		-o "$dir/$number.json" 2>"$dir/$number.err" </dev/null &
	eval "sampler$number=\$!"
done
for number in 1 2; do
	eval "wait \"\$sampler$number\""
	status=$?
	what="wallsample $number"
	out=$dir/$number.json err=$dir/$number.err
	[ "$status" -eq 0 ] || expect_late_at_most "$out"
	expect_not_in "$out" '[failed: not permitted]'
done
grep -l '^TracerPid:	[1-9]' /proc/"$target"/task/*/status && complain 'a thread is still traced'
exec 5>&-
finish
