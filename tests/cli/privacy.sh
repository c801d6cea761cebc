#!/bin/sh
# SPDX-License-Identifier: MIT
# Outputs about another user's process are for their owner only, as are those made of such files; and
# the command line is left out on request.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

# expect_mode MODE FILE
expect_mode() {
	mode=$(stat -c %a "$2") || mode=none
	[ "$mode" = "$1" ] || complain "$2 has mode $mode, wanted $1"
}

umask 022
actor park secret-word
run -q -p "$actor" -d 100ms -o "$dir/own.txt"
expect_status 0
expect_mode 644 "$dir/own.txt"
expect_in "$dir/own.txt" secret-word
run record -q -p "$actor" -d 100ms -o "$dir/own.wsdb"
expect_mode 644 "$dir/own.wsdb"
run report -o "$dir/own.md" "$dir/own.wsdb"
expect_mode 644 "$dir/own.md"
chmod 600 "$dir/own.wsdb"
run report -o "$dir/own.md" "$dir/own.wsdb"
expect_mode 600 "$dir/own.md"

for name in none.txt none.json none.folded none.html none.pb.gz none.wsdb; do
	word=
	[ "$name" = none.wsdb ] && word=record
	run $word -q -p "$actor" -d 100ms --no-cmdline -o "$dir/$name"
	expect_status 0
	if grep -a -q secret-word "$dir/$name"; then
		complain "$name has the command line in spite of --no-cmdline"
	fi
done
run report --no-cmdline -o "$dir/hidden.txt" "$dir/own.wsdb"
expect_in "$dir/hidden.txt" '[left out]'
expect_not_in "$dir/hidden.txt" secret-word
run record -q -d 100ms --no-cmdline -o "$dir/cmd.wsdb" -- sleep 0.1234
if grep -a -q 0.1234 "$dir/cmd.wsdb"; then
	complain "the recording has the command in spite of --no-cmdline"
fi

if [ "$(id -u)" -ne 0 ] || ! command -v setpriv >/dev/null; then
	echo 'left out: the process of another user, which takes root and setpriv'
	finish
fi
setpriv --reuid 65534 --regid 65534 --clear-groups sleep 1000 &
other=$!
actors="$actors $other"
while ! grep -q '^Name:.sleep' "/proc/$other/status"; do
	:
done
run -q -p "$other" -d 100ms -o "$dir/other.txt"
expect_mode 600 "$dir/other.txt"
run record -q -p "$other" -d 100ms -o "$dir/other.wsdb"
expect_mode 600 "$dir/other.wsdb"
# Such a process comes during the run: each sleep is one. The log of a recording is beside it until
# the end.
forks='while sleep 0.1; do :; done'
as_other="exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -c \"$forks\""
run -q --children -d 2s -o "$dir/child.txt" -- \
	sh -c "sh -c '$as_other' & echo \$! >'$dir/pid'; wait"
kill "$(cat "$dir/pid")"
expect_mode 600 "$dir/child.txt"
run record -q --children -o "$dir/child.wsdb" -- sh -c "sh -c '$as_other' &
	i=0
	while [ \$((i += 1)) -le 300 ] && [ \$(stat -c %a '$dir/child.wsdb') != 600 ]; do
		sleep 0.1
	done
	stat -c %a '$dir/child.wsdb-wal'
	kill \$!"
expect_mode 600 "$dir/child.wsdb"
expect_in "$out" 600
run -q --children -o "$dir/own.txt" -- sh -c 'sleep 0.1; :'
expect_mode 644 "$dir/own.txt"
SUDO_UID=65534
export SUDO_UID
run -q -p "$other" -d 100ms -o "$dir/sudo.txt"
expect_mode 644 "$dir/sudo.txt"
finish
