#!/bin/sh
# SPDX-License-Identifier: MIT
# A run has a limit of its memory, which a started command does not inherit. A run that reaches it
# says so, and leaves no thread stopped or traced.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace
skip_with_asan 'there is no limit'

# limit_of PID: its limit of private memory, in bytes
limit_of() {
	awk '/^Max data size/ { print $4 }' "/proc/$1/limits"
}

own=$(limit_of self)
memory=$(awk '$1 == "MemTotal:" { print $2 * 1024 }' /proc/meminfo)

actor busy
begin -p "$actor" -d 60 -o "$dir/report.txt"
# The limit is set before the run says that it samples.
found=$(limit_of "$begun")
case $found in
*[!0-9]* | '') complain "the limit is '$found'" ;;
*) awk "BEGIN { exit !($found <= $memory + 268435456) }" ||
	complain "the limit is $found bytes of $memory" ;;
esac
kill -INT "$begun"
end_begun

# In a control group with a memory limit. Left out if no such group can be made, or if less than
# twice the limit is available on the machine.
group=
most=1073741824
available=$(awk '$1 == "MemAvailable:" { print $2 * 1024 }' /proc/meminfo)
for folder in /sys/fs/cgroup/memory /sys/fs/cgroup; do
	made=$folder/wallsample-test-$$
	mkdir "$made" 2>/dev/null || continue
	for file in "$made/memory.limit_in_bytes" "$made/memory.max"; do
		[ -z "$group" ] && [ -e "$file" ] && echo $most >"$file" && group=$made
	done
	[ -z "$group" ] || break
	rmdir "$made"
done
if [ -z "$group" ]; then
	echo 'left out: no control group with a memory limit can be made here'
elif awk "BEGIN { exit !($available > 2 * $most) }"; then
	plain=$WALLSAMPLE
	printf '#!/bin/sh\necho $$ >"%s/cgroup.procs" && exec "%s" "$@"\n' "$group" "$plain" >"$dir/grouped"
	chmod +x "$dir/grouped"
	WALLSAMPLE=$dir/grouped
	begin -p "$actor" -d 60 -o "$dir/report.txt"
	found=$(limit_of "$begun")
	awk "BEGIN { exit !($found > 0 && $found < $most) }" ||
		complain "in a group with a limit of $most bytes the limit is $found"
	kill -INT "$begun"
	end_begun
	WALLSAMPLE=$plain
else
	echo 'left out: less than 2 GiB of memory is available'
fi
# The helper processes of wallsample end with it.
for turn in 1 2 3 4 5 6 7 8 9 10; do
	[ -z "$group" ] || ! rmdir "$group" 2>/dev/null || group=
	[ -n "$group" ] || break
	sleep 1
done
[ -z "$group" ] || complain 'the group has processes that have not ended'

run -d 0.2 -o "$dir/report.txt" -- sh -c 'awk "/^Max data size/ { print \$4 }" /proc/self/limits; sleep 0.3'
[ "$(cat "$out")" = "$own" ] || complain "the command has the limit $(cat "$out"), wanted $own"

# With a limit that is reached as soon as the heap grows: when there are many new threads.
command -v prlimit >/dev/null || finish
end_actor "$actor"
actor grow 4000
begin -p "$actor" -d 60 -o "$dir/report.txt"
prlimit --pid "$begun" --data=1 || complain 'cannot set a limit'
kill -USR1 "$actor"
end_begun
[ "$status" -eq 2 ] || complain "exit status $status with a limit of 1 byte"
grep -q '^wallsample: out of memory: its limit (RLIMIT_DATA) is 0 MiB$' "$err" ||
	complain "with a limit of 1 byte: $(cat "$err")"
for file in /proc/"$actor"/task/*/status; do
	grep -q '^TracerPid:	0$' "$file" || complain "$file: still traced"
	grep -q '^State:	[tT]' "$file" && complain "$file: still stopped"
done
end_actor "$actor"
finish
