#!/bin/sh
# SPDX-License-Identifier: MIT
# When the target has gone and its process id serves another program, nothing of that one is
# sampled, and nothing is done to it.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

last=/proc/sys/kernel/ns_last_pid
if ! [ -w "$last" ]; then
	echo "the next process id cannot be chosen here ($last)"
	exit 77
fi

actor park
pid=$actor
file=$dir/x.folded
begin -p "$pid" -r 1000 -o "$file"
until_sampled
end_actor "$pid"

# Others start processes, too: the id may be taken a moment before we ask for it.
tries=0
while [ "$tries" -lt 500 ]; do
	echo $((pid - 1)) >"$last"
	sleep 1000 &
	stranger=$!
	actors="$actors $stranger"
	[ "$stranger" -eq "$pid" ] && break
	end_actor "$stranger"
	tries=$((tries + 1))
done
end_begun
if [ "$stranger" -ne "$pid" ]; then
	echo "no second process got the id $pid"
	exit 77
fi
expect_status 0
expect_in "$file" act_park
expect_not_in "$file" nanosleep
expect_unharmed "$pid" RS
finish
