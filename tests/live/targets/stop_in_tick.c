/* SPDX-License-Identifier: MIT */
/*
 * stop_in_tick.c - a library for LD_PRELOAD that stops wallsample within a tick: it raises SIGSTOP
 * when wallsample reads the counters of a thread (/proc/PID/task/TID/schedstat) for the Nth time.
 * N is the value of the environment variable STOP_AT_READ. The read is repeated after SIGCONT.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

/* True for "CPU_NS DELAY_NS SWITCHES\n", the contents of a file schedstat. */
static int
is_schedstat(const char *text, ssize_t size)
{
	int numbers = 0;

	for (ssize_t i = 0; i < size; i++) {
		if (text[i] == ' ' || text[i] == '\n')
			numbers++;
		else if (text[i] < '0' || text[i] > '9')
			return 0;
	}
	return numbers == 3;
}

ssize_t
pread(int fd, void *to, size_t size, off_t offset)
{
	static int reads;
	ssize_t got = syscall(SYS_pread64, fd, to, size, offset);
	const char *at = getenv("STOP_AT_READ");

	if (at == NULL || got <= 0 || !is_schedstat(to, got) || ++reads != atoi(at))
		return got;
	raise(SIGSTOP);
	return syscall(SYS_pread64, fd, to, size, offset);
}
