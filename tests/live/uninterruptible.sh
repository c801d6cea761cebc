#!/bin/sh
# SPDX-License-Identifier: MIT
# Uninterruptible sleeps: what a thread waits for follows from its system call. vfork waits for a
# child, not for a disk; a call that creates a file waits for that file, and the sleep in a frozen
# file system is as long as the test needs. With a recording of it the earlier name of the state,
# disk, is still accepted.
#
# The part with a file system needs root, a loop device and fsfreeze. The test has a mount namespace
# of its own, so that its mount ends with it, whatever ends it.
if [ -z "${OWN_MOUNTS:-}" ] && unshare -m true 2>/dev/null; then
	OWN_MOUNTS=yes exec unshare -m sh "$0"
fi
. "${SOURCE:?}/tests/cli/common.sh"

fs=$dir/fs
frozen='' mounted=''

thaw() {
	[ -z "$frozen" ] || fsfreeze -u "$fs"
	frozen=
}

clean_up_all() {
	thaw
	[ -z "$mounted" ] || umount -l "$fs"
	clean_up
}
trap clean_up_all EXIT

# is_blocked PID NUMBER: a thread of the process is in uninterruptible sleep in this system call.
is_blocked() {
	for task in "/proc/$1/task/"*; do
		grep -q '^State:[[:space:]]*D' "$task/status" && grep -q "^$2 " "$task/syscall" && return
	done 2>/dev/null
	return 1
}

until_blocked() {
	until is_blocked "$@"; do
		kill -0 "$1" 2>/dev/null || { complain "the target $1 has ended"; finish; }
	done
}

# expect_blocked PID CALL KIND OBJECT: all that wallsample says about the thread.
expect_blocked() {
	run dump -p "$1"
	expect_status 0
	expect_in "$out" "uninterruptible in $2"
	expect_in "$out" "waits for $3${4:+: $4}"
	run record -q -p "$1" -d 0.3 -r 200 -o "$dir/run.wsdb"
	expect_status 0
	for state in D disk uninterruptible; do
		run report -f json --state "$state" "$dir/run.wsdb"
		expect_status 0
		expect_in "$out" "{\"state\":\"uninterruptible\",\"syscall\":\"$2\","
		expect_in "$out" "{\"kind\":\"$3\",\"object\":${4:+\"}${4:-null}${4:+\"},"
		expect_not_in "$out" '"disk"'
		expect_not_in "$out" '"state":"sleeping"'
	done
	run report --full "$dir/run.wsdb"
	expect_in "$out" "uninterruptible in $2"
}

needs_ptrace

# The system call by which vfork makes the child, and the numbers of this call and of openat.
case $(uname -m) in
x86_64) made_by=vfork made_by_number=58 openat_number=257 ;;
aarch64) made_by=clone made_by_number=220 openat_number=56 ;;
*) echo 'not a machine of which the test knows the system calls'; exit 77 ;;
esac

# The target ends when its input does.
mkfifo "$dir/gate"
"$BUILD/tests/live/bin/vforks" <"$dir/gate" >"$dir/said" &
parent=$!
actors="$actors $parent"
exec 5>"$dir/gate"
until_blocked "$parent" $made_by_number
expect_blocked "$parent" $made_by "a child's exec or exit" ''
exec 5>&-
wait "$parent" || complain "the target of vfork ended with status $?"

# can ARGS…: runs a command; if it fails, the rest of the test is skipped.
can() {
	"$@" >"$dir/can" 2>&1 && return
	[ "$failed" = 0 ] || finish
	echo "no uninterruptible sleep in a file system: $* fails: $(head -n 1 "$dir/can")"
	exit 77
}

can is_root
can truncate -s 8M "$dir/image"
can mkfs.ext4 -q -F "$dir/image"
mkdir "$fs"
can mount -o loop "$dir/image" "$fs"
mounted=yes
can touch "$fs/before" # reads the directory
can fsfreeze -f "$fs"
frozen=yes
(: >"$fs/created") &
creator=$!
actors="$actors $creator"
until_blocked "$creator" $openat_number
expect_blocked "$creator" openat file "$fs/created"
thaw
wait "$creator" || complain "the target that creates a file ended with status $?"
[ -e "$fs/created" ] || complain 'the file was not created'
finish
