/* SPDX-License-Identifier: MIT */
/* rival.c - a real-time thread that takes a CPU. */
#include "rival.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdatomic.h>

static _Atomic bool rival_runs, rival_ends;

static void *
rival_run(void *unused)
{
	(void)unused;
	rival_runs = true;
	while (!rival_ends)
		;
	return NULL;
}

bool
rival_start(pthread_t *rival, const cpu_set_t *cpu)
{
	const struct sched_param first = { .sched_priority = 1 };
	pthread_attr_t attributes;
	bool started;

	rival_runs = rival_ends = false;
	pthread_attr_init(&attributes);
	pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
	pthread_attr_setschedpolicy(&attributes, SCHED_FIFO);
	pthread_attr_setschedparam(&attributes, &first);
	pthread_attr_setaffinity_np(&attributes, sizeof(*cpu), cpu);
	started = pthread_create(rival, &attributes, rival_run, NULL) == 0;
	pthread_attr_destroy(&attributes);
	while (started && !rival_runs)
		sched_yield();
	return started;
}

bool
take_cpus(cpu_set_t *all, cpu_set_t *other)
{
	cpu_set_t own;
	int cpu = 0;

	assert_int_equal(sched_getaffinity(0, sizeof(*all), all), 0);
	if (CPU_COUNT(all) < 2)
		return false;
	while (!CPU_ISSET(cpu, all))
		cpu++;
	CPU_ZERO(&own);
	CPU_SET(cpu, &own);
	for (cpu++; !CPU_ISSET(cpu, all);)
		cpu++;
	CPU_ZERO(other);
	CPU_SET(cpu, other);
	return sched_setaffinity(0, sizeof(own), &own) == 0;
}

void
rival_end(pthread_t rival, const cpu_set_t *all)
{
	rival_ends = true;
	pthread_join(rival, NULL);
	sched_setaffinity(0, sizeof(*all), all);
}
