/* SPDX-License-Identifier: MIT */
/*
 * recurse.c - recurse DEPTH: two threads, one running and one asleep, at the bottom of
 * DEPTH calls of one function, each of which takes a quarter of a kilobyte of stack.
 */
#include "target.h"

void deep_sleep(unsigned long), deep_run(unsigned long), bottom_sleep(void), bottom_run(void);
void sleeping(void), running(void);

#define LOCALS 232

static unsigned long depth;

FRAME void
bottom_run(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
deep_run(unsigned long left)
{
	volatile char local[LOCALS];

	local[0] = 1;
	if (left > 1)
		deep_run(left - 1);
	else
		bottom_run();
	target_sink = (unsigned long)local[0];
	KEEP_FRAME();
}

FRAME void
running(void)
{
	deep_run(depth);
	KEEP_FRAME();
}

FRAME void
bottom_sleep(void)
{
	int ends[2];
	char c;

	if (pipe(ends) != 0)
		target_fail("pipe");
	target_here();
	target_sink += (unsigned long)read(ends[0], &c, 1);
	KEEP_FRAME();
}

FRAME void
deep_sleep(unsigned long left)
{
	volatile char local[LOCALS];

	local[0] = 2;
	if (left > 1)
		deep_sleep(left - 1);
	else
		bottom_sleep();
	target_sink = (unsigned long)local[0];
	KEEP_FRAME();
}

FRAME void
sleeping(void)
{
	deep_sleep(depth);
	KEEP_FRAME();
}

static struct target_thread threads[] = {
	{.name = "running", .run = running},
	{.name = "sleeping", .run = sleeping, .sleeps = true},
};

int
main(int argc, char **argv)
{
	if (argc != 2)
		return 64;
	depth = strtoul(argv[1], NULL, 10);
	return target_main(threads, 2, (size_t)64 << 20);
}
