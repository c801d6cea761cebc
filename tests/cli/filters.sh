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
run -d 300ms -p "$actor" --nonblocking --full
expect_status 0
expect_in "$out" 'Failed    none'
expect_in "$out" 'Unstopped '
expect_in "$out" 'as --nonblocking asks'

end_actor "$actor"

# Excluded threads are never stopped; their number and CPU time are told, as the kernel has them.
actor noise
noise=$actor
tids=$said

# json PATH: a number of the JSON report in $out
json() {
	python3 -c 'import json, sys
value = json.load(open(sys.argv[1]))
for key in sys.argv[2].split("."):
    value = value[key]
print(value)' "$out" "$1"
}

# CPU time of the noise so far, in ns
noise_cpu() {
	sum=0
	for tid in $tids; do
		read -r ns _ <"/proc/$noise/task/$tid/schedstat"
		sum=$((sum + ns))
	done
	echo "$sum"
}

# How often the threads of the noise left their CPUs by themselves. They compute for ever without a
# system call: a stop by ptrace counts as such a switch, besides it only what a kernel does rarely,
# such as a move of a page.
noise_stops() {
	sum=0
	for tid in $tids; do
		count=$(sed -n 's/^voluntary_ctxt_switches:[[:space:]]*//p' \
			"/proc/$noise/task/$tid/status")
		sum=$((sum + count))
	done
	echo "$sum"
}

stops=$(noise_stops)
run -d 500ms -p "$noise" -f folded
expect_in "$out" compute_forever
[ "$(noise_stops)" -gt $((stops + 2)) ] || complain 'the switches do not show that the noise was stopped'

# The third thread sleeps in pause(), where it is unwound without a stop.
until grep -q '^State:[[:space:]]*S' "/proc/$noise/status"; do
	kill -0 "$noise" || { complain 'the noise has ended'; finish; }
	sleep 0.01
done

for globs in '--exclude-thread noise-*' '--exclude-thread=other,noise-[12]' \
	'--exclude-thread noise-1 --exclude-thread noise-2'; do
	stops=$(noise_stops)
	before=$(noise_cpu)
	# shellcheck disable=SC2086  # words
	run -d 300ms -p "$noise" -f json $globs
	after=$(noise_cpu)
	expect_status 0
	expect_not_in "$out" noise-
	expect_not_in "$out" compute_forever
	[ "$(noise_stops)" -le $((stops + 2)) ] || complain "$what: excluded threads were stopped"
	command -v python3 >/dev/null 2>&1 || continue
	[ "$(json cost.excluded.threads)" = 2 ] || complain "$what: not 2 threads are excluded"
	[ "$(json cost.stacks_stopped)" = 0 ] ||
		complain "$what: something was stopped"
	cpu=$(json cost.excluded.cpu_ns)
	# The counters of running threads are up to a tick of 4 ms old, in each reading.
	[ "$cpu" -le $((after - before + 20000000)) ] ||
		complain "$what: $cpu ns of CPU time, but only $((after - before)) were used"
	whole=$(json cost.target_cpu_ns)
	# The process has no other thread that computes; its counter is not read at the same moment.
	[ $((cpu * 2 + 20000000)) -ge "$whole" ] ||
		complain "$what: $cpu ns of CPU time, of $whole that all threads used"
done
run -d 200ms -p "$noise" --exclude-thread 'noise-*'
expect_status 0
expect_in "$out" 'Left out: 2 excluded threads'
run -d 200ms -p "$noise" --exclude-thread 'noise-*' --full
expect_status 0
expect_in "$out" 'Excluded  2 threads not sampled, '
run dump -p "$noise" --exclude-thread 'noise-*'
expect_status 0
expect_in "$out" 'Excluded: 2 threads not sampled, '
expect_not_in "$out" noise-
run -d 100ms -p "$noise" --exclude-thread '*'
expect_status 2
expect_err 'nothing was sampled: no thread of process'
expect_err '(--exclude-thread)'

# In a recording of all threads the filter leaves out what was recorded, and says so.
run record -q -d 300ms -p "$noise" -o "$dir/all.wsdb"
run report "$dir/all.wsdb" --exclude-thread 'noise-*'
expect_status 0
expect_in "$out" 'Left out: 2 excluded threads'
run report "$dir/all.wsdb" --exclude-thread 'noise-*' --full
expect_status 0
expect_in "$out" 'Excluded  2 recorded threads, left out of this report with '
expect_not_in "$out" compute_forever
run record -q -d 300ms -p "$noise" -o "$dir/part.wsdb" --exclude-thread 'noise-*'
run report "$dir/part.wsdb" --full
expect_status 0
expect_in "$out" 'Excluded  2 threads not sampled, '
run info "$dir/part.wsdb"
expect_in "$out" 'Excluded   2 threads not sampled, '

# A thread that takes another name is sampled from then on.
actor rename
begin -d 500ms -r 1000 -p "$actor" -f folded --exclude-thread second
kill -USR1 "$actor"
end_begun
expect_status 0
expect_in "$out" renamed_thread
end_actor "$actor"

expect_unharmed "$noise" S
expect_unharmed "$pid" S
finish
