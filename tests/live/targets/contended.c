/* SPDX-License-Identifier: MIT */
/*
 * contended.c - contended [WAITERS LONG_US SHORT_US REST_US]: "holder" takes table_lock, has it in
 * hold_long and then in hold_short while threads "waiter" wait for it, and rests without it while
 * they wait for nothing of his, over and over. Counters: how many ns it was in each.
 * contended TAKERS: as many threads "taker" take turns with the lock.
 */
#include "target.h"

#define WAITERS_MOST 400

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

void hold_long(void), hold_short(void), rest_without(void), want_table(void);

static pthread_barrier_t round_begins, round_ends;
static struct target_counters *counters;
static unsigned waiters = 2, long_us = 30000, short_us = 10000, rest_us, hold_us;

FRAME void
hold_long(void)
{
	usleep(long_us);
	KEEP_FRAME();
}

FRAME void
hold_short(void)
{
	usleep(short_us);
	KEEP_FRAME();
}

FRAME void
rest_without(void)
{
	usleep(rest_us);
	KEEP_FRAME();
}

FRAME void
want_table(void)
{
	pthread_mutex_lock(&table_lock);
	if (hold_us > 0)
		usleep(hold_us);
	KEEP_FRAME();
	pthread_mutex_unlock(&table_lock);
}

static uint64_t
now_ns(void)
{
	return target_clock_ns(CLOCK_MONOTONIC);
}

static void
hold(void)
{
	target_here();
	while (!target_over) {
		pthread_mutex_lock(&table_lock);
		pthread_barrier_wait(&round_begins);
		const uint64_t began = now_ns();
		hold_long();
		const uint64_t middle = now_ns();
		hold_short();
		const uint64_t end = now_ns();
		pthread_mutex_unlock(&table_lock);
		counters->value[0] += middle - began;
		counters->value[1] += end - middle;
		pthread_barrier_wait(&round_ends);
		if (rest_us > 0)
			rest_without();
	}
}

static void
want(void)
{
	target_here();
	while (!target_over) {
		pthread_barrier_wait(&round_begins);
		want_table();
		pthread_barrier_wait(&round_ends);
	}
}

static void
take_turns(void)
{
	target_here();
	while (!target_over) {
		want_table();
		sched_yield();
	}
}

int
main(int argc, char **argv)
{
	static struct target_thread threads[1 + WAITERS_MOST] = {
		{ .name = "holder", .run = hold },
	};

	if (argc == 5) {
		waiters = (unsigned)strtoul(argv[1], NULL, 10);
		long_us = (unsigned)strtoul(argv[2], NULL, 10);
		short_us = (unsigned)strtoul(argv[3], NULL, 10);
		rest_us = (unsigned)strtoul(argv[4], NULL, 10);
	}
	if (argc == 2)
		waiters = (unsigned)strtoul(argv[1], NULL, 10);
	if (waiters < 1 || waiters > WAITERS_MOST)
		return 64;
	if (argc == 2) {
		hold_us = 20;
		for (size_t i = 0; i < waiters; i++)
			threads[i] = (struct target_thread){ .name = "taker", .run = take_turns };
		return target_main(threads, waiters, 0);
	}
	counters = target_counters();
	pthread_barrier_init(&round_begins, NULL, 1 + waiters);
	pthread_barrier_init(&round_ends, NULL, 1 + waiters);
	for (size_t i = 1; i <= waiters; i++)
		threads[i] = (struct target_thread){ .name = "waiter", .run = want };
	return target_main(threads, 1 + waiters, 0);
}
