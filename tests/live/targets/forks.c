/* SPDX-License-Identifier: MIT */
/*
 * forks.c - a thread that forks children, each of which ends at once, as fast as it goes.
 *
 * Each child is waited for and counted in counter 0; those that ended in any other way
 * than by _exit(7) in counter 1.
 */
#include <sys/wait.h>

#include "target.h"

void fork_f0(void), fork_child(void);

static struct target_counters *counters;

FRAME void
fork_child(void)
{
	for (int i = 0; i < 20000; i++)
		target_sink++;
	_exit(7);
}

FRAME void
fork_f0(void)
{
	while (!target_over) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0)
			fork_child();
		if (pid < 0)
			target_fail("fork");
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				target_fail("waitpid");
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 7)
			counters->value[1]++;
		counters->value[0]++;
		target_here();
	}
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "forker", .run = fork_f0}};

int
main(void)
{
	counters = target_counters();
	return target_main(threads, 1, 0);
}
