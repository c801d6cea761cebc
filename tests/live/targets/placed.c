/* SPDX-License-Identifier: MIT */
/*
 * placed.c - two threads whose stacks are known, one that computes and one that sleeps, for tests
 * of where a program's file is. It does without /proc, which is not everywhere.
 */
#include "target.h"

void placed_spins(void);
void placed_sleeps(void);
void placed_leaf(void);

FRAME void
placed_leaf(void)
{
	target_here();
	while (!target_over)
		target_sink++;
	KEEP_FRAME();
}

FRAME void
placed_spins(void)
{
	placed_leaf();
	KEEP_FRAME();
}

FRAME void
placed_sleeps(void)
{
	target_here();
	while (!target_over)
		nanosleep(&(const struct timespec){1000, 0}, NULL);
	KEEP_FRAME();
}

static struct target_thread threads[] = {{.name = "spins", .run = placed_spins},
					 {.name = "sleeps", .run = placed_sleeps}};

int
main(void)
{
	return target_main(threads, 2, 0);
}
