/* SPDX-License-Identifier: MIT */
/* bursts.c - measures the bursts of a process, and chooses the time between ticks from them. */
#include "wallsample/causal/bursts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "wallsample/base/base.h"

/* Time between two readings of the counters. */
#define INTERVAL_NS NS_PER_MS
/*
 * Number of ticks in a burst that bursts_tick_ns() provides for, and the least number. In a
 * simulation of the programs of `make bench-causal` without any cost of ticks, gains were at most 3
 * points off with two ticks in the shortest burst, and 20 points with two ticks in three bursts.
 * With one tick in each burst they were at most 4 points off, and a gain of 150 was 10 too high.
 */
#define TICKS_IN_BURST 2
#define TICKS_LEAST 1.0
/* Resolution of the time between ticks. */
#define TICK_UNIT_NS (100 * NS_PER_US)
/* Share of the CPU time that shorter bursts may have: they are not considered. */
#define SHORT_SHARE 0.1
/* If one thread has this share of the CPU time, hardly any other thread runs beside it. */
#define ALONE_SHARE 0.9
/*
 * With this share of its runnable time a process has too few CPUs for short ticks: on a busy
 * machine a thread that shares its CPU is not stopped again for 3 ms after a stop (SPARE_NS,
 * hold_spare.c). With ticks of 0.9 ms and a load of 20 a gain of 67 was found to be 13 (-8, 41),
 * and 73 (62, 85) with ticks of 5 ms.
 */
#define DELAYED_SHARE 0.05
/* Number of running threads that BURSTS_TICK_LEAST_NS is meant for. */
#define THREADS_AT_LEAST 2.0

/* A thread of the process. */
struct burst_thread {
	pid_t tid;
	/* Counters when bursts_measure() began, and at the last reading that found a new sleep. */
	struct task_use first, slept;
	struct task_use now;   /* counters at the last reading */
	struct task_use quiet; /* counters when measure_delays() began */
	bool gone;             /* the thread has exited */
};

struct burst_list {
	struct burst *burst;
	size_t count, capacity;
};

static void
add_burst(struct burst_list *list, uint64_t cpu_ns, uint64_t sleeps)
{
	if (cpu_ns == 0)
		return;
	list->burst = xgrow(list->burst, &list->capacity, list->count + 1, sizeof(*list->burst));
	list->burst[list->count++] = (struct burst){ cpu_ns, cpu_ns / sleeps };
}

static void
sleep_ns(uint64_t ns)
{
	struct timespec left = { .tv_sec = (time_t)(ns / NS_PER_SEC),
				 .tv_nsec = (long)(ns % NS_PER_SEC) };

	/* A signal that is handled meanwhile must not shorten the sleep. */
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static struct burst_thread *
list_threads(const struct process *process, size_t *count)
{
	pid_t *tids = NULL;
	size_t capacity = 0;
	const size_t listed = process_list_threads(process, &tids, &capacity);
	struct burst_thread *thread = xcalloc(listed + 1, sizeof(*thread));

	for (size_t i = 0; i < listed; i++) {
		struct burst_thread *to = &thread[i];

		to->tid = tids[i];
		to->gone = !process_read_task_use(process, tids[i], &to->first);
		to->slept = to->now = to->first;
	}
	free(tids);
	*count = listed;
	return thread;
}

/* Reads the counters of a thread, and adds a burst if it has slept since the last burst. */
static void
read_thread(const struct process *process, struct burst_thread *thread, struct burst_list *list)
{
	struct task_use use;

	if (thread->gone)
		return;
	thread->gone = !process_read_task_use(process, thread->tid, &use);
	if (thread->gone || use.cpu_ns < thread->slept.cpu_ns)
		return;
	thread->now = use;
	if (use.voluntary <= thread->slept.voluntary)
		return;
	add_burst(list, use.cpu_ns - thread->slept.cpu_ns, use.voluntary - thread->slept.voluntary);
	thread->slept = use;
}

static int
compare_lengths(const void *left, const void *right)
{
	const struct burst *a = left, *b = right;

	return (a->length_ns > b->length_ns) - (a->length_ns < b->length_ns);
}

uint64_t
bursts_typical(struct burst *burst, size_t count)
{
	double total = 0, sum = 0;
	size_t i = 0;

	for (size_t b = 0; b < count; b++)
		total += (double)burst[b].cpu_ns;
	if (burst == NULL || total <= 0)
		return 0;
	qsort(burst, count, sizeof(*burst), compare_lengths);
	while (i + 1 < count && sum + (double)burst[i].cpu_ns < SHORT_SHARE * total)
		sum += (double)burst[i++].cpu_ns;
	return burst[i].length_ns;
}

double
bursts_delayed_share(uint64_t cpu_ns, uint64_t delay_ns)
{
	return delay_ns > 0 ? (double)delay_ns / ((double)cpu_ns + (double)delay_ns) : 0;
}

/* Sets burst_ns and parallelism from the bursts, the last one of each thread included, which has
 * not ended. */
static void
sum_up(const struct burst_thread *thread, size_t count, struct burst_list *list,
       uint64_t elapsed_ns, struct burst_summary *out)
{
	uint64_t total = 0, most = 0;

	for (size_t i = 0; i < count; i++) {
		const uint64_t used = thread[i].now.cpu_ns - thread[i].first.cpu_ns;

		add_burst(list, thread[i].now.cpu_ns - thread[i].slept.cpu_ns, 1);
		total += used;
		most = used > most ? used : most;
	}
	out->parallelism = elapsed_ns > 0 ? (double)total / (double)elapsed_ns : 0;
	if ((double)most < ALONE_SHARE * (double)total)
		out->burst_ns = bursts_typical(list->burst, list->count) / NS_PER_US * NS_PER_US;
}

/* Reads the counters of the threads before and after a sleep of BURSTS_QUIET_NS. Returns
 * bursts_delayed_share() of the threads that have not exited. */
static double
measure_delays(const struct process *process, struct burst_thread *thread, size_t count)
{
	uint64_t cpu = 0, delay = 0;
	struct task_use use;

	for (size_t i = 0; i < count; i++)
		thread[i].gone |= !process_read_task_use(process, thread[i].tid, &thread[i].quiet);
	sleep_ns(BURSTS_QUIET_NS);
	for (size_t i = 0; i < count; i++) {
		const struct task_use *before = &thread[i].quiet;

		if (thread[i].gone || !process_read_task_use(process, thread[i].tid, &use) ||
		    use.cpu_ns < before->cpu_ns || use.delay_ns < before->delay_ns)
			continue;
		cpu += use.cpu_ns - before->cpu_ns;
		delay += use.delay_ns - before->delay_ns;
	}
	return bursts_delayed_share(cpu, delay);
}

struct burst_summary
bursts_measure(const struct process *process)
{
	const uint64_t began_ns = clock_now_ns();
	struct burst_summary summary = { .burst_ns = 0 };
	struct burst_list list = { .count = 0 };
	size_t count;
	struct burst_thread *thread = list_threads(process, &count);

	while (clock_now_ns() - began_ns < BURSTS_READ_NS) {
		sleep_ns(INTERVAL_NS);
		for (size_t i = 0; i < count; i++)
			read_thread(process, &thread[i], &list);
	}
	sum_up(thread, count, &list, clock_now_ns() - began_ns, &summary);
	summary.delayed = measure_delays(process, thread, count);
	free(thread);
	free(list.burst);
	return summary;
}

bool
bursts_delayed(const struct burst_summary *summary)
{
	return summary->delayed >= DELAYED_SHARE;
}

uint64_t
bursts_tick_ns(const struct burst_summary *summary)
{
	const double threads = fmax(1, summary->parallelism / THREADS_AT_LEAST);
	const double least = threads * (double)BURSTS_TICK_LEAST_NS;
	const double half = summary->burst_ns > 0 ? (double)summary->burst_ns / TICKS_IN_BURST :
						    (double)BURSTS_TICK_MOST_NS;
	const double wanted = fmax(fmin(half, (double)BURSTS_TICK_MOST_NS), least);
	const double tick_ns = bursts_delayed(summary) ?
				       (double)BURSTS_TICK_DELAYED_NS :
				       fmin(wanted, (double)BURSTS_TICK_DELAYED_NS);

	return (uint64_t)tick_ns / TICK_UNIT_NS * TICK_UNIT_NS;
}

uint64_t
bursts_unit_ns(uint64_t burst_ns, uint64_t tick_ns)
{
	const uint64_t half = burst_ns > 0 ? burst_ns / TICKS_IN_BURST : BURSTS_TICK_DELAYED_NS;
	const uint64_t most = half < BURSTS_TICK_DELAYED_NS ? half : BURSTS_TICK_DELAYED_NS;

	return most > tick_ns ? most : tick_ns;
}

uint64_t
bursts_least_ns(uint64_t tick_ns)
{
	return (uint64_t)ceil(TICKS_LEAST * (double)tick_ns / TICK_UNIT_NS) * TICK_UNIT_NS;
}
