/* SPDX-License-Identifier: MIT */
/*
 * deadlock.c - follows each waiter to who has what it waits for. Reads of different threads are of
 * different moments, so that a ring may be one that never was: it counts when it is there twice,
 * for the same things, and none of its threads has run in between.
 */
#include "sampler/waits/waits_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wallsample/sampler/rings.h"
#include "sampler/pipeline_internal.h"

/* Between two looks. What is never released can wait. */
#define LOOK_NS (100 * NS_PER_MS)
/* Looks take at most one part in so many of the time. */
#define LOOK_SHARE 50
/* So many waiters are asked about before those that stand stopped meanwhile are released. */
#define OWNERS_UNSERVED 32
/* Before a look that confirms, where there is no later tick; and how many there are: who was
 * stopped for its registers may not be asleep again at the first. */
#define PAUSE_NS 20000000L
#define LAST_LOOKS 5

void
deadlocks_release(struct deadlocks *deadlocks)
{
	free(deadlocks->seen);
}

/* A wait that ends by itself is none that lasts. */
static bool
can_be_stuck(const struct tracked *thread)
{
	return thread->wait.id != 0 && thread->wait.word != 0 && !thread->wait.what.timed &&
	       wait_kind_has_owner(thread->wait.what.kind);
}

/*
 * Who waits for an interpreter's lock wakes up all the time, to ask for it again, and is no waiter
 * when it is seen just then. It is known that it has not got the lock.
 */
static bool
may_ask_again(const struct tracked *thread)
{
	return !thread->gone && !thread->asleep && thread->wait.id == 0 &&
	       (thread->gil == GIL_NONE || thread->gil == GIL_WAIT);
}

static void
find_holders(struct sampler *sampler, struct rings *rings)
{
	struct deadlocks *deadlocks = &sampler->deadlocks;

	for (size_t i = 0; i < rings->count; i++) {
		const struct tracked *thread = sampler->thread[i];
		const struct wait_owner *owner;

		if (i % OWNERS_UNSERVED == 0)
			late_serve(sampler);
		if (!can_be_stuck(thread))
			continue;
		owner = waits_owner(sampler, &thread->wait.what);
		if (owner->holder == HOLDER_THREAD)
			rings->next[i] = index_of_tid(sampler, owner->tid);
		if (rings->next[i] != NOBODY)
			deadlocks->awake += may_ask_again(sampler->thread[rings->next[i]]);
	}
}

/* --- is it the same as the last time? ------------------------------------------------- */

/* Is it in the wait that it was seen in? One that had to tell its registers was not asleep just
 * then, but has gone back to sleep at once. */
static bool
still_waits(struct sampler *sampler, struct tracked *thread, const struct sched *now)
{
	struct syscall_info info;

	if (thread->asleep)
		return now->switches == thread->sched.switches;
	return watch_read_syscall(&thread->watch, sampler->process, &info) == LOOK_OK &&
	       info.sp == thread->sp && info.pc == thread->pc &&
	       waits_word(&info) == thread->wait.word;
}

/* Does it sleep for an interpreter's lock now? In which call, and for which lock. */
static bool
waits_for_runtime(struct sampler *sampler, struct tracked *thread, struct syscall_info *info,
		  uint64_t *lock)
{
	const char *name;

	if (watch_read_syscall(&thread->watch, sampler->process, info) != LOOK_OK || info->running)
		return false;
	/* a stop has cut it short, and it goes on */
	info->number = true_syscall(thread, info);
	return runtimes_find_lock(sampler->runtimes, waits_word(info), lock, &name);
}

/* Who waits for an interpreter's lock wakes up all the time, to ask for it again. */
static bool
still_waits_for_runtime(struct sampler *sampler, struct tracked *thread)
{
	struct syscall_info info;
	uint64_t lock;

	return waits_for_runtime(sampler, thread, &info, &lock) &&
	       lock == thread->wait.what.object;
}

/*
 * As it is at this moment; false: it has run since it was seen to wait. That one has run that waits
 * for an interpreter's lock says nothing: it has not been given the lock when who has that, `next`,
 * has not run.
 */
static bool
see(struct sampler *sampler, struct tracked *thread, const struct tracked *next,
    struct ring_thread *out)
{
	struct sched sched;

	*out = (struct ring_thread){ .tid = thread->watch.tid, .object = thread->wait.what.object };
	if (thread->wait.what.kind == WAIT_GIL && next->wait.what.kind != WAIT_GIL)
		return still_waits_for_runtime(sampler, thread);
	if (watch_read_sched(&thread->watch, sampler->process, &sched) != LOOK_OK)
		return false;
	out->switches = sched.switches;
	return still_waits(sampler, thread, &sched);
}

static int
compare_seen(const void *left, const void *right)
{
	const struct ring_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static bool
was_seen(const struct deadlocks *deadlocks, const struct ring_thread *thread)
{
	const struct ring_thread *seen = NULL;

	if (deadlocks->seen_count > 0)
		seen = bsearch(thread, deadlocks->seen, deadlocks->seen_count, sizeof(*seen),
			       compare_seen);
	return seen != NULL && seen->object == thread->object &&
	       seen->switches == thread->switches;
}

/* Who is not wanted has no stack that was seen. */
static uint32_t
stack_of(struct sampler *sampler, const struct tracked *thread)
{
	struct profile *profile = sampler->profile;

	if (thread->selected)
		return thread->stack;
	return profile_intern_stack(profile, profile_intern_named(profile, "[not sampled]"),
				    STACK_NONE);
}

static void
tell(struct sampler *sampler, const struct rings *rings, uint32_t ring)
{
	struct profile_stuck *stuck = xcalloc(rings->count, sizeof(*stuck));
	uint32_t *list = xcalloc(rings->count, sizeof(*list));
	size_t in_ring, count = rings_list(rings, ring, list, &in_ring);

	for (size_t i = 0; i < count; i++) {
		struct tracked *thread = sampler->thread[list[i]];

		if (thread->profile_thread == UINT32_MAX)
			thread_enter_profile(sampler, thread);
		stuck[i] = (struct profile_stuck){ .thread = thread->profile_thread,
						   .wait = thread->wait.id,
						   .stack = stack_of(sampler, thread) };
	}
	profile_add_deadlock(sampler->profile, stuck, count, in_ring);
	free(list);
	free(stuck);
}

/* The threads of all rings are what the next look compares with. */
static void
judge(struct sampler *sampler, const struct rings *rings)
{
	struct deadlocks *deadlocks = &sampler->deadlocks;
	struct deadlocks now = { .seen = NULL };

	for (uint32_t ring = 0; ring < rings->rings; ring++) {
		const uint32_t first = rings->first[ring];
		bool lasts = true;

		for (uint32_t at = first, n = 0; n == 0 || at != first; at = rings->next[at], n++) {
			struct ring_thread thread;

			lasts &= see(sampler, sampler->thread[at],
				     sampler->thread[rings->next[at]], &thread) &&
				 was_seen(deadlocks, &thread);
			now.seen = xgrow(now.seen, &now.seen_capacity, now.seen_count + 1,
					 sizeof(*now.seen));
			now.seen[now.seen_count++] = thread;
		}
		late_serve(sampler);
		if (lasts)
			tell(sampler, rings, ring);
		else
			deadlocks->unsure++;
	}
	if (now.seen_count > 1)
		qsort(now.seen, now.seen_count, sizeof(*now.seen), compare_seen);
	free(deadlocks->seen);
	deadlocks->seen = now.seen;
	deadlocks->seen_count = now.seen_count;
	deadlocks->seen_capacity = now.seen_capacity;
}

static void
look(struct sampler *sampler)
{
	struct rings rings;

	sampler->deadlocks.unsure = sampler->deadlocks.awake = 0;
	rings_init(&rings, sampler->thread_count);
	find_holders(sampler, &rings);
	rings_find(&rings);
	judge(sampler, &rings);
	rings_release(&rings);
}

void
deadlocks_tick(struct sampler *sampler)
{
	const uint64_t began = clock_now_ns();
	uint64_t pause;

	if (sampler->tick_ns < sampler->deadlocks.next_ns)
		return;
	look(sampler);
	pause = (clock_now_ns() - began) * LOOK_SHARE;
	sampler->deadlocks.next_ns = sampler->tick_ns + (pause > LOOK_NS ? pause : LOOK_NS);
}

/* There is no later tick that finds those asleep that asked just when they were seen. */
static void
see_who_asks_again(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->thread_count; i++) {
		struct tracked *thread = sampler->thread[i];
		struct syscall_info info;
		uint64_t lock;

		if (may_ask_again(thread) && waits_for_runtime(sampler, thread, &info, &lock))
			waits_classify(sampler, thread, RUN_SLEEPING, &info);
	}
}

static void
look_last(struct sampler *sampler)
{
	waits_forget_owners(sampler);
	see_who_asks_again(sampler);
	look(sampler);
}

void
deadlocks_last(struct sampler *sampler)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };

	/* What the last tick has asked is of the last tick's moment, and so is what it saw. */
	sampler->deadlocks.seen_count = 0;
	look_last(sampler);
	/* a holder that is awake runs more often than not: it is not waited for twice */
	for (int i = 1; i < LAST_LOOKS && (sampler->deadlocks.unsure > 0 ||
					   (sampler->deadlocks.awake > 0 && i == 1)); i++) {
		nanosleep(&pause, NULL);
		look_last(sampler);
	}
}
