/* SPDX-License-Identifier: MIT */
/*
 * churn.c - two threads that create and join threads as fast as it goes.
 *
 * Each round is counted in counter 0 or 1; counters 2 and 3 hold the ids of the two threads:
 * a new thread has the name of its creator, and for a moment the two look alike.
 */
#include "target.h"

void create_f0(void), brief_f0(void), brief_leaf(int);
void *brief_main(void *);

static struct target_counters *counters;

FRAME void
brief_leaf(int rounds)
{
	while (rounds-- > 0)
		target_sink++;
}

FRAME void
brief_f0(void)
{
	brief_leaf(50000);
	KEEP_FRAME();
}

FRAME void *
brief_main(void *arg)
{
	brief_f0();
	return arg;
}

static struct target_thread threads[2];

FRAME void
create_f0(void)
{
	_Atomic uint64_t *counter = &counters->value[target_self - threads];

	counter[2] = (uint64_t)target_self->tid;
	while (!target_over) {
		pthread_t thread;
		if (pthread_create(&thread, NULL, brief_main, NULL) != 0)
			target_fail("pthread_create");
		pthread_join(thread, NULL);
		(*counter)++;
		target_here();
	}
}

int
main(void)
{
	counters = target_counters();
	for (size_t i = 0; i < 2; i++)
		threads[i] = (struct target_thread){.name = "creator", .run = create_f0};
	return target_main(threads, 2, 0);
}
