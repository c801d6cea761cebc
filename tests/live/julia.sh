#!/bin/sh
# SPDX-License-Identifier: MIT
# Julia's tasks are those that the program itself knows, whether they wait, have begun or have ended;
# each that waits goes on in libjulia, and its stack leads on from there. $JULIA is how Julia is
# called, if not by its name.
. "${SOURCE:?}/tests/cli/common.sh"

julia=${JULIA:-julia}
$julia --version >/dev/null 2>&1 || {
	echo 'julia is not there'
	exit 77
}
needs_ptrace

# What it says until it is ready comes to $dir/says.
hear() {
	while IFS= read -r line <&6; do
		[ "$line" != ready ] || return 0
		printf '%s\n' "$line" >>"$dir/says"
	done
	complain "$what: never said 'ready'"
	sed 's/^/    /' "$dir/said"
	finish
}

# The addresses of those of which it said the word.
said() {
	sed -n "s/^$1 //p" "$dir/says" | sort
}

# The addresses of the tasks in the state, and more that is to be in their line.
seen() {
	sed -n "s/^$1 \([0-9a-f]*\) .*${2:-}.*/\1/p" "$dir/tasks" | sort
}

look() {
	"$BUILD/tests/live/list_tasks" "$target" 3 >"$dir/tasks" 2>"$err" ||
		complain "$what: no tasks: $(cat "$dir/tasks" "$err")"
}

# Takers wait, but for those that have gone.
check_waiting() {
	said gone >"$dir/gone"
	said taker | comm -23 - "$dir/gone" >"$dir/wanted"
	seen waiting ' returns at .*libjulia' | comm -12 - "$dir/wanted" >"$dir/found"
	[ "$(wc -l <"$dir/wanted")" -eq "$1" ] || complain "$what: not $1 takers"
	cmp -s "$dir/wanted" "$dir/found" ||
		complain "$what: of $1 takers $(wc -l <"$dir/found") wait in libjulia: $(tail -n 1 "$dir/tasks")"
}

# None of them is there at all.
check_absent() {
	said "$1" | while read -r address; do
		! grep " $address " "$dir/tasks" || complain "$what: $1 $address is there"
	done
}

check() {
	look
	check_waiting "$1"
	check_absent gone
	check_absent unborn
	check_absent ended
	# it said so before it waits on its own thread
	grep -q "^\(running\|in a call\) $(said main) tid $target " "$dir/tasks" ||
		complain "$what: its first task is not on its first thread"
}

try() {
	what="$1 threads"
	rm -f "$dir/in" "$dir/line" "$dir/says"
	mkfifo "$dir/in" "$dir/line"
	JULIA_NUM_THREADS=$1 $julia --startup-file=no \
		-e "$(cat "$SOURCE/tests/live/targets/julia_tasks.jl")" \
		<"$dir/in" >"$dir/line" 2>"$dir/said" &
	target=$!
	actors="$actors $target"
	exec 5>"$dir/in" 6<"$dir/line"
	hear
	check 1024
	grep '^Julia\|each$' "$dir/tasks" | paste -s -d ,
	echo >&5
	hear
	check 512
	echo >&5
	hear
	check 0
	exec 5>&- 6<&-
	wait "$target" 2>/dev/null
}

try 1
try 2
finish
