/* SPDX-License-Identifier: MIT */
/*
 * execs.c - becomes itself again as fast as it goes: "execs leader" by its first thread,
 * "execs thread" by another one. Each time is counted in counter 0.
 *
 * Says "ready", and begins when told. The end of its input ends it.
 */
#include <poll.h>

#include "target.h"

void exec_f0(void), exec_work(void);

static char **words;
static bool by_leader;

FRAME void
exec_work(void)
{
	for (int i = 0; i < 200000; i++)
		target_sink++;
}

FRAME void
exec_f0(void)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	exec_work();
	if (poll(&input, 1, 0) != 0)
		_exit(0);
	execv("/proc/self/exe", words);
	target_fail("execv");
}

static void
other(void)
{
	target_here();
	if (!by_leader)
		exec_f0();
	for (;;)
		pause();
}

static struct target_thread threads[] = {{.name = "other", .run = other}};

int
main(int argc, char **argv)
{
	struct target_counters *counters = target_counters();

	if (argc < 2)
		return 64;
	words = argv;
	by_leader = strcmp(argv[1], "leader") == 0;
	if (counters->value[0]++ == 0) {
		target_ready();
		if (!target_told())
			return 0;
	}
	target_start(threads, 1, 0);
	if (by_leader) {
		target_wait(threads, 1);
		exec_f0();
	}
	for (;;)
		pause();
}
