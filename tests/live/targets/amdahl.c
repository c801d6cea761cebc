/* SPDX-License-Identifier: MIT */
/*
 * amdahl.c - rounds of serial work, work on two threads at once, and a sleep of both.
 *
 * Counters, in nanoseconds of real time since the start: 0 of the serial part, 1 of the
 * parallel one, 2 of the sleep; 3 is the CPU time of the process in the serial part, 4 in the
 * parallel one.
 */
#include "target.h"

#define SERIAL_NS 20000000u
#define PARALLEL_NS 20000000u
#define SLEEP_NS 15000000

static struct target_counters *counters;
static pthread_barrier_t barrier;

/* Of CPU time: whoever else uses the CPU makes it longer, not less. */
FRAME static void
burn(uint64_t ns)
{
	const uint64_t end = target_clock_ns(CLOCK_THREAD_CPUTIME_ID) + ns;

	while (target_clock_ns(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 2000; i++)
			target_sink++;
	KEEP_FRAME();
}

FRAME static void
serial_work(void)
{
	burn(SERIAL_NS);
	KEEP_FRAME();
}

FRAME static void
parallel_work(void)
{
	burn(PARALLEL_NS);
	KEEP_FRAME();
}

FRAME static void
idle_sleep(void)
{
	const struct timespec time = {.tv_nsec = SLEEP_NS};

	nanosleep(&time, NULL);
	KEEP_FRAME();
}

static void
helper(void)
{
	target_here();
	for (;;) {
		pthread_barrier_wait(&barrier);
		parallel_work();
		pthread_barrier_wait(&barrier);
	}
}

/* Adds what has passed since to a part's counters. */
static void
account(int real, int cpu, uint64_t *since, uint64_t *since_cpu)
{
	const uint64_t now = target_clock_ns(CLOCK_MONOTONIC);
	const uint64_t now_cpu = target_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	counters->value[real] += now - *since;
	if (cpu > 0)
		counters->value[cpu] += now_cpu - *since_cpu;
	*since = now;
	*since_cpu = now_cpu;
}

static void
leader(void)
{
	uint64_t now = target_clock_ns(CLOCK_MONOTONIC);
	uint64_t cpu = target_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

	target_here();
	for (;;) {
		serial_work();
		account(0, 3, &now, &cpu);
		pthread_barrier_wait(&barrier);
		parallel_work();
		pthread_barrier_wait(&barrier);
		account(1, 4, &now, &cpu);
		idle_sleep();
		account(2, 0, &now, &cpu);
	}
}

int
main(void)
{
	static struct target_thread threads[] = {{.name = "leader", .run = leader},
						 {.name = "helper", .run = helper}};

	counters = target_counters();
	pthread_barrier_init(&barrier, NULL, 2);
	return target_main(threads, 2, 0);
}
