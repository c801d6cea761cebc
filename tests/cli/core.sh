#!/bin/sh
# SPDX-License-Identifier: MIT
# wallsample dump --core: what the kernel and gcore write of a process with known threads, against
# what the process was doing, against eu-stack, and against a dump of the live process.
. "${SOURCE:?}/tests/cli/common.sh"
unset DEBUGINFOD_URLS

usage '-p and --name do not go with --core' dump --core x -p 1
usage '--nonblocking is for live processes' dump --core x --nonblocking
usage '--stack-size is for live processes' dump --core x --stack-size 1M
usage 'core files do not have the names of threads' dump --core x --thread-name y
usage '--exclude-thread: core files do not have the names' dump --core x --exclude-thread y
usage 'it goes with --core' dump --exe x -p 1
usage 'a dump is not a recording' dump --core x -o x.wsdb
usage 'does not write the format html' dump --core x -f html
run dump --core "$dir/none"
expect_status 2
expect_err "cannot open $dir/none: No such file"
run dump --core "$WALLSAMPLE"
expect_status 2
expect_err 'is no core file: it is a program'
mkfifo "$dir/fifo"
run dump --core "$dir/fifo"
expect_status 2
expect_err 'is no regular file'
expect_empty "$out"

if [ "$(uname -m)" != x86_64 ]; then
	echo 'registers of this architecture do not tell system calls'
	exit 77
fi
cp "$BUILD/tests/live/bin/crasher" "$dir/crasher" || exit 99

# crash MODE: $core is the core file of the crasher, $pid who it was; false where there is none
crash() {
	read -r pattern </proc/sys/kernel/core_pattern
	case $pattern in
	core) ;;
	*)
		echo "no core files in the folder of the process: core_pattern is $pattern"
		return 1
		;;
	esac
	rm -f "$dir"/core*
	pid=$(cd "$dir" && ulimit -c unlimited 2>/dev/null && ./crasher "$1" 2>/dev/null)
	for core in "$dir"/core*; do
		[ -s "$core" ] && [ -n "$pid" ] && return
	done
	echo 'the kernel has written no core file'
	return 1
}

# The heading of the group that has the function in its stack.
state_of() {
	awk -v wanted="$1" '
		/^Thread / { heading = $0; sub(/^[^:]*: /, "", heading) }
		$2 == wanted { print heading }' "$out"
}

# expect_state FUNCTION STATE
expect_state() {
	[ "$(state_of "$1")" = "$2" ] || complain "$what: $1 is '$(state_of "$1")', not '$2'"
}

expect_others() {
	expect_state take_lock 'sleeping in futex'
	expect_state take_nap 'sleeping in clock_nanosleep'
	expect_state await_signal 'sleeping in pause'
	expect_state spin 'running'
}

# The depth of each thread's stack, by the frames of both programs.
compare_with_eu_stack() {
	if ! command -v eu-stack >/dev/null 2>&1; then
		echo 'no eu-stack to compare with'
		return
	fi
	eu-stack --core="$core" --executable="$dir/crasher" 2>/dev/null |
		awk '/^TID/ { tid = $2; sub(/:/, "", tid) } /^#/ { n[tid]++ }
		     END { for (t in n) print t, n[t] }' | sort >"$dir/theirs"
	run dump --core "$core" --no-inlines
	awk '/^Thread / { tid = $2; sub(/:/, "", tid) } /^ +[0-9]+ / { n[tid]++ }
	     END { for (t in n) print t, n[t] }' "$out" | sort >"$dir/ours"
	[ -s "$dir/theirs" ] || return
	cmp -s "$dir/theirs" "$dir/ours" ||
		complain "$what: depths differ from eu-stack's: $(diff "$dir/theirs" "$dir/ours")"
}

tried=0
if crash segv; then
	tried=1
	run dump --core "$core"
	expect_status 0
	expect_empty "$err"
	expect_in "$out" "Process $pid (crasher): 5 threads"
	expect_in "$out" './crasher segv'
	expect_in "$out" "ended by signal 11 (Segmentation fault), address 0x10, in thread $pid"
	expect_in "$out" "Thread $pid (crasher): ended by signal 11 (Segmentation fault)"
	expect_state crash 'ended by signal 11 (Segmentation fault)'
	expect_others
	expect_not_in "$out" 'without a stop'
	compare_with_eu_stack

	run dump --core "$core" -f folded
	expect_status 0
	[ "$(awk '{ sum += $NF } END { print sum }' "$out")" -eq 5 ] || complain "$what: not 5"
	expect_in "$out" 'main;crash 1'
	run dump --core "$core" --tid "$pid"
	expect_in "$out" ': 1 thread'
	expect_in "$out" 'Threads that options have left out are not shown.'
	usage '--tid: 1 is not a thread in ' dump --core "$core" --tid 1

	run dump -q --core "$core" -o "$dir/%p.json"
	expect_status 0
	if command -v python3 >/dev/null 2>&1; then
		python3 - "$dir/$pid.json" "$pid" <<'PY' || complain "$what: the JSON is not right"
import json, sys
dump, pid = json.load(open(sys.argv[1])), int(sys.argv[2])
assert dump["kind"] == "dump" and dump["target"]["pid"] == pid
assert dump["ended_by"] == {"signal": 11, "description": "Segmentation fault", "tid": pid,
                            "address": "0x10"}, dump["ended_by"]
assert sum(len(group["threads"]) for group in dump["groups"]) == 5
PY
	fi

	# the program has moved, or another one stands there
	mv "$dir/crasher" "$dir/elsewhere"
	run dump --core "$core"
	expect_status 1
	expect_err "not used: $dir/crasher: "
	expect_in "$out" 'crasher+0x'
	expect_in "$out" '[truncated: no unwind information]'
	run dump --core "$core" --exe "$dir/elsewhere"
	expect_status 0
	expect_others
	mkdir -p "$dir/root$dir"
	cp "$dir/elsewhere" "$dir/root$dir/crasher"
	run dump --core "$core" --symfs "$dir/root"
	expect_status 0
	expect_others
	cp "$BUILD/tests/cli/actor" "$dir/crasher"
	run dump --core "$core"
	expect_status 1
	expect_err "not used: $dir/crasher: another build of it stands there"
	mkfifo "$dir/pipe"
	run dump --core "$core" --exe "$dir/pipe"
	expect_err "not used: $dir/crasher: not a regular file"
	mv "$dir/elsewhere" "$dir/crasher"

	# not all of it is there
	for size in 100 3000 30000 100000; do
		head -c "$size" "$core" >"$dir/cut"
		run dump --core "$dir/cut"
		[ "$status" -eq 1 ] || [ "$status" -eq 2 ] || complain "$what: status $status"
		expect_in "$err" 'cut short'
	done
	if command -v gzip >/dev/null 2>&1; then
		gzip -c "$core" >"$dir/packed"
		run dump --core "$dir/packed"
		expect_status 2
		expect_err 'is packed with gzip: unpack it first, with gunzip -k'
	fi
fi

if crash null; then
	run dump --core "$core"
	expect_status 0
	expect_in "$out" 'ended by signal 11 (Segmentation fault), address 0x0, in thread'
	expect_in "$out" '   0  [unmapped 0x0]'
	expect_in "$out" '   1  call_nothing (crasher)'
	expect_others
fi

if crash abort; then
	run dump --core "$core"
	expect_status 0
	expect_in "$out" "ended by signal 6 (Aborted), in thread $pid"
	expect_state give_up 'ended by signal 6 (Aborted)'
	expect_others
	compare_with_eu_stack
fi

if command -v gcore >/dev/null 2>&1; then
	ACTOR=$dir/crasher
	actor stay
	pid=$actor
	# the line came before pause(2), which is call 34
	while [ "$(cut -d ' ' -f 1 "/proc/$pid/syscall" 2>/dev/null || echo 34)" != 34 ] &&
		kill -0 "$pid" 2>/dev/null; do
		:
	done
	if gcore -o "$dir/taken" "$pid" >/dev/null 2>&1 && [ -s "$dir/taken.$pid" ]; then
		tried=1
		core=$dir/taken.$pid
		run dump --core "$core"
		expect_status 0
		expect_empty "$err"
		expect_in "$out" 'not ended: the process continued after its core was written'
		expect_state stay 'sleeping in pause'
		expect_others
		compare_with_eu_stack
		# the same as of the process itself, which still is where it was
		run dump --core "$core" -f folded
		sort "$out" >"$dir/taken"
		run dump -p "$pid" -f folded
		[ "$status" -ne 0 ] || sort "$out" | cmp -s - "$dir/taken" ||
			complain "the core and the process differ: $(sort "$out" | diff - "$dir/taken")"
	else
		echo 'gcore could not write a core file'
	fi
	end_actor "$pid"

	# two threads that wait for each other, and the first one for its standard input
	rm -f "$dir/line"
	mkfifo "$dir/line" "$dir/held"
	exec 9<>"$dir/held"
	"$BUILD/tests/live/bin/stuck" abba <&9 >"$dir/line" &
	pid=$!
	actors="$actors $pid"
	read -r said <"$dir/line"
	if gcore -o "$dir/taken" "$pid" >/dev/null 2>&1 && [ -s "$dir/taken.$pid" ]; then
		run dump --core "$dir/taken.$pid"
		expect_status 4
		expect_empty "$err"
		expect_in "$out" 'Deadlock of 2 threads'
		expect_in "$out" ' waits for mutex lock_b, held by thread-'
		expect_in "$out" ' waits for mutex lock_a, held by thread-'
		[ "$(grep -c 'waits for mutex lock_[ab], held by thread [0-9]*, in wait_for' \
			"$out")" -eq 2 ] || complain "$what: not two waiters: $(cat "$out")"
		expect_in "$out" '    waits for descriptor 0'
		run dump --core "$dir/taken.$pid" -f json
		expect_status 4
		expect_in "$out" '"deadlocks":['
	fi
	kill -KILL "$pid"
else
	echo 'no gcore here'
fi

if [ "$tried" = 0 ] && [ "$failed" = 0 ]; then
	exit 77
fi
finish
