#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs whose threads look idle, or busy with the wrong thing: the profile of their goroutines
# says what they are about.
. "${SOURCE:?}/tests/live/go_common.sh"

# demo MODE WORDS…: its folded stacks are in $out, each with its Wall in microseconds.
demo() {
	mode=$1
	shift
	rm -f "$dir/in" "$dir/line"
	mkfifo "$dir/in" "$dir/line"
	"$dir/demos" "$mode" <"$dir/in" >"$dir/line" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in"
	read -r said <"$dir/line"
	[ "$said" = ready ] || complain "$mode: said '$said'"
	run -p "$target" --max-overhead 100 --max-stopped 100 "$@"
	# Some samples may be of goroutines that end just then.
	[ "$status" -eq 1 ] || expect_status 0
}

end_demo() {
	exec 5>&-
	wait "$target"
}

# share PATTERN: of the Wall of goroutines, in hundredths of a percent
share() {
	PATTERN=$1 awk '
		/^\[Go runtime\]/ { next }
		{ all += $NF }
		$0 ~ ENVIRON["PATTERN"] { these += $NF }
		END { printf "%d\n", (all > 0 ? 10000 * these / all : 0) }' "$out"
}

# expect_share WHAT PATTERN LEAST MOST
expect_share() {
	has=$(share "$2")
	[ "$has" -ge "$3" ] && [ "$has" -le "$4" ] && return
	complain "$1: $has of 10000, not $3 to $4"
	sort -t ' ' -k 2 "$out" | head -n 20
}

# first_row: what the report's first table begins with
first_row() {
	awk '/function \(module\)$/ { getline; print; exit }' "$out"
}

# Of 1,026 goroutines all but the one that puts and the one that reads take; one of them may run.
channel() {
	demo channel -d 2 -f folded
	expect_share 'channel: those that take' ';main\.take;' 9950 9990
	expect_share 'channel: the one that puts' ';main\.put' 5 15
	run -p "$target" -d 1 --full
	case $(first_row) in
	*' main.take '*) ;;
	*)
		complain "channel: the first row is not that of those that take: $(first_row)"
		cat "$out"
		;;
	esac
	grep -q '^ *1,0[0-9][0-9] .* waiting: chan receive$' "$out" ||
		complain 'channel: nobody is said to wait for the channel'
	# By CPU time there is nobody but who spins.
	run -p "$target" -d 1 --state R --sort cpu -f folded
	expect_share 'channel: the one that spins, by CPU time' ';main\.busyWait' 8000 10000
	# The threads alone have none that takes.
	run -p "$target" -d 1 --tasks off -f folded
	expect_status 0
	! grep -q 'main\.take;runtime\.gopark' "$out" || complain 'channel: --tasks=off has tasks'
	end_demo
}

# One of 4,097 waits for the others, which compute, or would if there was a thread for them.
compute() {
	demo compute -d 2 -f folded
	expect_share 'compute: those that compute' ';main\.sumOfSqrt' 9500 10000
	run -p "$target" -d 1 --full
	grep -q "^The scheduler's queue\|[Ss]cheduler's queue" "$out" ||
		grep -q 'queue' "$out" || complain 'compute: nothing is said of the queue'
	case $(first_row) in
	*' main.sumOfSqrt '*) ;;
	*)
		complain "compute: the first row is not that of those that compute: $(first_row)"
		cat "$out"
		;;
	esac
	end_demo
}

# Most have ended by the time that they are looked at; what is in the profile is theirs all the
# same, and what could not be sampled has a name.
ends() {
	demo ends -d 2 -f folded
	expect_share 'ends: those that end, and those that had' \
		'main\.ends|main\.endAtOnce|\[failed: task' 9000 10000
	grep -q '^\[failed: task already finished\] ' "$out" ||
		complain 'ends: none is said to have ended before it was read'
	end_demo
}

build_go "$dir/demos" go_demos -ldflags '-s -w' || exit 77
channel
compute
ends
finish
