#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample keeps few capabilities in a run, and with file capabilities does nothing that its user
# must not do with them.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	echo 'the test needs root and setpriv'
	exit 77
fi

# expect_rights WANTED: the effective and the permitted capabilities of all threads of $begun, and of
# its children other than the command, are not beyond WANTED
expect_rights() {
	expect_children 2
	# A new supervisor gives its rights up as soon as it runs.
	for turn in 1 2 3 4 5 6 7 8 9 10; do
		cat $(children "$begun") 2>/dev/null | grep -q '^NoNewPrivs:	0' || break
		sleep 1
	done
	for status in /proc/"$begun"/task/*/status $(children "$begun"); do
		for field in CapEff CapPrm; do
			found=$(awk -v field="$field:" '$1 == field { print $2 }' "$status")
			[ "$((0x$found & ~0x$1))" -eq 0 ] ||
				complain "$field in $status is $found, wanted nothing beyond $1"
		done
		grep -q 'NoNewPrivs:	1' "$status" || complain "$status: new rights are possible"
	done
	found=$(awk '$1 == "CapEff:" { print $2 }' "/proc/$begun/status")
	[ "$((0x$found & 0x80000))" -ne 0 ] || complain "CAP_SYS_PTRACE is not in $found"
}

# children PID: the status files of the supervisor, the keeper, and other processes of wallsample
children() {
	for child in $(cat /proc/"$1"/task/*/children); do
		case $(cat "/proc/$child/comm" 2>/dev/null) in
		ws-*) echo "/proc/$child/status" ;;
		esac
	done
}

# expect_children COUNT: waits until $begun has at least COUNT children
expect_children() {
	for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(children "$begun" | wc -l)" -lt "$1" ] || return
		sleep 1
	done
	complain "not $1 children, but: $(children "$begun")"
}

# CAP_DAC_READ_SEARCH 2, CAP_SYS_PTRACE 19, CAP_SYS_NICE 23, CAP_CHECKPOINT_RESTORE 40
few=10000880004
actor park
begin -p "$actor" -d 60 -o "$dir/own.txt"
expect_children 3 # the supervisor, ws-files, and after a second a keeper
expect_rights $few
[ "$(cat "/proc/$begun/oom_score_adj")" = 1000 ] || complain 'oom_score_adj is not 1000'
kill -INT "$begun"
end_begun
expect_late_at_most "$dir/own.txt"
[ -s "$dir/own.txt" ] || complain 'no report in a folder of root'

# When sampling has ended, no thread or process of wallsample has CAP_SYS_PTRACE or
# CAP_CHECKPOINT_RESTORE. The report is blocked by a full pipe while the test reads /proc.
few_of_report=800004
mkfifo "$dir/pipe"
exec 8<>"$dir/pipe"
dd if=/dev/zero of="$dir/pipe" bs=4096 oflag=nonblock 2>/dev/null # until the pipe is full
"$WALLSAMPLE" -p "$actor" -d 60 >"$dir/pipe" 2>"$err" </dev/null 8<&- &
begun=$!
expect_children 3
kill -INT "$begun"
for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	found=$(awk '$1 == "CapPrm:" { print $2 }' "/proc/$begun/status")
	[ "$((0x${found:-0} & 0x80000))" -ne 0 ] || break
	sleep 1
done
kill -0 "$begun" || complain 'wallsample has ended before its report was read'
for status in /proc/"$begun"/task/*/status $(children "$begun"); do
	found=$(awk '$1 == "CapPrm:" { print $2 }' "$status" 2>/dev/null)
	[ "$((0x${found:-0} & ~0x$few_of_report))" -eq 0 ] ||
		complain "after sampling $status has $found: $(head -n 1 "$status")"
done
cat <&8 >/dev/null &
reader=$!
wait "$begun" || complain "exit status $?: $(cat "$err")"
kill $reader
exec 8<&-

# Root without CAP_SYS_PTRACE, as in a container, may access a process of root that has no capability
# which wallsample lacks. Root without CAP_DAC_READ_SEARCH reads the files of another user's process
# by CAP_DAC_OVERRIDE.
contained=chown,dac_override,fowner,setuid,kill
setpriv --bounding-set "-all,+$(echo $contained | sed 's/,/,+/g')" sleep 1000 &
alike=$!
setpriv --reuid 65534 --regid 65534 --clear-groups sleep 1000 &
other=$!
actors="$actors $alike $other"
for words in "$contained $alike" "$contained,sys_ptrace $other"; do
	what="with ${words% *}"
	setpriv --bounding-set "-all,+$(echo "${words% *}" | sed 's/,/,+/g')" \
		"$WALLSAMPLE" -q -p "${words#* }" -d 500ms >"$out" 2>"$err" </dev/null
	status=$?
	expect_status 0
	expect_in "$out" 'sleeping in clock_nanosleep'
	expect_not_in "$out" 'not permitted'
done
end_actor "$alike"
end_actor "$other"

# The folder of another user: CAP_DAC_OVERRIDE 1.
mkdir "$dir/other"
chown 65534 "$dir/other"
for word in '' record; do
	begin $word -p "$actor" -d 60 -o "$dir/other/report.${word:-txt}"
	expect_rights 10000880006
	kill -INT "$begun"
	end_begun
	expect_late_at_most "$dir/other/report.${word:-txt}"
	[ -s "$dir/other/report.${word:-txt}" ] || complain 'no report in a folder of a user'
done

# A sticky folder of another user, with a file of a third one: CAP_FOWNER 3.
mkdir "$dir/sticky"
chown 65533 "$dir/sticky"
chmod 1777 "$dir/sticky"
: >"$dir/sticky/report.txt"
chown 65534 "$dir/sticky/report.txt"
chmod 666 "$dir/sticky/report.txt"
begin -p "$actor" -d 60 -o "$dir/sticky/report.txt"
expect_rights 1000088000e
kill -INT "$begun"
end_begun
expect_late_at_most "$dir/sticky/report.txt"
[ -s "$dir/sticky/report.txt" ] || complain 'no report in a sticky folder'

# A command, which may belong to another user, gets signals (CAP_KILL 5) and keeps its rights.
SUDO_UID=65534 SUDO_GID=65534
export SUDO_UID SUDO_GID
chmod 755 "$dir"
begin -o "$dir/command.txt" -- sleep 2
expect_rights 100008800a4
end_begun
expect_late_at_most "$dir/command.txt"
unset SUDO_UID SUDO_GID
begin -o "$dir/command.txt" --keep-root -- sh -c 'cat /proc/self/status; exec sleep 0.5'
end_begun
expect_late_at_most "$dir/command.txt"
own=$(awk '$1 == "CapEff:" { print $2 }' /proc/$$/status)
expect_in "$out" "CapEff:	$own"

as_nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'

# A program in another control group (v2), which the supervisor may not enter.
cp "$WALLSAMPLE" "$dir/plain"
$as_nobody sleep 1000 &
other=$!
actors="$actors $other"
# warnings USER…: the number of warnings of a wallsample of this user
warnings() {
	"$@" "$dir/plain" -p "$other" -d 0.1 -o "$dir/other/plain.txt" 2>"$err" >"$out" </dev/null
	grep -c 'in another control group' "$err"
	rm -f "$dir/other/plain.txt"
}
[ "$(warnings $as_nobody)" = 0 ] || complain "a warning of its own control group: $(cat "$err")"
groups=
for folder in /sys/fs/cgroup /sys/fs/cgroup/unified; do
	[ "$(stat -f -c %T $folder 2>/dev/null)" = cgroup2fs ] || continue
	group=$folder/wallsample-test-$$
	mkdir "$group" 2>/dev/null || continue
	groups="$groups $group"
	echo "$other" >"$group/cgroup.procs" || continue
	[ "$(warnings $as_nobody)" = 1 ] || complain "no warning of a control group: $(cat "$err")"
	[ "$(warnings setpriv)" = 0 ] || complain "root may leave its group: $(cat "$err")"
done
end_actor "$other"
for group in $groups; do
	rmdir "$group"
done

# A set-user-ID file is refused, whatever it is asked to do.
cp "$WALLSAMPLE" "$dir/setuid"
cp "$(command -v id)" "$dir/id"
chmod 4755 "$dir/setuid" "$dir/id"
if [ "$($as_nobody "$dir/id" -u 2>/dev/null)" = 0 ]; then
	$as_nobody "$dir/setuid" -p 1 >"$out" 2>"$err" </dev/null
	status=$?
	expect_status 64
	expect_in "$err" 'must not be set-user-ID'
else
	echo 'left out: set-user-ID files, which have no effect here'
fi

command -v setcap >/dev/null || { echo 'left out: file capabilities: no setcap'; finish; }
cp "$WALLSAMPLE" "$dir/capable"
chmod 755 "$dir/capable"
if ! setcap cap_sys_ptrace+ep "$dir/capable" 2>/dev/null; then
	echo 'left out: file capabilities, which this file system does not have'
	finish
fi
case $($as_nobody "$dir/capable" --version 2>&1) in
wallsample*) ;;
*)
	echo 'left out: file capabilities have no effect here'
	finish
	;;
esac

# capable ARGS…: runs the file with capabilities as another user
capable() {
	$as_nobody "$dir/capable" "$@" >"$out" 2>"$err" </dev/null
	status=$?
}

# expect_refused WORDS: a wrong usage
expect_refused() {
	expect_status 64
	expect_in "$err" "$1 is not possible while the file wallsample has capabilities"
}

capable -q -p "$actor" -d 100ms
expect_status 3
expect_in "$err" 'wallsample has CAP_SYS_PTRACE, but lacks CAP_DAC_READ_SEARCH'
setcap cap_sys_ptrace,cap_dac_read_search+ep "$dir/capable"
capable -q -p "$actor" -d 100ms
expect_late_at_most "$out"
capable causal --progress syscalls:write -p "$actor"
expect_refused 'wallsample causal'
capable -p "$actor" --symfs /
expect_refused --symfs
capable -p "$actor" --debug-dir /
expect_refused --debug-dir
capable -p "$actor" --debuginfod=net
expect_refused --debuginfod=net
capable -- sleep 1
expect_refused 'starting a command'
# A report needs no right, and has none.
run record -q -p "$actor" -d 100ms -o "$dir/secret.wsdb"
chmod 600 "$dir/secret.wsdb"
capable report "$dir/secret.wsdb"
expect_status 2
expect_in "$err" 'Permission denied'
finish
