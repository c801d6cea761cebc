#!/bin/sh
# SPDX-License-Identifier: MIT
# INT, TERM and HUP end sampling and write what there is, a second one leaves at once, USR1
# writes a snapshot and goes on. The target runs on, whatever was sent.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

actor busy
pid=$actor
file=$dir/x.folded

# started by nohup(1) we cannot have it any other way, see below: HUP is signal 1, bit 0
signals='INT TERM HUP'
case $(grep '^SigIgn' /proc/$$/status) in *[13579bdf]) signals='INT TERM' ;; esac
for signal in $signals; do
	begin -p "$pid" -r 1000 -o "$file"
	until_sampled
	[ -s "$file" ] || complain "$what: no snapshot in $file"
	rm -f "$file"
	kill -"$signal" "$begun"
	end_begun
	what="$what and $signal"
	expect_status 0
	expect_empty "$out"
	expect_err 'wrote folded stacks to'
	expect_not_in "$err" 'so far'
	grep -qE ' [0-9]+$' "$file" || complain "$what: nothing in $file"
	expect_unharmed "$pid" R
done

# to stdout the snapshot is a report of its own
begin -p "$pid" -r 1000 -o "$file" -f text
until_sampled
end=$(grep -c '^WHY IT IS SLOW' "$file")
kill -TERM "$begun"
end_begun
[ "$end" -eq 1 ] || complain "$what: no report as a snapshot"

# nohup(1): who asked to survive the end of the terminal does
(
	trap '' HUP
	begin -p "$pid" -r 1000 -o "$file"
	until_sampled
	kill -HUP "$begun"
	until_sampled
	kill -TERM "$begun"
	end_begun
	expect_status 0
	exit "$failed"
) || complain 'HUP ended what nohup protects'

# A report that nobody takes away: the first signal ends sampling, then the program
# hangs in write(2), and the second one gets it out.
mkfifo "$dir/full"
exec 5<>"$dir/full"
dd if=/dev/zero of="$dir/full" bs=4096 count=100000 oflag=nonblock 2>"$dir/dd"
begin -v -p "$pid" -r 1000 -o "$dir/full"
kill -INT "$begun"
until_said 'rate:'
kill -INT "$begun"
end_begun
what='wallsample and INT twice'
expect_status 130
exec 5<&-
expect_unharmed "$pid" R

# the end of the target is the end of sampling; what there is, is written
begin -p "$pid" -r 1000 -o "$file"
until_sampled
end_actor "$pid"
end_begun
what='wallsample and the end of its target'
expect_err "process $pid has ended"
expect_err 'wrote folded stacks to'
[ -s "$file" ] || complain "$what: nothing in $file"
[ "$status" -le 1 ] || complain "$what: status $status"

finish
