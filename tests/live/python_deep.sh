#!/bin/sh
# SPDX-License-Identifier: MIT
# A stack with more Python functions than are read is incomplete: it is counted as such, and the exit
# status is 1. One with fewer is whole.
. "${SOURCE:?}/tests/live/python_common.sh"

program='import sys
def sink(left):
    if left > 0:
        sink(left - 1)
    else:
        print("ready", flush=True)
        sys.stdin.read()
sys.setrecursionlimit(5000)
sink(int(sys.argv[1]))
'

# Samples a process whose main thread sleeps below this number of functions.
sample() {
	start_python -c "$program" "$1"
	until grep -q '^State:.S' "/proc/$target/status"; do sleep 0.01; done
	run -f json -o "$dir/report" -p "$target" -d 0.2 --stack-size 8M
	end_python
	what="$version, $1 functions: $what"
}

deep() {
	# Up to 3.10 each function has native frames of its own: hence the size of the copied stack.
	sample 1500
	expect_status 0
	sample 2200
	expect_status 1
	expect_err 'stacks are not whole'
	what="the report of $what"
	grep -q '"\[truncated: deeper than the limit\]": *[1-9]' "$dir/report" ||
		complain "$what does not count the stack"
	grep -q 'python: deeper than what is read' "$dir/report" ||
		complain "$what has no frame that says it"
}

each_python deep
finish
