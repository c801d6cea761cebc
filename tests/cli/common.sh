# SPDX-License-Identifier: MIT
# common.sh - shell functions of the tests of the command line, which read this file with "."
#
#   actor MODE [PID]     starts tests/cli/actor; its pid is then in $actor, its line in $said
#   run ARGS…            runs wallsample with these arguments; its exit status is then in $status,
#                        its output in the files $out and $err
#   needs_ptrace         skips the test when ptrace is not permitted
#   begin ARGS…          starts wallsample in the background, and waits until it prints "sampling
#                        process"; its pid is then in $begun
#   end_begun            waits for the end of that wallsample, and sets $status, $out and $err
#   expect_…             these functions complain when a condition is false, and return
#   expect_late_at_most FILE
#                        like "expect_status 0" on a machine that may be busy: exit status 1 is
#                        accepted when all failures in FILE, a folded or JSON report or a recording,
#                        are threads that could not be stopped in time
#   skip_with_asan REASON
#                        skips the test when wallsample was built with the address sanitizer
#   python_test NAME ARGS…
#                        ends the test with the exit status of tests/live/NAME
#   complain TEXT        prints a failure; the test continues, and fails at the end
#   finish               ends the test with its exit status
set -u
: "${WALLSAMPLE:?}" "${BUILD:?}"
LC_ALL=C
export LC_ALL
unset COLUMNS

dir=$(mktemp -d) || exit 99
out=$dir/out
err=$dir/err
failed=0
actors=
begun=

clean_up() {
	for pid in $actors $begun; do
		kill -KILL "$pid" 2>/dev/null
	done
	rm -rf "$dir"
}
trap clean_up EXIT
trap 'exit 99' INT TERM HUP

complain() {
	printf 'FAILED: %s\n' "$*"
	failed=1
}

finish() {
	exit "$failed"
}

# Starts an actor and waits for its line: the actor is then in the situation of its mode.
start_actor() {
	# Each actor gets a new pipe, because the last actor may still have the old pipe open.
	rm -f "$dir/line"
	mkfifo "$dir/line"
	"${ACTOR:-$BUILD/tests/cli/actor}" "$@" >"$dir/line" &
	actor=$!
	actors="$actors $actor"
	read -r said <"$dir/line"
}

actor() {
	start_actor "$@" && return
	complain "actor $* did not begin"
	finish
}

# Skips the test when one process of the user may not trace another.
needs_ptrace() {
	actor park
	parked=$actor
	if ! start_actor seize "$parked"; then
		echo 'ptrace is not permitted here'
		exit 77
	fi
	end_actor "$actor"
	end_actor "$parked"
}

has_asan() {
	nm "$WALLSAMPLE" 2>/dev/null | grep -q __asan_init
}

skip_with_asan() {
	has_asan || return 0
	echo "with the address sanitizer $1"
	exit 77
}

python_test() {
	command -v python3 >/dev/null || { echo 'no python3'; exit 77; }
	needs_ptrace
	name=$1
	shift
	PYTHONDONTWRITEBYTECODE=1 python3 "$SOURCE/tests/live/$name" "$@" </dev/null
	exit
}

end_actor() {
	kill -KILL "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

run() {
	what="wallsample $*"
	"$WALLSAMPLE" "$@" >"$out" 2>"$err" </dev/null
	status=$?
}

begin() {
	what="wallsample $*"
	rm -f "$dir/said"
	mkfifo "$dir/said"
	"$WALLSAMPLE" "$@" >"$out" 2>"$dir/said" </dev/null &
	begun=$!
	exec 4<"$dir/said"
	until_said 'sampling process'
}

# Reads the lines of the wallsample in the background up to one that begins with the text, which is
# then in $line.
until_said() {
	while read -r line <&4; do
		case $line in "wallsample: $1"*) return ;; esac
	done
	complain "$what: never said '$1'"
}

# Requests snapshots of the wallsample in the background until one has samples. The arguments of
# `begin` must have contained -o FILE.
until_sampled() {
	while
		kill -USR1 "$begun"
		until_said wrote
		case $line in *' 0 samples'*) true ;; *) false ;; esac
	do
		:
	done
}

# Reads all remaining lines before it waits: without a reader, SIGPIPE could end wallsample.
end_begun() {
	cat <&4 >"$err"
	exec 4<&-
	wait "$begun"
	status=$?
	begun=
}

expect_status() {
	[ "$status" -eq "$1" ] && return
	complain "$what: status $status instead of $1"
	sed 's/^/    /' "$err"
}

expect_late_at_most() {
	[ "$status" -eq 1 ] || { expect_status 0; return; }
	case $1 in
	*.wsdb) "$WALLSAMPLE" report -f folded "$1" 2>/dev/null ;;
	*) cat "$1" ;;
	esac | grep -o '\[failed: [^]]*\]' | sort -u >"$dir/failures"
	printf '[failed: not stopped in 20 ms]\n' | cmp -s - "$dir/failures" && return
	complain "$what: status 1, not only because stops were late:"
	cat "$dir/failures" "$err"
}

# expect_in FILE TEXT: a line of the file contains the text.
expect_in() {
	grep -qF -e "$2" "$1" && return
	complain "$what: nowhere '$2' in:"
	sed 's/^/    /' "$1"
}

expect_not_in() {
	grep -qF -e "$2" "$1" || return
	complain "$what: unexpected '$2' in:"
	sed 's/^/    /' "$1"
}

expect_err() {
	expect_in "$err" "$1"
}

expect_empty() {
	[ -s "$1" ] || return
	complain "$what: this should not be there:"
	sed 's/^/    /' "$1"
}

# usage TEXT ARGS…: wallsample fails with these arguments: status 64, no output, and one line on
# stderr, which contains the text.
usage() {
	text=$1
	shift
	run "$@"
	expect_status 64
	expect_err "$text"
	expect_empty "$out"
	[ "$(wc -l <"$err")" -eq 1 ] || complain "$what: more than one line"
}

# expect_unharmed PID STATE: the process runs untraced, and is in one of the states (letters of
# /proc/PID/status).
expect_unharmed() {
	grep -q '^TracerPid:[[:space:]]*0$' "/proc/$1/status" || complain "$what: $1 is traced"
	grep -q "^State:[[:space:]]*[$2]" "/proc/$1/status" ||
		complain "$what: $1 is $(grep '^State:' "/proc/$1/status"), not $2"
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}
