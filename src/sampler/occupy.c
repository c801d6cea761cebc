/* SPDX-License-Identifier: MIT */
/* occupy.c - threads that take the target's CPUs while a tick requests its stops. */
#include "sampler/occupy_internal.h"

#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/priority_internal.h"
#include "wallsample/base/base.h"

/* Most CPUs to occupy. With more of them an occupation would take CPU time from too many other
 * programs. */
#define CPUS_MOST 64

/* An occupier that takes its CPU later than this after the planned moment is not waited for. A
 * kernel without preemption lets a thread finish its system call first, or a part of it: most take
 * less. */
#define ARRIVE_NS (150 * NS_PER_US)
/* Longest time for which an occupier uses its CPU. */
#define HOLD_NS (250 * NS_PER_US)

/* The occupation begins LEAD_LEAST to LEAD_MOST after the tick is due: when nine in ten ticks have
 * finished what precedes it. The lead follows that quantile in steps of LEAD_STEP. */
#define LEAD_LEAST (10 * NS_PER_US)
#define LEAD_MOST (250 * NS_PER_US)
#define LEAD_STEP (1 * NS_PER_US)
#define LEAD_TENTHS 9

/* Share of the limit of --max-overhead that the occupiers may use, and the time in ns whose share
 * they may use in advance. What they use is part of the cost that pace.c limits. */
#define COST_SHARE 0.4
#define COST_ADVANCE_NS (50 * NS_PER_MS)

/* Number of ticks without a running thread after which no CPU is occupied. */
#define IDLE_TICKS 64

/* Size of an occupier's stack. It calls a few functions of the C library. */
#define STACK_SIZE ((size_t)64 << 10)

struct occupier {
	struct occupy *occupy; /* borrowed */
	pthread_t thread;
	int cpu;
	_Atomic uint32_t arrived;    /* the last round for which it has used its CPU */
	_Atomic uint64_t arrived_ns; /* when it began to use its CPU for that round */
};

struct occupy {
	/* Shared with the occupiers. */
	const struct priority *priority;
	_Atomic uint32_t round; /* a futex; changes with at_ns */
	_Atomic uint64_t at_ns; /* when the CPUs are to be taken; 0: not planned */
	_Atomic int tick_cpu;   /* CPU of the tick in progress; -1: no tick is in progress */
	_Atomic bool ends;
	/* For the sampler only. */
	struct occupier *item;
	size_t count;
	double share;      /* number of CPUs that the occupiers may use on average */
	uint64_t began_ns; /* when the occupiers were created */
	uint64_t used_ns;  /* CPU time that the occupations have used, at most */
	uint64_t due_ns;   /* when the tick is due for which at_ns was set */
	uint64_t lead_ns;
	unsigned idle; /* ticks since the last one with a running thread, at most IDLE_TICKS */
	/* Of the tick in progress. */
	uint64_t awaited_ns;     /* when its occupation begins; 0: not planned */
	uint64_t from_ns, to_ns; /* first and last arrival of an occupier, if `begun` */
	bool begun;              /* all CPUs are occupied */
};

/* --- an occupier -------------------------------------------------------------------------- */

static void
wait_for_round(struct occupy *occupy, uint32_t round)
{
	syscall(SYS_futex, &occupy->round, FUTEX_WAIT_PRIVATE, round, NULL, NULL, 0);
}

/* Uses the CPU until the round ends, at most until end_ns. Does nothing if no tick is in progress,
 * or the tick uses this CPU. */
static void
use_cpu(struct occupier *self, uint32_t round, uint64_t end_ns)
{
	struct occupy *occupy = self->occupy;
	const int tick_cpu = atomic_load(&occupy->tick_cpu);

	if (tick_cpu < 0 || tick_cpu == self->cpu)
		return;
	atomic_store(&self->arrived_ns, clock_now_ns());
	atomic_store(&self->arrived, round);
	while (atomic_load(&occupy->round) == round && clock_now_ns() < end_ns)
		;
}

static void *
occupier_run(void *argument)
{
	struct occupier *self = argument;
	struct occupy *occupy = self->occupy;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)self->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return NULL;
	priority_join(occupy->priority);
	while (!atomic_load(&occupy->ends)) {
		const uint32_t round = atomic_load(&occupy->round);
		const uint64_t at_ns = atomic_load(&occupy->at_ns);

		if (at_ns != 0) {
			const struct timespec at = { .tv_sec = (time_t)(at_ns / NS_PER_SEC),
						     .tv_nsec = (long)(at_ns % NS_PER_SEC) };

			/* The timer is one of this CPU, because this thread sets it. */
			clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
			if (atomic_load(&occupy->round) == round)
				use_cpu(self, round, at_ns + HOLD_NS);
		}
		wait_for_round(occupy, round);
	}
	return NULL;
}

/* --- creation ----------------------------------------------------------------------------- */

/* Begins a round. An occupier that uses its CPU sets its timer for the round at once; one that
 * sleeps notices the round at the end of its sleep; one that waits for a round has to be woken by
 * wake_waiting. */
static void
begin_round(struct occupy *occupy, uint64_t at_ns)
{
	atomic_store(&occupy->at_ns, at_ns);
	atomic_fetch_add(&occupy->round, 1);
}

static void
wake_waiting(struct occupy *occupy)
{
	syscall(SYS_futex, &occupy->round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

static bool
occupier_create(struct occupy *occupy, int cpu)
{
	struct occupier *self = &occupy->item[occupy->count];
	pthread_attr_t attributes;
	bool created;

	*self = (struct occupier){ .occupy = occupy, .cpu = cpu };
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	created = pthread_create(&self->thread, &attributes, occupier_run, self) == 0;
	pthread_attr_destroy(&attributes);
	occupy->count += created;
	return created;
}

/* Creates an occupier for each CPU of the set. Their signals are blocked: wallsample's first thread
 * handles all signals. */
static bool
create_occupiers(struct occupy *occupy, const cpu_set_t *set)
{
	sigset_t all, old;
	bool created = true;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int cpu = 0; cpu < CPU_SETSIZE && created; cpu++)
		if (CPU_ISSET((size_t)cpu, set))
			created = occupier_create(occupy, cpu);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return created;
}

struct occupy *
occupy_create(pid_t pid, const struct priority *priority, double max_share)
{
	struct occupy *occupy;
	cpu_set_t set, own;

	/* Fails on machines with more CPUs than a cpu_set_t has bits. */
	if (sched_getaffinity(pid, sizeof(set), &set) != 0 ||
	    sched_getaffinity(0, sizeof(own), &own) != 0)
		return NULL;
	if (!CPU_EQUAL(&set, &own))
		CPU_AND(&own, &own, &set);
	if (!CPU_EQUAL(&set, &own) || CPU_COUNT(&set) > CPUS_MOST)
		return NULL;
	occupy = xcalloc(1, sizeof(*occupy));
	occupy->item = xcalloc((size_t)CPU_COUNT(&set), sizeof(*occupy->item));
	occupy->priority = priority;
	occupy->share = COST_SHARE * max_share;
	occupy->began_ns = clock_now_ns();
	occupy->lead_ns = LEAD_LEAST;
	atomic_store(&occupy->tick_cpu, -1);
	if (!create_occupiers(occupy, &set)) {
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
	atomic_store(&occupy->ends, true);
	begin_round(occupy, 0);
	wake_waiting(occupy);
	for (size_t i = 0; i < occupy->count; i++)
		pthread_join(occupy->item[i].thread, NULL);
	free(occupy->item);
	free(occupy);
}

/* --- ticks -------------------------------------------------------------------------------- */

/* Returns when the CPUs are to be taken for a tick that is due at due_ns; 0: they are not. Depends
 * on earlier ticks only, so that exact samples are a random part of all. */
static uint64_t
planned_ns(const struct occupy *occupy, uint64_t due_ns)
{
	const double elapsed = (double)(clock_now_ns() - occupy->began_ns);

	if (occupy->idle >= IDLE_TICKS ||
	    (double)occupy->used_ns > occupy->share * (elapsed + COST_ADVANCE_NS))
		return 0;
	return due_ns + occupy->lead_ns;
}

static void
plan_round(struct occupy *occupy, uint64_t due_ns)
{
	occupy->due_ns = due_ns;
	begin_round(occupy, planned_ns(occupy, due_ns));
}

void
occupy_plan(struct occupy *occupy, uint64_t due_ns)
{
	const uint64_t at_ns = atomic_load(&occupy->at_ns);

	atomic_store(&occupy->tick_cpu, -1);
	if (at_ns == 0 || occupy->due_ns != due_ns)
		plan_round(occupy, due_ns);
	if (atomic_load(&occupy->at_ns) != 0)
		wake_waiting(occupy);
}

void
occupy_tick(struct occupy *occupy)
{
	atomic_store(&occupy->tick_cpu, sched_getcpu());
}

/* Moves the lead towards the quantile of the times that ticks take until occupy_begin. */
static void
adapt_lead(struct occupy *occupy, bool late)
{
	if (late)
		occupy->lead_ns += LEAD_TENTHS * LEAD_STEP;
	else
		occupy->lead_ns -= LEAD_STEP;
	if (occupy->lead_ns < LEAD_LEAST)
		occupy->lead_ns = LEAD_LEAST;
	if (occupy->lead_ns > LEAD_MOST)
		occupy->lead_ns = LEAD_MOST;
}

/* Returns true if all CPUs but that of the tick are occupied. Sets *from_ns to the time of the
 * first arrival, if any. */
static bool
all_arrived(const struct occupy *occupy, int tick_cpu, uint64_t *from_ns)
{
	const uint32_t round = atomic_load(&occupy->round);
	bool all = true;

	for (size_t i = 0; i < occupy->count; i++) {
		const struct occupier *item = &occupy->item[i];

		if (item->cpu == tick_cpu)
			continue;
		if (atomic_load(&item->arrived) != round)
			all = false;
		else if (atomic_load(&item->arrived_ns) < *from_ns)
			*from_ns = atomic_load(&item->arrived_ns);
	}
	return all;
}

uint64_t
occupy_planned_ns(const struct occupy *occupy)
{
	const uint64_t at_ns = atomic_load(&occupy->at_ns);

	/* A tick may begin before it is due: the last one, or one that a snapshot asks for. */
	return at_ns > clock_now_ns() + LEAD_MOST ? 0 : at_ns;
}

void
occupy_begin(struct occupy *occupy)
{
	const uint64_t planned_ns = occupy_planned_ns(occupy);

	occupy->begun = false;
	occupy->from_ns = occupy->to_ns = 0;
	occupy->awaited_ns = planned_ns;
	if (planned_ns != 0)
		adapt_lead(occupy, clock_now_ns() > planned_ns);
}

bool
occupy_arriving(struct occupy *occupy)
{
	const uint64_t at_ns = occupy->awaited_ns, now = clock_now_ns();

	if (at_ns == 0 || occupy->begun || now >= at_ns + ARRIVE_NS)
		return false;
	occupy->from_ns = now;
	occupy->begun = now >= at_ns && all_arrived(occupy, sched_getcpu(), &occupy->from_ns);
	occupy->to_ns = now;
	return !occupy->begun;
}

bool
occupy_is_due(const struct occupy *occupy)
{
	return occupy->awaited_ns != 0 && clock_now_ns() >= occupy->awaited_ns;
}

void
occupy_span(const struct occupy *occupy, uint64_t span_ns[2])
{
	const uint64_t at_ns = occupy->awaited_ns;

	span_ns[0] = occupy->from_ns != 0 ? occupy->from_ns : at_ns;
	span_ns[1] = occupy->begun || at_ns == 0 ? occupy->to_ns : at_ns + HOLD_NS;
}

bool
occupy_end(struct occupy *occupy, size_t running, uint64_t next_due_ns)
{
	const uint64_t at_ns = atomic_load(&occupy->at_ns), now = clock_now_ns();
	uint64_t used_ns = now > at_ns ? now - at_ns : 0;

	if (running > 0)
		occupy->idle = 0;
	else if (occupy->idle < IDLE_TICKS)
		occupy->idle++;
	if (at_ns == 0)
		return false;
	if (used_ns > HOLD_NS)
		used_ns = HOLD_NS;
	occupy->used_ns += used_ns * (occupy->count - 1);
	plan_round(occupy, next_due_ns);
	return occupy->begun && now < at_ns + HOLD_NS;
}
