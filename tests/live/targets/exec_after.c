/* SPDX-License-Identifier: MIT */
/*
 * exec_after.c - what exec_before becomes: works for a second of CPU time, then ends.
 *
 * The CPU clock of a thread goes on through exec.
 */
#include "target.h"

void after_f0(void), after_leaf(uint64_t);

FRAME void
after_leaf(uint64_t until_ns)
{
	while (target_clock_ns(CLOCK_THREAD_CPUTIME_ID) < until_ns)
		for (int i = 0; i < 20000; i++)
			target_sink++;
}

FRAME void
after_f0(void)
{
	after_leaf(target_clock_ns(CLOCK_THREAD_CPUTIME_ID) + 1000000000u);
	KEEP_FRAME();
}

int
main(void)
{
	target_say("became\n");
	after_f0();
	return 5;
}
