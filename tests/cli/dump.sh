#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample dump: each thread once, those in the same place together, in three formats; what it
# refuses; and the process is left as it was.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

usage 'no process is given' dump
usage 'no process is given' dump -- true
usage 'is not for wallsample dump' dump -d 3 -p 1
usage 'does not write the format html; it writes: text, folded, json' dump -f html -p 1
usage 'a dump is not a recording' dump -o x.wsdb -p 1

actor crowd 5
pid=$actor
run dump -p "$pid"
expect_status 0
expect_in "$out" "Process $pid (actor): 6 threads"
# the first one has said that it is there, and may not yet sleep
expect_in "$out" "Thread $pid (actor): "
expect_in "$out" '5 threads: sleeping in pause'
expect_in "$out" ' (crowd)'
expect_in "$out" '  pause (libc'
expect_empty "$err"
[ "$(grep -c '^Thread [0-9]\|^[0-9]* threads: ' "$out")" -eq 2 ] || complain "$what: not two groups"
expect_in "$out" ' wait for signal'
# the list of the group has each of them, in order
tids=$(sed -n '/^5 threads/,/^ *0  /p' "$out" | tr '\n' ' ' |
	tr -s ' ' | grep -oE '[0-9]+ \(crowd\)' | tr -cd '0-9\n')
sorted=$(printf '%s\n' $tids | sort -n | tr '\n' ' ')
[ "$(echo $tids)" = "$(echo $sorted)" ] || complain "$what: '$tids' is not in order"
[ "$(printf '%s\n' $tids | sort -u | wc -l)" -eq 5 ] || complain "$what: '$tids' are not five"
expect_unharmed "$pid" RS

run dump -p "$pid" -f folded
expect_status 0
[ "$(awk '{ sum += $NF } END { print sum }' "$out")" -eq 6 ] || complain "$what: not six threads"
expect_in "$out" 'pause 5'

run dump -p "$pid" -f folded --thread-name 'cro*' -X nothing_of_that_name
[ "$(awk '{ sum += $NF } END { print sum }' "$out")" -eq 5 ] || complain "$what: not five threads"
run dump -p "$pid" --thread-name 'cro*' --state R
expect_status 0
expect_in "$out" "Process $pid (actor): 0 threads"
expect_in "$out" 'Threads that options have left out are not shown.'
expect_err 'no sample is among those that were asked for'

run dump -q -p "$pid" -o "$dir/x.json"
expect_status 0
if command -v python3 >/dev/null 2>&1; then
	python3 - "$dir/x.json" "$pid" <<'PY' || complain "$what: x.json is not what it should be"
import json, sys
dump, pid = json.load(open(sys.argv[1])), int(sys.argv[2])
assert dump["schema"] == 1 and dump["target"]["pid"] == pid
threads = [t["tid"] for group in dump["groups"] for t in group["threads"]]
assert len(threads) == 6 and len(set(threads)) == 6 and pid in threads
crowd = [group for group in dump["groups"] if len(group["threads"]) == 5][0]
assert crowd["state"] == "sleeping" and crowd["syscall"] == "pause", crowd
assert {t["name"] for t in crowd["threads"]} == {"crowd"}
assert crowd["stack"][0]["function"].endswith("pause"), crowd["stack"][0]
PY
fi
usage "--tid: 1 is not a thread of process $pid" dump --tid 1 -p "$pid"

# For how long the threads have slept: at least as long as between these two readings of the clock,
# less what interrupts and a hypervisor took from the CPUs, and not longer than they exist.
if command -v python3 >/dev/null 2>&1 && grep -q exec_start /proc/self/sched 2>/dev/null; then
	python3 - "$WALLSAMPLE" "$pid" <<'PY' || complain 'the times of sleeps are wrong'
import json, os, subprocess, sys, time
program, pid = sys.argv[1], int(sys.argv[2])
tick = os.sysconf("SC_CLK_TCK")

def field(path, number):
    with open(path) as file:
        return file.read().rsplit(")", 1)[1].split()[number - 3]

def taken():
    """Seconds of all CPUs that interrupts, softirqs and a hypervisor have taken."""
    with open("/proc/stat") as file:
        words = file.readline().split()
    return sum(int(word) for word in words[6:9]) / tick

tasks = f"/proc/{pid}/task"
while any(field(f"{tasks}/{tid}/stat", 3) != "S" for tid in os.listdir(tasks)):
    time.sleep(0.01)
before, gone = time.clock_gettime(time.CLOCK_BOOTTIME), taken()
time.sleep(0.5)
slept = time.clock_gettime(time.CLOCK_BOOTTIME) - before
text = subprocess.run([program, "dump", "-q", "-f", "json", "-p", str(pid)], check=True,
                      stdout=subprocess.PIPE).stdout
after = time.clock_gettime(time.CLOCK_BOOTTIME)
for thread in (t for group in json.loads(text)["groups"] for t in group["threads"]):
    born = int(field(f"{tasks}/{thread['tid']}/stat", 22)) / tick
    seconds = thread["waiting_seconds"]
    # The times of /proc have the length of a tick as their resolution.
    assert slept - (taken() - gone) - 8 / tick <= seconds <= after - born + 2 / tick, \
        (slept, seconds, after - born)
PY
	run dump -p "$pid"
	expect_status 0
	grep -q '^5 threads: sleeping in pause, for [0-9.]*[a-z]' "$out" ||
		complain "$what: the group has no time"
	expect_in "$out" 'Threads: 0 running or waiting for a CPU, 6 blocked.'
fi
end_actor "$pid"

run dump -p "$pid"
expect_status 2
expect_err "there is no process $pid"

# one that runs is stopped, or not, as is asked for
actor busy
pid=$actor
run dump -p "$pid"
expect_status 0
expect_in "$out" "Thread $pid (actor): "
expect_in "$out" '0 stacks were read without a stop, 1 in a stop of '
expect_unharmed "$pid" R
run dump --nonblocking -p "$pid"
expect_status 0
expect_in "$out" '[running: not stopped]'
expect_in "$out" ', 0 in a stop.'
finish
