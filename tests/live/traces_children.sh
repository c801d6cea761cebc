#!/bin/sh
# SPDX-License-Identifier: MIT
# A program that traces its own child, as a debugger does, is sampled without losing a stop of the
# child; the child itself cannot be sampled, because it has a tracer.
. "${SOURCE:?}/tests/cli/common.sh"
needs_ptrace

cat >"$dir/tracing.c" <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

/* The child makes system calls; each has to stop twice. Prints "child PID" and, at the end of its
 * input, "stops N wrong N", where wrong are results of waitpid that it has not asked for. */
int main(void)
{
	long stops = 0, wrong = 0;
	int status;
	pid_t child = fork();

	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			getppid();
	}
	if (ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACESYSGOOD) != 0 ||
	    ptrace(PTRACE_INTERRUPT, child, 0, 0) != 0)
		return 1;
	printf("child %d\n", (int)child);
	fflush(stdout);
	for (;;) {
		const pid_t found = waitpid(child, &status, __WALL);
		fd_set set;
		struct timeval now = { 0, 0 };

		if (found != child || !WIFSTOPPED(status) ||
		    (WSTOPSIG(status) != (SIGTRAP | 0x80) && stops > 0))
			wrong++;
		stops++;
		FD_ZERO(&set);
		FD_SET(0, &set);
		if (stops % 100 == 0 && select(1, &set, 0, 0, &now) == 1)
			break;
		if (ptrace(PTRACE_SYSCALL, child, 0, 0) != 0)
			wrong++;
	}
	printf("stops %ld wrong %ld\n", stops, wrong);
	return 0;
}
END
"${CC:-cc}" -O1 -o "$dir/tracing" "$dir/tracing.c" || { echo "it cannot be built"; exit 77; }
mkfifo "$dir/end"
"$dir/tracing" <"$dir/end" >"$dir/tracing.out" &
target=$!
actors="$actors $target"
exec 5>"$dir/end"
until [ -s "$dir/tracing.out" ]; do
	kill -0 "$target" 2>/dev/null || { complain 'it has ended'; finish; }
	sleep 0.1
done
child=$(awk '$1 == "child" { print $2 }' "$dir/tracing.out")
for words in '-r 1000 --max-overhead 100 --max-stopped 100' '-r 500 --stop-all'; do
	# shellcheck disable=SC2086 # several words
	run -q -p "$target" -d 2 --full $words
	expect_late_at_most "$out"
	expect_in "$out" wait4
done
run -q -p "$child" -d 100ms
expect_status 3
expect_in "$err" "is already traced by process $target (tracing)"
exec 5>&-
wait "$target" || complain "the target has ended with status $?"
said=$(tail -1 "$dir/tracing.out")
case $said in
'stops '[1-9]*' wrong 0') ;;
*) complain "the target says '$said'" ;;
esac
finish
