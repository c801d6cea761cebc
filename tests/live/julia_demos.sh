#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs in Julia whose one thread looks idle, or busy with the wrong thing: the profile of their
# tasks says what they are about. $JULIA is how Julia is called, if not by its name.
. "${SOURCE:?}/tests/cli/common.sh"

julia=${JULIA:-julia}
$julia --version >/dev/null 2>&1 || {
	echo 'julia is not there'
	exit 77
}
needs_ptrace

# demo MODE WORDS…: its folded stacks are in $out, each with its Wall in microseconds.
demo() {
	mode=$1
	shift
	rm -f "$dir/in" "$dir/line"
	mkfifo "$dir/in" "$dir/line"
	JULIA_NUM_THREADS=1 $julia --startup-file=no \
		-e "$(cat "$SOURCE/tests/live/targets/julia_demos.jl")" "$mode" \
		<"$dir/in" >"$dir/line" 2>"$dir/said" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in"
	read -r said <"$dir/line"
	[ "$said" = ready ] || {
		complain "$mode: said '$said'"
		cat "$dir/said"
		finish
	}
	run -p "$target" --max-overhead 100 --max-stopped 100 "$@"
	# Some samples may be of tasks that end just then.
	[ "$status" -eq 1 ] || expect_status 0
}

end_demo() {
	exec 5>&-
	wait "$target"
}

# share PATTERN: of all Wall, in hundredths of a percent
share() {
	PATTERN=$1 awk '
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

# expect_first WHAT FUNCTION: it is what the report's first table begins with
expect_first() {
	row=$(awk '/function \(module\)$/ { getline; print; exit }' "$out")
	case $row in
	*" $2 "*) ;;
	*)
		complain "$1: the first row is not $2: $row"
		cat "$out"
		;;
	esac
}

# Of 1,027 tasks and three threads all but a few take; one of those may run.
channel() {
	demo channel -d 2 -f folded
	expect_share 'channel: those that take' ';taker;take!' 9930 9970
	run -p "$target" -d 1 --full
	expect_first channel 'take!'
	# By CPU time there is nobody but who spins, and who it wakes: all for each item in Julia 1.5,
	# which takes them two or three milliseconds. Of fifty samples that is at most so many.
	run -p "$target" -d 3 --state R --sort cpu -f folded
	expect_share 'channel: the one that spins, by CPU time' ';produce' 5500 10000
	# The thread alone has none that takes, but for the moments in which it does.
	run -p "$target" -d 1 --tasks off -f folded
	[ "$status" -eq 1 ] || expect_status 0
	expect_share 'channel: without tasks' ';taker;take!' 0 1000
	end_demo
}

# One waits for 4,096 others, which compute, or would if there was a thread for them.
compute() {
	demo compute -d 2 -f folded
	expect_share 'compute: those that compute' ';sum_of_sqrt' 9500 10000
	# One in a thousand: a task that has just given way is cut short at times.
	expect_share 'compute: stacks that are cut off' '^\[truncated' 0 10
	run -p "$target" -d 1 --full
	expect_first compute sum_of_sqrt
	ready=$(sed -n "s/.*on average \([0-9,]*\)\.[0-9]* tasks were ready.*/\1/p;
		s/.*on average \([0-9,]*\) tasks were ready.*/\1/p" "$out" | tr -d ,)
	[ "${ready:-0}" -ge 3900 ] || {
		complain "compute: ${ready:-none} of 4,096 are said to be ready"
		cat "$out"
	}
	end_demo
}

# Most have ended by the time that they are looked at: what could not be sampled has a name.
storm() {
	demo storm -d 3 -r 1000 -f folded
	grep -q '^\[failed: task [a-z ]*\] ' "$out" || {
		complain 'storm: none is said to have ended, or gone on, before it was read'
		sort -t ' ' -k 2 "$out" | head -n 20
	}
	run -p "$target" --full -d 3 -r 1000 --max-overhead 100 --max-stopped 100
	grep -q '^Failed .* samples without a stack' "$out" ||
		complain 'storm: the report says nothing of what failed'
	end_demo
}

channel
compute
storm
finish
