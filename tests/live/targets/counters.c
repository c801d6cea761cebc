/* SPDX-License-Identifier: MIT */
/*
 * counters.c [ends] - with each line that it is told counts one step in counters of all sizes,
 * writes twice to /dev/null, and says "done". With "ends" its first thread ends, and another does
 * all that.
 */
#include "counters.h"
#include "target.h"

static volatile uint8_t hits8;
static volatile uint16_t hits16;
static volatile uint32_t hits32 = UINT32_MAX - 5; /* wraps with the second step */
volatile uint64_t hits64 = 1000;
volatile uint64_t backwards = 1000;
static volatile uint32_t twice;
static volatile struct {
	uint64_t other;
	uint32_t hits;
	uint16_t small[4];
} table;
static __thread volatile uint64_t own_hits;
volatile uint64_t begun = 3, ended = 1; /* two in progress from the start */
static int null;

FRAME void
counters_step(void)
{
	static volatile uint32_t inner;

	inner += 2;
	hits8 += 100;
	hits16 += 40000;
	hits32 += 4;
	hits64 += 3;
	backwards -= 1;
	twice += 5;
	table.hits += 11;
	table.small[1] += 13;
	own_hits++;
	begun += 2;
	ended += 1;
	counters_more();
	KEEP_FRAME();
}

static void
work(void)
{
	target_ready();
	while (target_told()) {
		counters_step();
		for (int i = 0; i < 2; i++)
			if (write(null, "12345", 5) != 5)
				target_fail("write");
		target_say("done\n");
	}
	_exit(0);
}

static void *
work_alone(void *arg)
{
	const pthread_t *first = arg;

	/* It cannot be joined with before it has ended. */
	if (pthread_join(*first, NULL) != 0)
		target_fail("pthread_join");
	work();
	return NULL;
}

int
main(int argc, char **argv)
{
	static pthread_t first;
	pthread_t thread;

	(void)argv;
	null = open("/dev/null", O_WRONLY | O_CLOEXEC);
	first = pthread_self();
	if (argc == 1)
		work();
	if (pthread_create(&thread, NULL, work_alone, &first) != 0)
		target_fail("pthread_create");
	pthread_exit(NULL);
}
