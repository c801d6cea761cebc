#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Several processes on the command line: lists, a name, descendants, control groups, and what cannot
# be sampled.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

start_actor park
one=$actor
start_actor park
two=$actor

run -q -p "$one,$two" -d 200ms --by process
expect_status 0
expect_in "$out" "2 processes: actor ($one, $two)"
expect_in "$out" "($one)"
expect_in "$out" "($two)"
run -q -p "$one" -p "$two,$one" -d 100ms -f json -o "$dir/x.json"
expect_status 0
expect_in "$dir/x.json" "\"pid\":$two,"

# One that is not there is named, and the others are sampled.
run -p "$one,4194304" -d 100ms
expect_status 1
expect_in "$err" 'left out: there is no process 4194304'
expect_in "$out" "actor ($one)"
run -p "4194304,4194303" -d 100ms
expect_status 2
expect_in "$err" 'left out: there is no process 4194303'
expect_in "$err" 'wallsample: there is no process 4194304'

# A name.
run -q --name actor -d 100ms
[ "$status" -ne 0 ] || complain 'two processes have the name, and one was sampled'
run -q --name actor --all -d 100ms
expect_status 0
expect_in "$out" "processes: "
run --all -p "$one" -d 100ms
expect_status 64
expect_in "$err" '--all goes with --name GLOB'
run --name no-such-name --all -d 100ms
expect_status 2
expect_in "$err" "no process matches the name 'no-such-name'"

# Groups and containers that are not there.
run --cgroup /no/such/group -d 100ms
expect_in "$err" "there is no cgroup '/no/such/group'"
run --container 12 -d 100ms
expect_status 64
run --container 0123456789abcdef -d 100ms
[ "$status" -ne 0 ] || complain 'there is no such container'
run causal -p "$one,$two"
expect_status 64
expect_in "$err" 'experiments are made with one process'

# One of several: the other is not in the output, and a list without a process names those there are.
run -q -p "$one,$two" -d 200ms --process "$two" -f json -o "$dir/x.json"
expect_status 0
expect_in "$dir/x.json" "\"tid\":$two,"
expect_not_in "$dir/x.json" "\"tid\":$one,"
run -p "$one,$two" -d 100ms --process 'nginx*,1'
expect_status 2
expect_in "$err" '--process selects no process; the processes are actor'
expect_in "$err" "($one), actor"
expect_empty "$out"
run record -q -p "$one,$two" -d 200ms -o "$dir/x.wsdb"
for command in report "diff $dir/x.wsdb"; do
	# shellcheck disable=SC2086  # two words
	run $command "$dir/x.wsdb" --process 'act*'
	expect_status 0
	# shellcheck disable=SC2086
	run $command "$dir/x.wsdb" --process none
	expect_status 2
	expect_in "$err" '--process selects no process; the processes are actor'
done
run diff "$dir/x.wsdb" "$dir/x.wsdb"
expect_in "$out" "Before    2 processes: actor ($one, $two), "
run diff "$SOURCE/tests/replay/recordings/workers.wsdb" "$SOURCE/tests/replay/recordings/workers.wsdb"
expect_in "$out" 'CPU time of processes in each second that passed (none changed beyond the margin)'
run info "$dir/x.wsdb"
expect_in "$out" 'Processes  2'
expect_in "$out" "           $two (actor) "
run report "$dir/x.wsdb" --exclude-process 'act*'
expect_status 2
expect_in "$err" '--exclude-process leaves no process; the processes are actor'

# A dump joins equal stacks.
run dump -p "$one,$two"
expect_status 0
expect_in "$out" "2 processes: actor ($one, $two); 2 threads"
expect_in "$out" '2 processes, actor park: 2 threads'
expect_in "$out" '2 threads of 2 processes, actor park: sleeping in '
run dump -p "$one,$two" --process "$two"
expect_status 0
expect_in "$out" "Thread $two (actor) of actor park ($two): sleeping in "
expect_not_in "$out" '2 threads'

# What is excluded by name when sampling.
run -p "$one" -d 100ms --exclude-process x
expect_status 64
expect_in "$err" '--exclude-process leaves out some of several processes'
run -p "$one,$two" -d 100ms --exclude-process 'x,act*'
expect_status 2
expect_in "$err" 'no process is left'
(exec -a other sleep 60) &
other=$!
until [ "$(tr '\0' ' ' <"/proc/$other/cmdline")" = 'other 60 ' ]; do
	kill -0 "$other" || { complain 'the other process has ended'; finish; }
done
for order in "$one,$other" "$other,$one"; do
	run -q -p "$order" -d 100ms --exclude-process 'oth*'
	expect_status 0
	expect_in "$out" "actor ($one)"
	expect_in "$out" 'Left out: 1 excluded process'
	expect_not_in "$out" "$other"
done
run -q -p "$one,$other" -d 100ms --exclude-process other --full
expect_in "$out" 'Excluded  1 process not sampled, '
run dump -p "$one,$other" --exclude-process other
expect_status 0
expect_in "$out" 'Excluded: 1 process not sampled, '
run record -q -p "$one,$two,$other" -d 100ms --exclude-process other -o "$dir/y.wsdb"
run info "$dir/y.wsdb"
expect_in "$out" 'Excluded   1 process not sampled, '
run record -q -p "$one,$other" -d 100ms -o "$dir/y.wsdb"
run report "$dir/y.wsdb" --exclude-process oth*
expect_in "$out" 'Left out: 1 excluded process'
run report "$dir/y.wsdb" --exclude-process oth* --full
expect_in "$out" 'Excluded  1 recorded process, left out of this report with '
kill "$other"

# Descendants of a command. Its exit status is said as without them.
run -q --children -f json -o "$dir/x.json" -- sh -c 'sleep 0.3 & sleep 0.3 & wait; exit 7'
expect_status 0
[ "$(grep -c '"name":"sleep","command_line"' "$dir/x.json")" -ge 2 ] || complain "the children are not there"
# Before the command is executed its process has the name of wallsample.
run --children -f folded -o "$dir/x.folded" -- /bin/sh -c 'sleep 0.2; exit 0'
expect_err 'sampling 1 process (sh ('
expect_err ' and its descendants)'
finish
