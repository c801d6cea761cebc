/* SPDX-License-Identifier: MIT */
/* hold_occupy.c - takes the CPUs of the target while a tick that holds threads requests its
 * stops. */
#include "sampler/hold/hold_occupy_internal.h"

#include <stdlib.h>

#include "sampler/occupier_internal.h"
#include "sampler/priority_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/thread/state.h"

/* Share of the stops in system calls, at ticks that take no CPU, from which on CPUs are taken. A
 * function that follows a system call is found too seldom by at most about this share. */
#define IN_CALL_LEAST 0.03
/* While CPUs are taken, one tick in this number takes none, to learn that share. */
#define TAKEN_IN_A_ROW 32
/* Number of stops in the running mean of that share, and of ticks in that of the time until a tick
 * is ready. */
#define MEMORY 16.0
/* Longest time until a tick is ready that is planned for: a slower tick takes the CPUs too early,
 * and occupiers give them up after HOLD_NS. */
#define READY_MOST_NS (400 * NS_PER_US)
/* Time from the moment at which a tick is expected to be ready to that at which CPUs are taken, so
 * that most ticks are ready by then. */
#define MARGIN_NS (20 * NS_PER_US)

struct hold_occupy {
	struct occupation shared;
	struct occupier *item;
	size_t count;
	cpu_set_t cpus;  /* CPUs that the sampler's thread may use */
	bool pinned;     /* it may use only the CPU of this tick */
	uint64_t due_ns; /* when the tick in progress was due; 0: not known */
	double ready_ns; /* running mean of the time from then until it is ready for its requests */
	/* Running mean: share of the stops that find a thread in a system call, at ticks that take
	 * no CPU. */
	double in_call;
	bool taken;      /* the tick in progress has waited for CPUs to be taken */
	unsigned in_row; /* number of ticks since the last one that was to take none */
};

struct hold_occupy *
hold_occupy_create(pid_t pid, const struct priority *priority)
{
	struct hold_occupy *occupy;
	cpu_set_t set, own;

	if (!occupiers_cpus(pid, &set, &own))
		return NULL;
	occupy = xcalloc(1, sizeof(*occupy));
	occupy->cpus = own;
	occupy->shared.priority = priority;
	occupy->shared.realtime = priority->may_be_urgent;
	atomic_store(&occupy->shared.tick_cpu, -1);
	occupy->item = occupiers_start(&occupy->shared, &set, &occupy->count);
	if (occupy->item != NULL)
		return occupy;
	free(occupy);
	return NULL;
}

static void
unpin(struct hold_occupy *occupy)
{
	if (occupy->pinned)
		(void)sched_setaffinity(0, sizeof(occupy->cpus), &occupy->cpus);
	occupy->pinned = false;
}

void
hold_occupy_free(struct hold_occupy *occupy)
{
	if (occupy == NULL)
		return;
	unpin(occupy);
	occupiers_end(&occupy->shared, occupy->item, occupy->count);
	free(occupy);
}

void
hold_occupy_tick(struct hold_occupy *occupy, uint64_t due_ns)
{
	cpu_set_t set;
	int cpu;

	if (occupy == NULL)
		return;
	occupy->due_ns = due_ns;
	occupy->taken = false;
	if (atomic_load(&occupy->shared.at_ns) == 0)
		return;
	cpu = sched_getcpu();
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	occupy->pinned = sched_setaffinity(0, sizeof(set), &set) == 0;
	atomic_store(&occupy->shared.tick_cpu, occupy->pinned ? cpu : -1);
	atomic_store(&occupy->shared.tick_begun, true);
}

static bool
all_arrived(const struct hold_occupy *occupy)
{
	const int tick_cpu = atomic_load(&occupy->shared.tick_cpu);

	for (size_t i = 0; i < occupy->count; i++)
		if (occupy->item[i].cpu != tick_cpu && !occupier_has_arrived(&occupy->item[i]))
			return false;
	return true;
}

static void
learn(double *mean, double value)
{
	*mean += (value - *mean) / MEMORY;
}

void
hold_occupy_await(struct hold_occupy *occupy)
{
	const uint64_t now = clock_now_ns();
	uint64_t at_ns;

	if (occupy == NULL)
		return;
	if (occupy->due_ns != 0 && now > occupy->due_ns)
		learn(&occupy->ready_ns, now - occupy->due_ns < READY_MOST_NS ?
						 (double)(now - occupy->due_ns) :
						 (double)READY_MOST_NS);
	at_ns = atomic_load(&occupy->shared.at_ns);
	/* A tick may begin before it is due: the last one. */
	if (!occupy->pinned || at_ns > now + READY_MOST_NS)
		return;
	occupy->taken = true;
	while (clock_now_ns() < at_ns + ARRIVE_NS && !all_arrived(occupy))
		;
}

void
hold_occupy_end(struct hold_occupy *occupy, uint64_t next_due_ns)
{
	uint64_t at_ns = 0;

	if (occupy == NULL)
		return;
	if (++occupy->in_row >= TAKEN_IN_A_ROW)
		occupy->in_row = 0;
	if (occupy->in_call >= IN_CALL_LEAST && occupy->in_row > 0)
		at_ns = next_due_ns + (uint64_t)occupy->ready_ns + MARGIN_NS;
	atomic_store(&occupy->shared.tick_begun, false);
	/* The sampler may wake on any CPU. */
	atomic_store(&occupy->shared.tick_cpu, -1);
	occupation_begin(&occupy->shared, at_ns);
	unpin(occupy);
	/* Those that are armed for the last round arm themselves when they wake. */
	for (size_t i = 0; at_ns != 0 && i < occupy->count; i++)
		if (atomic_load(&occupy->item[i].armed) == 0)
			occupier_signal(&occupy->item[i]);
}

void
hold_occupy_count(struct hold_occupy *occupy, long call)
{
	if (occupy != NULL && !occupy->taken)
		learn(&occupy->in_call, call != SYSCALL_NONE);
}
