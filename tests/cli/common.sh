# SPDX-License-Identifier: MIT
# common.sh - what the tests of the command line share; read by them with "."
#
#   actor MODE [PID]     starts tests/cli/actor; $actor is its pid, $said its line
#   run WORDS…           runs wallsample; $status, and what it wrote in $out and $err
#   needs_ptrace         skips the test where nothing may be traced
#   begin WORDS…         the same in the background, until it says "sampling process";
#                        end_begun waits for its end
#   expect_…             complain, and go on; finish gives the exit status of the test
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

# Waits for the actor's line: it is then in the situation that was asked for.
start_actor() {
	# a new pipe each time: the last actor may still have the old one open
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

# Where nobody may trace anything, nothing can be sampled: the test is skipped.
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

# Reads the program's lines up to one that begins with the text; it is in $line.
until_said() {
	while read -r line <&4; do
		case $line in "wallsample: $1"*) return ;; esac
	done
	complain "$what: never said '$1'"
}

# Asks for snapshots until one has samples in it: -o FILE must be among the words.
until_sampled() {
	while
		kill -USR1 "$begun"
		until_said wrote
		case $line in *' 0 samples'*) true ;; *) false ;; esac
	do
		:
	done
}

# It reads all that was said, or the program could be ended by a pipe without a reader.
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

# The file has the text in it. Long sentences are compared as one line.
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

# usage TEXT WORDS…: it is one sentence, on stderr, with status 64
usage() {
	text=$1
	shift
	run "$@"
	expect_status 64
	expect_err "$text"
	expect_empty "$out"
	[ "$(wc -l <"$err")" -eq 1 ] || complain "$what: more than one line"
}

# The process is there, untraced, and in the state (a letter) that is named.
expect_unharmed() {
	grep -q '^TracerPid:[[:space:]]*0$' "/proc/$1/status" || complain "$what: $1 is traced"
	grep -q "^State:[[:space:]]*[$2]" "/proc/$1/status" ||
		complain "$what: $1 is $(grep '^State:' "/proc/$1/status"), not $2"
}

is_root() {
	[ "$(id -u)" -eq 0 ]
}
