#!/bin/sh
# SPDX-License-Identifier: MIT
# -I, -X, --tid, --thread-name, --state and -t select what is written; what nobody asked for
# is told as such.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor thread
pid=$actor
second=$said

# stacks WORDS…
stacks() {
	run -d 100ms -p "$pid" -f folded "$@"
}

stacks
expect_status 0
expect_in "$out" act_thread
expect_in "$out" second_thread
stacks -I '^second_'
expect_status 0
expect_in "$out" second_thread
expect_not_in "$out" act_thread
stacks -X '^second_|^no_such$'
expect_status 0
expect_in "$out" act_thread
expect_not_in "$out" second_thread
stacks -I no_such_function
expect_status 0
expect_empty "$out"
expect_err 'no sample is among those that were asked for'

for words in "--tid $second" "--tid $second,1" "--tid=1 --tid=$second" '--thread-name sec*'; do
	# shellcheck disable=SC2086  # two words each
	stacks $words
	expect_status 0
	expect_in "$out" second_thread
	expect_not_in "$out" act_thread
done
stacks --tid 1
expect_status 64
expect_err "1 is not a thread of process $pid"
stacks --thread-name 'no-such-*'
expect_status 2
expect_err 'nothing was sampled: no thread of process'
expect_empty "$out"

# a thread may take its name long after it was first seen
actor rename
begin -d 500ms -r 1000 -p "$actor" -f folded --thread-name renamed
kill -USR1 "$actor"
end_begun
expect_status 0
expect_in "$out" renamed_thread
expect_not_in "$out" wait_forever
end_actor "$actor"

stacks --state S
expect_status 0
expect_in "$out" second_thread
stacks --state running,q,D
expect_status 0
expect_empty "$out"

stacks -t
expect_status 0
expect_in "$out" "second-$second;"
expect_in "$out" "actor-$pid;"

# one frame a sample, which is its thread or its state
stacks --by thread -I '^second_'
expect_status 0
expect_in "$out" "second-$second "
expect_not_in "$out" ';'
expect_not_in "$out" actor
stacks --by state
expect_status 0
expect_in "$out" '[sleeping in '
expect_not_in "$out" act_thread
run -d 100ms -p "$pid" --by thread
expect_status 0
expect_in "$out" 'par  thread'
expect_in "$out" "actor-$pid"

# the text report has a table for each thread in place of the one
run -d 100ms -p "$pid" -t -n 2
expect_status 0
expect_in "$out" "Thread $second (second): "
expect_in "$out" "Thread $pid (actor): "
expect_in "$out" 'more functions'
expect_not_in "$out" 'the time of all threads together'

# what --nonblocking leaves alone on purpose is no failure
actor busy
run -d 300ms -p "$actor" --nonblocking
expect_status 0
expect_in "$out" 'Failed    none'
expect_in "$out" 'Unstopped '
expect_in "$out" 'as --nonblocking asks'

expect_unharmed "$pid" S
finish
