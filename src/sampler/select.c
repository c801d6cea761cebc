/* SPDX-License-Identifier: MIT */
/* select.c - chooses the threads that a tick observes, and draws their next ticks. */
#include "sampler/threads_internal.h"

/* For this number of ticks after another thread waited for a lock holder the holder is observed at
 * every tick, if holders are few: observations are what costs. */
#define HOLDER_TICKS 256

static bool
is_holder(const struct selection *selection, const struct sampled_thread *thread)
{
	return thread->holder_tick != 0 && selection->few_holders &&
	       selection->tick->number - thread->holder_tick < HOLDER_TICKS;
}

/* Draws the next tick of a thread that is observed with probability 1/period at each tick. */
void
select_schedule(struct selection *selection, struct sampled_thread *thread)
{
	const uint32_t thin = selection->pace->thin, now = selection->tick->number;
	const uint32_t longest = pace_longest_period(selection->pace, selection->threads->count);
	const uint32_t age = now - thread->since_tick;

	thread->period = thin;
	while (thread->asleep && thread->period < longest && thread->period * 2 <= age / 2)
		thread->period *= 2;
	if (is_holder(selection, thread))
		thread->period = 1;
	thread->backed_off = thread->period > thin;
	thread->next_tick = now + rng_geometric(selection->rng, 1.0 / thread->period);
	thread->last_tick = now;
	thread->last_ns = selection->tick->time_ns;
}

void
select_settle(struct selection *selection, struct sampled_thread *thread, bool asleep)
{
	thread->seen = true;
	thread->asleep = asleep;
	thread->since_tick = selection->tick->number;
	select_schedule(selection, thread);
}

/*
 * After a sleep, seen with a chance of 1/period, a sample weighs `period` ticks, and the rest of
 * the time belongs to the old sleep (sampler.h). A rest below zero takes back what earlier ticks
 * have attributed. Otherwise the tick of the observation does not depend on what the thread did:
 * the sample weighs the time since the last one. Which of both holds is known when the thread was
 * observed (observe.c).
 */
static struct observation
begin(const struct tick *tick, struct sampled_thread *thread)
{
	return (struct observation){
		.thread = thread,
		.samples = (int64_t)(tick->number - thread->last_tick),
		.weight_ns = (int64_t)(tick->time_ns - thread->last_ns),
		.state = RUN_UNKNOWN,
		.gil = GIL_UNKNOWN,
		.green_task = THREAD_NONE,
	};
}

size_t
select_threads(struct selection *selection, bool everyone, struct observation *out)
{
	struct thread_list *threads = selection->threads;
	const struct tick *tick = selection->tick;
	const size_t first = threads->count > 0 ? rng_next(selection->rng) % threads->count : 0;
	size_t count = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[(first + i) % threads->count];

		if (thread->gone)
			continue;
		if (thread->excluded && thread->late == NULL && !thread->held) {
			selection->skipped++;
			selection->excluded++;
			if (thread->next_tick > tick->number)
				continue;
			late_serve(selection->late);
			excluded_observe(threads, thread, selection);
			continue;
		}
		if (!everyone && thread->next_tick > tick->number) {
			selection->skipped++;
			continue;
		}
		/* A tick that observes all is as good a chance as any: the clock has decided it,
		 * not what threads do. */
		if (thread->next_tick > tick->number)
			thread->period = 1;
		out[count++] = begin(tick, thread);
	}
	return count;
}
