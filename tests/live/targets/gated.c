/* SPDX-License-Identifier: MIT */
/*
 * gated.c THREADS - threads that call vfork(2) over and over. Their children end at once, or
 * wait at a gate, which each line of the test closes or opens: then their parents cannot be
 * stopped by anybody.
 *
 * Counters: 0… turns of each thread.
 */
#include <sys/wait.h>

#include "target.h"

static struct target_counters *counters;
static _Atomic unsigned numbers;
static _Atomic bool closed;
static pid_t target;

FRAME static void
gated_child(void)
{
	const struct timespec moment = {.tv_nsec = 200000};

	/* Whoever orphans it does not leave it waiting for ever. */
	while (closed && getppid() == target)
		nanosleep(&moment, NULL);
	_exit(0);
}

FRAME static void
gated_parent(void)
{
	unsigned number = numbers++;

	target_here();
	for (;;) {
		pid_t pid = vfork();

		if (pid == 0)
			gated_child();
		if (pid > 0)
			waitpid(pid, NULL, __WALL);
		counters->value[number]++;
	}
}

int
main(int argc, char **argv)
{
	static struct target_thread threads[TARGET_COUNTERS];
	size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;

	if (count > TARGET_COUNTERS)
		return 99;
	counters = target_counters();
	target = getpid();
	for (size_t i = 0; i < count; i++)
		threads[i] = (struct target_thread){.name = "gated", .run = gated_parent};
	target_start(threads, count, 0);
	target_wait(threads, count);
	target_ready();
	while (target_told())
		closed = !closed;
	_exit(0);
}
