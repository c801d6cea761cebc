/* SPDX-License-Identifier: MIT */
/* occupy.c - threads that take the target's CPUs while a tick requests its stops. */
#include "sampler/occupy_internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "sampler/occupier_internal.h"
#include "sampler/priority_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/process/loadavg.h"
#include "wallsample/process/process.h"

/* After a tick that began later than this the sampler's thread may wake on any CPU again: the CPU
 * on which it has slept may be used by a thread that it cannot preempt. */
#define LATE_NS (1 * NS_PER_MS)

/* An occupier arms itself for the next tick, which saves a signal, if that is due later than this
 * after the stop requests of a tick; else it might take its CPU from threads that are to stop. */
#define ARM_LEAST_NS (1 * NS_PER_MS)

/*
 * A thread of wallsample waits for its CPU after its timer has expired for one of two reasons.
 * Either the thread on that CPU is in a system call, and loses the CPU when the call ends. Or the
 * kernel refuses to preempt that thread, because it has waited long for a CPU (occupy_internal.h):
 * then the thread continues in user mode, and may fall asleep in a later call. The kernel refuses
 * nothing to a thread in a real-time class, and hardly ever if few threads compete for the CPUs.
 *
 * Where the kernel may refuse, a wait is used up to WAITED_MOST_NS, the rest of a short system
 * call; and for a thread that has fallen asleep up to REFUSED_NS. With 20 other busy threads, waits
 * for PostgreSQL that ended in its epoll_wait were 12 to 27 us long, and nearly all of them
 * refusals: with a limit of 30 us epoll_wait had 88 % of the CPU time in place of 20 %. With limits
 * of 5 and of 10 us it had 14 to 21 % in place of 13 to 17 %.
 */
#define WAITED_MOST_NS (30 * NS_PER_US)
#define REFUSED_NS (10 * NS_PER_US)

/* Share of the limit of --max-overhead that the occupiers may use, and the time in ns whose share
 * they may use in advance. What they use is part of the cost that pace.c limits. */
#define COST_SHARE 0.4
#define COST_ADVANCE_NS (50 * NS_PER_MS)

/* Number of ticks without a running thread after which no CPU is occupied. If one tick in 100 has a
 * running thread, one in 13 of the gaps between such ticks is longer. */
#define IDLE_TICKS 256

struct occupy {
	struct occupation shared;
	struct priority *priority; /* borrowed */
	struct occupier *item;
	size_t count;
	struct cpu_pin pin; /* to tick_cpu */
	bool late;          /* the last tick was late: LATE_NS */
	double share;       /* number of CPUs that the occupiers may use on average */
	uint64_t began_ns;  /* when the occupiers were created */
	uint64_t used_ns;   /* CPU time that the occupations have used, at most */
	uint64_t due_ns;    /* when the tick is due for which the round was begun */
	struct loadavg loadavg;
	size_t online; /* number of CPUs of the machine */
	bool crowded;  /* threads waited for CPUs before the last sleep: the kernel may refuse */
	struct own_thread own; /* the sampler's thread */
	uint64_t delay_ns;     /* its own_thread_delay before it slept */
	bool has_switches;     /* the kernel says when threads were switched to */
	unsigned idle; /* ticks since the last one with a running thread, at most IDLE_TICKS */
	/* Of the tick in progress. */
	uint64_t awaited_ns;    /* when its occupation begins; 0: not planned */
	struct cpu_taken taken; /* of the sampler's thread */
	uint64_t taken_ns;      /* the last arrival of an occupier, if `begun` */
	bool begun;             /* all CPUs are occupied */
};

/* --- creation ----------------------------------------------------------------------------- */

struct occupy *
occupy_create(const cpu_set_t *set, struct priority *priority, double max_share, bool realtime)
{
	struct occupy *occupy;

	if (!occupiers_may_take(set))
		return NULL;
	occupy = xcalloc(1, sizeof(*occupy));
	occupy->priority = priority;
	occupy->shared.priority = priority;
	occupy->shared.realtime = realtime;
	occupy->shared.timed = true;
	occupy->share = COST_SHARE * max_share;
	occupy->began_ns = clock_now_ns();
	own_thread_open(&occupy->own);
	occupy->has_switches = own_thread_switch(&occupy->own) != 0;
	occupy->online = cpus_online();
	loadavg_runnable(&occupy->loadavg); /* opens the file */
	atomic_store(&occupy->shared.tick_cpu, -1);
	occupy->item = occupiers_start(&occupy->shared, set, &occupy->count);
	if (occupy->item == NULL) {
		occupy_free(occupy);
		return NULL;
	}
	return occupy;
}

void
occupy_free(struct occupy *occupy)
{
	if (occupy == NULL)
		return;
	occupy_relax(occupy);
	if (occupy->item != NULL)
		occupiers_end(&occupy->shared, occupy->item, occupy->count);
	own_thread_close(&occupy->own);
	loadavg_release(&occupy->loadavg);
	free(occupy);
}

/* --- ticks -------------------------------------------------------------------------------- */

/* Returns when the CPUs are to be taken for a tick that is due at due_ns; 0: they are not. Depends
 * on earlier ticks only, so that exact samples are a random part of all. */
static uint64_t
planned_ns(const struct occupy *occupy, uint64_t due_ns)
{
	const double elapsed = (double)(clock_now_ns() - occupy->began_ns);

	if (occupy->late || occupy->idle >= IDLE_TICKS ||
	    (double)occupy->used_ns > occupy->share * (elapsed + COST_ADVANCE_NS))
		return 0;
	return due_ns;
}

static void
plan_round(struct occupy *occupy, uint64_t due_ns)
{
	occupy->due_ns = due_ns;
	occupation_begin(&occupy->shared, planned_ns(occupy, due_ns));
}

void
occupy_plan(struct occupy *occupy, uint64_t due_ns)
{
	const uint64_t at_ns = atomic_load(&occupy->shared.at_ns);

	atomic_store(&occupy->shared.tick_begun, false);
	if (at_ns == 0 || occupy->due_ns != due_ns)
		plan_round(occupy, due_ns);
}

/* True if the kernel may refuse preemption to wallsample, because a thread may have waited for a
 * CPU: as many threads are runnable, besides this one, as the machine has CPUs, so that two of them
 * may be on the same CPU; or that is not known. To be asked before the tick: afterwards the answer
 * depends on what a thread did, which is runnable if it was preempted, and not if it fell asleep.
 */
static bool
is_crowded(struct occupy *occupy)
{
	const size_t runnable = loadavg_runnable(&occupy->loadavg);

	return !occupy->shared.realtime && (runnable == 0 || runnable > occupy->online);
}

void
occupy_sleep(struct occupy *occupy)
{
	const int cpu = sched_getcpu();

	if (atomic_load(&occupy->shared.at_ns) == 0)
		return;
	atomic_store(&occupy->shared.tick_cpu, cpu);
	cpu_pin(&occupy->pin, cpu);
	for (size_t i = 0; i < occupy->count; i++) {
		struct occupier *item = &occupy->item[i];
		const bool armed = atomic_load(&item->armed) == atomic_load(&occupy->shared.round);

		if (armed == (item->cpu == cpu))
			occupier_signal(item);
	}
	occupy->crowded = is_crowded(occupy);
	if (occupy->shared.realtime)
		priority_urgent(occupy->priority, true);
	occupy->delay_ns = own_thread_delay(&occupy->own);
}

void
occupy_relax(struct occupy *occupy)
{
	cpu_unpin(&occupy->pin);
	if (occupy->shared.realtime)
		priority_urgent(occupy->priority, false);
}

void
occupy_tick(struct occupy *occupy)
{
	const uint64_t at_ns = atomic_load(&occupy->shared.at_ns), now = clock_now_ns();

	atomic_store(&occupy->shared.tick_begun, true);
	occupy->taken = occupier_taken(&occupy->own, occupy->delay_ns,
				       now > occupy->due_ns ? now - occupy->due_ns : 0);
	occupy->late = now > occupy->due_ns + LATE_NS;
	occupy->begun = false;
	occupy->taken_ns = 0;
	/* A tick may begin before it is due: the last one. */
	occupy->awaited_ns = at_ns > now ? 0 : at_ns;
	if (at_ns != 0 && !occupy->pin.pinned) {
		/* The sampler has not slept before this tick: the occupier of its CPU would take
		 * that CPU. */
		occupation_begin(&occupy->shared, 0);
		occupy->awaited_ns = 0;
	}
}

/* Stores how each CPU was taken: by its occupier, or that of the tick by the sampler's thread.
 * Returns the number of CPUs. */
static size_t
list_taken(struct occupy *occupy, struct cpu_taken *taken[OCCUPIERS_MOST])
{
	const int tick_cpu = atomic_load(&occupy->shared.tick_cpu);
	size_t count = 0;

	for (size_t i = 0; i < occupy->count; i++) {
		struct occupier *item = &occupy->item[i];

		if (item->cpu == tick_cpu)
			taken[count++] = &occupy->taken;
		else if (occupier_has_arrived(item))
			taken[count++] = &item->taken;
	}
	return count;
}

/* Sets cpu_taken.crowded and refused. Clears the cpu_taken of a CPU if the kernel may have refused,
 * and the wait for this CPU was longer than WAITED_MOST_NS. */
static void
judge_waits(struct occupy *occupy)
{
	struct cpu_taken *taken[OCCUPIERS_MOST];
	const size_t count = list_taken(occupy, taken);

	for (size_t i = 0; i < count && occupy->crowded; i++) {
		const uint64_t waited_ns = taken[i]->switched_ns - taken[i]->queued_ns;

		taken[i]->crowded = true;
		taken[i]->refused = waited_ns > REFUSED_NS;
		if (waited_ns > WAITED_MOST_NS)
			*taken[i] = (struct cpu_taken){ .queued_ns = 0 };
	}
}

bool
occupy_arriving(struct occupy *occupy)
{
	const uint64_t at_ns = occupy->awaited_ns;

	if (at_ns == 0 || occupy->begun || clock_now_ns() >= at_ns + ARRIVE_NS)
		return false;
	occupy->taken_ns = occupiers_arrived(&occupy->shared, occupy->item, occupy->count);
	occupy->begun = occupy->taken_ns != 0;
	if (occupy->begun)
		judge_waits(occupy);
	return !occupy->begun;
}

bool
occupy_is_complete(const struct occupy *occupy)
{
	return occupy->begun;
}

bool
occupy_has_switches(const struct occupy *occupy)
{
	return occupy->has_switches;
}

/* Returns the number of CPUs of which it is known when they were taken; with `missing`, of those of
 * them whose thread is not found. */
static size_t
count_taken(struct occupy *occupy, bool missing)
{
	struct cpu_taken *taken[OCCUPIERS_MOST];
	const size_t count = list_taken(occupy, taken);
	size_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += taken[i]->switched_ns != 0 && !(missing && taken[i]->claimed);
	return sum;
}

size_t
occupy_switches(struct occupy *occupy)
{
	return count_taken(occupy, false);
}

size_t
occupy_missing(struct occupy *occupy)
{
	return count_taken(occupy, true);
}

void
occupy_find(struct occupy *occupy, uint64_t switched_ns, bool asleep,
	    enum occupied_thread *occupied)
{
	struct cpu_taken *taken[OCCUPIERS_MOST];
	const size_t count = list_taken(occupy, taken);
	enum occupied_thread found = OCCUPIED_NOT_RUNNING;

	if (switched_ns != 0)
		found = occupier_find(taken, count, switched_ns, asleep);
	if (found == OCCUPIED_RUNNING)
		*occupied = OCCUPIED_RUNNING;
	else if (found == OCCUPIED_NOT_RUNNING && *occupied == OCCUPIED_UNKNOWN &&
		 occupy_switches(occupy) == occupy->count)
		*occupied = OCCUPIED_NOT_RUNNING;
}

void
occupy_span(const struct occupy *occupy, uint64_t span_ns[2])
{
	const uint64_t at_ns = occupy->awaited_ns;

	span_ns[0] = at_ns;
	span_ns[1] = occupy->begun || at_ns == 0 ? occupy->taken_ns : at_ns + HOLD_NS;
}

void
occupy_note_running(struct occupy *occupy)
{
	occupy->idle = 0;
}

bool
occupy_end(struct occupy *occupy, size_t running, uint64_t next_due_ns)
{
	const uint64_t at_ns = atomic_load(&occupy->shared.at_ns), now = clock_now_ns();
	uint64_t used_ns = now > at_ns ? now - at_ns : 0;

	if (occupy->idle < IDLE_TICKS)
		occupy->idle++;
	if (running > 0)
		occupy_note_running(occupy);
	if (used_ns > HOLD_NS)
		used_ns = HOLD_NS;
	if (at_ns != 0) {
		occupy->used_ns += used_ns * (occupy->count - 1);
		if (next_due_ns > now + ARM_LEAST_NS)
			plan_round(occupy, next_due_ns);
		else
			occupation_begin(&occupy->shared, 0);
	}
	occupy_relax(occupy);
	return at_ns != 0 && occupy->begun && now < at_ns + HOLD_NS;
}
