/* SPDX-License-Identifier: MIT */
/*
 * contended.c - "holder" takes table_lock, has it in hold_long and then in hold_short while two
 * threads "waiter" wait for it, over and over. Counters: how many ns it was in each.
 */
#include "target.h"

#define WAITERS 2
#define LONG_US 30000
#define SHORT_US 10000

pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

void hold_long(void), hold_short(void), want_table(void);

static pthread_barrier_t round_begins, round_ends;
static struct target_counters *counters;

FRAME void
hold_long(void)
{
	usleep(LONG_US);
	KEEP_FRAME();
}

FRAME void
hold_short(void)
{
	usleep(SHORT_US);
	KEEP_FRAME();
}

FRAME void
want_table(void)
{
	pthread_mutex_lock(&table_lock);
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

int
main(void)
{
	static struct target_thread threads[1 + WAITERS] = { { .name = "holder", .run = hold } };

	counters = target_counters();
	pthread_barrier_init(&round_begins, NULL, 1 + WAITERS);
	pthread_barrier_init(&round_ends, NULL, 1 + WAITERS);
	for (size_t i = 1; i <= WAITERS; i++)
		threads[i] = (struct target_thread){ .name = "waiter", .run = want };
	return target_main(threads, 1 + WAITERS, 0);
}
