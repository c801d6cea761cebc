/* SPDX-License-Identifier: MIT */
/*
 * exec_before.c - waits for a message, works for 0.2 s of CPU time and becomes exec_after,
 * which works for 1 s of CPU time and ends.
 *
 * exec_before leader: the first thread calls exec; exec_before thread: another one does,
 * which takes over the first one's thread id.
 */
#include "target.h"

void before_f0(void), before_leaf(void), become(void);

static char path[4096];

FRAME void
before_leaf(void)
{
	while (target_clock_ns(CLOCK_THREAD_CPUTIME_ID) < 200000000u)
		for (int i = 0; i < 20000; i++)
			target_sink++;
}

FRAME void
before_f0(void)
{
	before_leaf();
	KEEP_FRAME();
}

FRAME void
become(void)
{
	if (!target_told())
		_exit(0);
	before_f0();
	execl(path, path, (char *)NULL);
	target_fail("execl");
}

_Noreturn static void
wait_for_ever(void)
{
	for (;;)
		pause();
}

static void
idle(void)
{
	target_here();
	wait_for_ever();
}

static void
other(void)
{
	target_here();
	become();
}

int
main(int argc, char **argv)
{
	const bool by_leader = argc > 1 && strcmp(argv[1], "leader") == 0;
	struct target_thread threads[] = {
		{.name = "other", .run = by_leader ? idle : other, .sleeps = true},
	};
	const char *slash = strrchr(argv[0], '/');

	snprintf(path, sizeof(path), "%.*sexec_after",
		 slash != NULL ? (int)(slash - argv[0] + 1) : 0, argv[0]);
	target_start(threads, 1, 0);
	target_wait(threads, 1);
	target_ready();
	if (by_leader)
		become();
	wait_for_ever();
}
