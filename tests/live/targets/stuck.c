/* SPDX-License-Identifier: MIT */
/*
 * stuck.c - stuck HOW: threads that wait for locks which are never released.
 *
 * abba       "first" has lock_a and waits for lock_b, "second" the other way round
 * behind     the same, and "third" waits for lock_a, "fourth" for the end of "third"
 * three      a ring of three
 * self       "first" waits for a lock that it has itself
 * join       "first" waits for the end of "second", which waits for a lock of "first"
 * patient    "first" waits for lock_b, which "second" has, asleep: no deadlock
 * pointer    abba, in a function whose frame is found by a register, which takes a stop to tell
 * timed      abba, but each waits for a day at most: no deadlock
 */
#include "target.h"

pthread_mutex_t lock_a = PTHREAD_MUTEX_INITIALIZER, lock_b = PTHREAD_MUTEX_INITIALIZER,
		lock_c = PTHREAD_MUTEX_INITIALIZER;

void wait_for(pthread_mutex_t *), wait_for_a_day(pthread_mutex_t *);
void wait_with_array(pthread_mutex_t *, size_t);

static pthread_barrier_t all_have;
static struct target_thread threads[4];

/* Everybody has the first lock before anybody asks for the second. */
static void
have(pthread_mutex_t *mutex)
{
	if (mutex != NULL)
		pthread_mutex_lock(mutex);
	pthread_barrier_wait(&all_have);
	target_here();
}

FRAME void
wait_for(pthread_mutex_t *mutex)
{
	pthread_mutex_lock(mutex);
	KEEP_FRAME();
}

FRAME void
wait_with_array(pthread_mutex_t *mutex, size_t size)
{
	volatile char *array = __builtin_alloca(size);

	array[0] = 0;
	pthread_mutex_lock(mutex);
	target_sink += (unsigned long)array[0];
}

FRAME void
wait_for_a_day(pthread_mutex_t *mutex)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 86400;
	pthread_mutex_timedlock(mutex, &until);
	KEEP_FRAME();
}

static void
a_then_b(void)
{
	have(&lock_a);
	wait_for(&lock_b);
}

static void
b_then_a(void)
{
	have(&lock_b);
	wait_for(&lock_a);
}

static void
b_then_c(void)
{
	have(&lock_b);
	wait_for(&lock_c);
}

static void
c_then_a(void)
{
	have(&lock_c);
	wait_for(&lock_a);
}

static void
a_then_b_array(void)
{
	have(&lock_a);
	wait_with_array(&lock_b, 64 + target_sink % 2);
}

static void
b_then_a_array(void)
{
	have(&lock_b);
	wait_with_array(&lock_a, 64 + target_sink % 2);
}

static void
nothing_then_a(void)
{
	have(NULL);
	wait_for(&lock_a);
}

static void
a_then_a(void)
{
	have(&lock_a);
	wait_for(&lock_a);
}

static void
end_of_third(void)
{
	have(NULL);
	pthread_join(threads[2].thread, NULL);
}

static void
end_of_second(void)
{
	have(&lock_a);
	pthread_join(threads[1].thread, NULL);
}

static void
b_then_sleep(void)
{
	have(&lock_b);
	while (!target_over)
		sleep(1000);
}

static void
a_then_b_timed(void)
{
	have(&lock_a);
	wait_for_a_day(&lock_b);
}

static void
b_then_a_timed(void)
{
	have(&lock_b);
	wait_for_a_day(&lock_a);
}

static const struct {
	const char *how;
	void (*run[4])(void);
} ways[] = {
	{ "abba", { a_then_b, b_then_a } },
	{ "behind", { a_then_b, b_then_a, nothing_then_a, end_of_third } },
	{ "three", { a_then_b, b_then_c, c_then_a } },
	{ "self", { a_then_a } },
	{ "join", { end_of_second, b_then_a } },
	{ "patient", { a_then_b, b_then_sleep } },
	{ "pointer", { a_then_b_array, b_then_a_array } },
	{ "timed", { a_then_b_timed, b_then_a_timed } },
};

int
main(int argc, char **argv)
{
	static const char *const names[] = { "first", "second", "third", "fourth" };
	size_t count = 0;

	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(ways[0]); i++) {
		if (strcmp(argv[1], ways[i].how) != 0)
			continue;
		for (; count < 4 && ways[i].run[count] != NULL; count++)
			threads[count] = (struct target_thread){
				.name = names[count],
				.run = ways[i].run[count],
				.sleeps = true,
			};
	}
	if (count == 0)
		return 64;
	pthread_barrier_init(&all_have, NULL, (unsigned)count);
	return target_main(threads, count, 0);
}
