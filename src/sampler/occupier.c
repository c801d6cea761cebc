/* SPDX-License-Identifier: MIT */
/* occupier.c - a thread that takes one CPU for a tick. */
#include "sampler/occupier_internal.h"

#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "sampler/priority_internal.h"
#include "wallsample/base/base.h"

/* The kernel updates the moment of a switch (own_thread_switch) at a wake-up and at a scheduler
 * tick on that CPU, so that a later moment may be read: later by at most the time between the
 * switch and the reading, and the interrupts in this time. With a program that reads a disk all the
 * time, most such differences were 4 to 15 us. */
#define UPDATED_MOST_NS (15 * NS_PER_US)

/* Size of an occupier's stack. It calls a few functions of the C library. */
#define STACK_SIZE ((size_t)64 << 10)

struct cpu_taken
occupier_taken(const struct own_thread *own, uint64_t delay_ns, uint64_t most_ns)
{
	uint64_t waited_ns = own_thread_delay(own) - delay_ns;
	struct cpu_taken taken = { .queued_ns = 0 };

	/* The sampler's thread may have been woken, and have waited, before the timer was due. */
	if (waited_ns > most_ns)
		waited_ns = most_ns;
	if (waited_ns <= ARRIVE_NS)
		taken.switched_ns = own_thread_switch(own);
	if (taken.switched_ns > waited_ns)
		taken.queued_ns = taken.switched_ns - waited_ns;
	return taken;
}

/*
 * The thread that had the CPU when the wait began leaves it during the wait: when it falls asleep,
 * or when wallsample's thread replaces it. In both cases the two switches have the same moment,
 * unless the kernel has updated that of wallsample's thread since, or an interrupt or a thread of
 * the kernel came in between. On a crowded machine another thread may have come in between, too;
 * which of the two had the CPU when the wait began is then not known.
 */
static enum occupied_thread
compare(const struct cpu_taken *taken, uint64_t switched_ns, bool asleep)
{
	if (taken->switched_ns == 0 || switched_ns > taken->switched_ns ||
	    switched_ns + UPDATED_MOST_NS < taken->queued_ns)
		return OCCUPIED_NOT_RUNNING;
	if (switched_ns < taken->queued_ns ||
	    (taken->crowded && switched_ns + UPDATED_MOST_NS < taken->switched_ns) ||
	    (asleep && taken->refused) || taken->claimed)
		return OCCUPIED_UNKNOWN;
	return OCCUPIED_RUNNING;
}

/* The CPU whose switch has the same moment comes first: the clocks of CPUs may be equal, so that
 * the moment may lie within the wait for another one. */
enum occupied_thread
occupier_find(struct cpu_taken *const *taken, size_t count, uint64_t switched_ns, bool asleep)
{
	enum occupied_thread best = OCCUPIED_NOT_RUNNING;

	for (size_t i = 0; i < 2 * count; i++) {
		struct cpu_taken *one = taken[i < count ? i : i - count];
		enum occupied_thread found;

		if (i < count && one->switched_ns != switched_ns)
			continue;
		found = compare(one, switched_ns, asleep);
		if (found == OCCUPIED_UNKNOWN)
			best = OCCUPIED_UNKNOWN;
		if (found != OCCUPIED_RUNNING)
			continue;
		one->claimed = true;
		return OCCUPIED_RUNNING;
	}
	return best;
}

/* Sleeps until a signal, or until at_ns if that is not 0. The timer is one of this CPU, because
 * this thread sets it. Returns ETIMEDOUT at at_ns; 0, EAGAIN or EINTR after a signal; any other
 * error if the kernel refuses the call. */
static int
wait_for_signal(struct occupier *self, uint32_t signals, uint64_t at_ns)
{
	const struct timespec at = { .tv_sec = (time_t)(at_ns / NS_PER_SEC),
				     .tv_nsec = (long)(at_ns % NS_PER_SEC) };

	/* Unlike FUTEX_WAIT, it takes a moment of CLOCK_MONOTONIC. */
	return syscall(SYS_futex, &self->signals, FUTEX_WAIT_BITSET_PRIVATE, signals,
		       at_ns != 0 ? &at : NULL, NULL, FUTEX_BITSET_MATCH_ANY) == 0 ?
		       0 :
		       errno;
}

/* Waits until the tick of this round, whose CPUs are taken at at_ns, has begun. Returns false if
 * it does not begin in time. */
static bool
await_tick(const struct occupation *shared, uint32_t round, uint64_t at_ns)
{
	while (!atomic_load(&shared->tick_begun))
		if (atomic_load(&shared->round) != round || clock_now_ns() >= at_ns + ARRIVE_NS)
			return false;
	return true;
}

/* Notes when this thread got its CPU, and uses the CPU until the round ends, at most until HOLD_NS
 * after at_ns; if the tick does not begin, until ARRIVE_NS after it. Returns at once if the tick is
 * to run on this CPU. */
static void
use_cpu(struct occupier *self, uint32_t round, uint64_t at_ns)
{
	struct occupation *shared = self->shared;

	const uint64_t now = clock_now_ns();

	atomic_store(&self->arrived_ns, now);
	if (shared->timed)
		self->taken = occupier_taken(&self->own, self->delay_ns,
					     now > at_ns ? now - at_ns : 0);
	if (atomic_load(&shared->tick_cpu) == self->cpu || !await_tick(shared, round, at_ns))
		return;
	atomic_store(&self->arrived, round);
	while (atomic_load(&shared->round) == round && clock_now_ns() < at_ns + HOLD_NS)
		;
}

static bool
prepare(struct occupier *self)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)self->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set) != 0)
		return false;
	priority_join(self->shared->priority, self->shared->realtime);
	return true;
}

static void *
occupier_run(void *argument)
{
	struct occupier *self = argument;
	struct occupation *shared = self->shared;
	bool works = prepare(self);
	uint32_t used = 0; /* the last round that it has waited for */

	if (shared->timed)
		own_thread_open(&self->own);
	while (works) {
		/* first, so that no later signal is missed */
		const uint32_t signals = atomic_load(&self->signals);
		const uint32_t round = atomic_load(&shared->round);
		const uint64_t at_ns = atomic_load(&shared->at_ns);
		const bool wanted = at_ns != 0 && round != used &&
				    atomic_load(&shared->tick_cpu) != self->cpu;
		int end;

		if (atomic_load(&shared->ends))
			break;
		atomic_store(&self->armed, wanted ? round : 0);
		if (shared->timed)
			self->delay_ns = own_thread_delay(&self->own);
		end = wait_for_signal(self, signals, wanted ? at_ns : 0);
		works = end == 0 || end == EAGAIN || end == EINTR || end == ETIMEDOUT;
		if (end != ETIMEDOUT)
			continue;
		used = round;
		if (atomic_load(&shared->round) == round)
			use_cpu(self, round, at_ns);
	}
	if (shared->timed)
		own_thread_close(&self->own);
	return NULL;
}

void
occupier_signal(struct occupier *self)
{
	atomic_fetch_add(&self->signals, 1);
	syscall(SYS_futex, &self->signals, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

bool
occupier_has_arrived(const struct occupier *self)
{
	return atomic_load(&self->arrived) == atomic_load(&self->shared->round);
}

/* --- the CPU of the tick ------------------------------------------------------------------ */

void
cpu_pin(struct cpu_pin *pin, int cpu)
{
	cpu_set_t set;

	if (pin->pinned || sched_getaffinity(0, sizeof(pin->own), &pin->own) != 0)
		return;
	CPU_ZERO(&set);
	CPU_SET((size_t)cpu, &set);
	pin->pinned = sched_setaffinity(0, sizeof(set), &set) == 0;
}

void
cpu_unpin(struct cpu_pin *pin)
{
	if (pin->pinned)
		pin->pinned = sched_setaffinity(0, sizeof(pin->own), &pin->own) != 0;
}

/* --- all occupiers ------------------------------------------------------------------------ */

bool
occupiers_may_take(const cpu_set_t *set)
{
	cpu_set_t own;

	if (sched_getaffinity(0, sizeof(own), &own) != 0)
		return false;
	CPU_AND(&own, &own, set);
	return CPU_EQUAL(&own, set) && CPU_COUNT(set) <= OCCUPIERS_MOST;
}

static bool
occupier_start(struct occupier *self, struct occupation *shared, int cpu)
{
	pthread_attr_t attributes;
	bool started;

	*self = (struct occupier){ .shared = shared, .cpu = cpu };
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_SIZE);
	started = pthread_create(&self->thread, &attributes, occupier_run, self) == 0;
	pthread_attr_destroy(&attributes);
	return started;
}

struct occupier *
occupiers_start(struct occupation *shared, const cpu_set_t *set, size_t *count)
{
	struct occupier *item = xcalloc((size_t)CPU_COUNT(set), sizeof(*item));
	sigset_t all, old;
	bool started = true;

	*count = 0;
	/* The signals of occupiers are blocked: wallsample's first thread handles all signals. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (int cpu = 0; cpu < CPU_SETSIZE && started; cpu++)
		if (CPU_ISSET((size_t)cpu, set))
			*count += started = occupier_start(&item[*count], shared, cpu);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (started)
		return item;
	occupiers_end(shared, item, *count);
	return NULL;
}

void
occupiers_end(struct occupation *shared, struct occupier *item, size_t count)
{
	atomic_store(&shared->ends, true);
	occupation_begin(shared, 0);
	for (size_t i = 0; i < count; i++) {
		occupier_signal(&item[i]);
		pthread_join(item[i].thread, NULL);
	}
	free(item);
}

void
occupation_begin(struct occupation *shared, uint64_t at_ns)
{
	atomic_store(&shared->at_ns, at_ns);
	atomic_fetch_add(&shared->round, 1);
}

uint64_t
occupiers_arrived(const struct occupation *shared, const struct occupier *item, size_t count)
{
	const int tick_cpu = atomic_load(&shared->tick_cpu);
	uint64_t last = atomic_load(&shared->at_ns);

	for (size_t i = 0; i < count; i++) {
		const uint64_t arrived_ns = atomic_load(&item[i].arrived_ns);

		if (item[i].cpu == tick_cpu)
			continue;
		if (!occupier_has_arrived(&item[i]))
			return 0;
		last = arrived_ns > last ? arrived_ns : last;
	}
	return last;
}
