/* SPDX-License-Identifier: MIT */
/*
 * ring.c - ring N: so many threads hand a turn around. Who has it works for two milliseconds of CPU
 * time and hands it on: one can run at any time, and each of them seldom does.
 */
#include <limits.h>
#include <semaphore.h>

#include "target.h"

#define MOST 1024
#define TURN_NS 2000000u

void *ring_f0(void *), take_turn(void);

static sem_t turn[MOST];
static size_t count;

FRAME void
take_turn(void)
{
	const uint64_t end = target_clock_ns(CLOCK_THREAD_CPUTIME_ID) + TURN_NS;

	while (target_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 1000; i++)
			target_sink++;
	KEEP_FRAME();
}

FRAME void *
ring_f0(void *own)
{
	const size_t at = (size_t)((sem_t *)own - turn);

	while (!target_over) {
		while (sem_wait(own) != 0)
			;
		take_turn();
		sem_post(&turn[(at + 1) % count]);
	}
	KEEP_FRAME();
	return NULL;
}

int
main(int argc, char **argv)
{
	pthread_attr_t attr;

	count = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
	if (count == 0 || count > MOST)
		return 64;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 65536 + (size_t)PTHREAD_STACK_MIN);
	for (size_t i = 0; i < count; i++) {
		pthread_t thread;

		sem_init(&turn[i], 0, 0);
		if (pthread_create(&thread, &attr, ring_f0, &turn[i]) != 0)
			target_fail("pthread_create");
	}
	sem_post(&turn[0]);
	target_ready();
	while (target_told())
		;
	return 0;
}
