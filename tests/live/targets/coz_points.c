/* SPDX-License-Identifier: MIT */
/*
 * coz_points.c - comes by progress points as a program does that was built with coz.h, one step
 * for each line, and says "done": "served" twice, two begins and an end of "request"; from the
 * second step on "late"; and four threads at once by "round-N", a new one each time.
 */
#include <dlfcn.h>

#include "target.h"

enum { THROUGHPUT = 1, BEGIN, END };

#define THREADS 4

/* What coz.h counts in. */
struct counter {
	size_t count, backoff;
};

static pthread_barrier_t barrier;
static char round_name[32];

static void
come_by(int type, const char *name, size_t times)
{
	struct counter *(*get)(int type, const char *name);
	void *symbol = dlsym(RTLD_DEFAULT, "_coz_get_counter");
	struct counter *counter = NULL;

	memcpy(&get, &symbol, sizeof(get));
	if (get != NULL)
		counter = get(type, name);
	if (counter != NULL)
		__atomic_add_fetch(&counter->count, times, __ATOMIC_RELAXED);
}

static void *
come_by_at_once(void *arg)
{
	pthread_barrier_wait(&barrier);
	come_by(THROUGHPUT, round_name, 1);
	return arg;
}

static void
step(int number)
{
	pthread_t thread[THREADS];

	come_by(THROUGHPUT, "served", 2);
	come_by(BEGIN, "request", 2);
	come_by(END, "request", 1);
	if (number >= 2)
		come_by(THROUGHPUT, "late", 7);
	snprintf(round_name, sizeof(round_name), "round-%d", number);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, come_by_at_once, NULL) != 0)
			target_fail("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

int
main(void)
{
	pthread_barrier_init(&barrier, NULL, THREADS);
	target_ready();
	for (int number = 1; target_told(); number++) {
		step(number);
		target_say("done\n");
	}
	return 0;
}
