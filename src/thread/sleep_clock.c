/* SPDX-License-Identifier: MIT */
/* sleep_clock.c - computes for how long a thread has been asleep. */
#include "wallsample/thread/sleep_clock.h"

#include <sched.h>
#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/thread/own.h"

#define CLOCK_UNREAD INT64_MIN
#define CLOCK_UNKNOWN INT64_MAX
/* CPUs with this number or above are not known. Linux has at most 8,192 (CONFIG_NR_CPUS). */
#define CPUS_MOST 8192

void
sleep_clock_init(struct sleep_clock *clock)
{
	*clock = (struct sleep_clock){ .behind_ns = NULL };
}

void
sleep_clock_release(struct sleep_clock *clock)
{
	free(clock->behind_ns);
	sleep_clock_init(clock);
}

/*
 * Returns CLOCK_MONOTONIC less the clock of this CPU. sched_yield(2) makes the kernel bring
 * se.exec_start of the calling thread up to date (update_curr in kernel/sched/fair.c).
 */
static int64_t
compare_here(void)
{
	struct own_thread own;
	uint64_t now_ns, here_ns;

	own_thread_open(&own);
	sched_yield();
	now_ns = clock_now_ns();
	here_ns = own_thread_switch(&own);
	own_thread_close(&own);
	return here_ns > 0 ? (int64_t)(now_ns - here_ns) : CLOCK_UNKNOWN;
}

/* Runs compare_here() on a CPU; CLOCK_UNKNOWN if the calling thread may not run there. */
static int64_t
compare_on(uint32_t cpu)
{
	cpu_set_t before[CPUS_MOST / CPU_SETSIZE], only[CPUS_MOST / CPU_SETSIZE];
	int64_t behind_ns;

	CPU_ZERO_S(sizeof(only), only);
	CPU_SET_S(cpu, sizeof(only), only);
	if (sched_getaffinity(0, sizeof(before), before) != 0 ||
	    !CPU_ISSET_S(cpu, sizeof(before), before) ||
	    sched_setaffinity(0, sizeof(only), only) != 0)
		return CLOCK_UNKNOWN;
	behind_ns = compare_here();
	(void)sched_setaffinity(0, sizeof(before), before);
	return behind_ns;
}

static int64_t
clock_of_cpu(struct sleep_clock *clock, uint32_t cpu)
{
	if (cpu >= CPUS_MOST)
		return CLOCK_UNKNOWN;
	clock->behind_ns = xgrow(clock->behind_ns, &clock->capacity, (size_t)cpu + 1,
				 sizeof(*clock->behind_ns));
	while (clock->count <= cpu)
		clock->behind_ns[clock->count++] = CLOCK_UNREAD;
	if (clock->behind_ns[cpu] == CLOCK_UNREAD)
		clock->behind_ns[cpu] = compare_on(cpu);
	return clock->behind_ns[cpu];
}

uint64_t
sleep_clock_read(struct sleep_clock *clock, const struct process *process, struct watch *watch)
{
	struct task_stat stat;
	uint64_t left_ns;
	int64_t behind_ns, slept_ns;

	if (!process_read_task_stat(process, watch->tid, &stat) ||
	    !watch_read_switch(watch, process, &left_ns) || left_ns == 0)
		return 0;
	behind_ns = clock_of_cpu(clock, (uint32_t)stat.processor);
	if (behind_ns == CLOCK_UNKNOWN)
		return 0;
	slept_ns = (int64_t)(clock_now_ns() - (uint64_t)behind_ns - left_ns);
	return slept_ns > 0 ? (uint64_t)slept_ns : 0;
}
