/* SPDX-License-Identifier: MIT */
/* select.c - chooses the threads that a tick observes, and draws at random the ticks that will
 * observe them next. */
#include "sampler/threads_internal.h"

/*
 * Number of ticks for which a lock holder is observed at every tick, counted from the last tick at
 * which another thread waited for the lock. Applies only if there are few lock holders, because
 * each observation costs CPU time.
 */
#define HOLDER_TICKS 256

static bool
is_holder(const struct run *run, const struct sampled_thread *thread)
{
	return thread->holder_tick != 0 && run->tick.few_holders &&
	       run->tick.number - thread->holder_tick < HOLDER_TICKS;
}

void
select_schedule(struct run *run, struct sampled_thread *thread)
{
	const uint32_t thin = run->pace.thin, now = run->tick.number;
	const uint32_t longest = pace_longest_period(&run->pace, run->threads.count);
	const uint32_t age = now - thread->since_tick;

	thread->period = thin;
	while (thread->asleep && thread->period < longest && thread->period * 2 <= age / 2)
		thread->period *= 2;
	if (is_holder(run, thread))
		thread->period = 1;
	thread->backed_off = thread->period > thin;
	thread->next_tick = now + rng_geometric(&run->rng, 1.0 / thread->period);
	thread->last_tick = now;
	thread->last_ns = run->tick.time_ns;
	thread->process_execs = thread->process->execs;
	thread->process_threads = thread->process->num_threads;
}

void
select_settle(struct run *run, struct sampled_thread *thread, bool asleep)
{
	thread->seen = true;
	thread->asleep = asleep;
	thread->woken = false;
	thread->since_tick = run->tick.number;
	select_schedule(run, thread);
}

/* True if the tick observes the thread. With `all` it observes all threads, with probability 1:
 * then sets the period of the thread, which weigh_changed uses, to 1. */
static bool
is_due(const struct tick *tick, struct sampled_thread *thread, bool all)
{
	if (all)
		thread->period = 1;
	return all || thread->next_tick <= tick->number;
}

/*
 * The weight of the observation, the time since the last one, is correct if the choice of this tick
 * does not depend on what the thread did since then. For a sleeping thread that has run since then,
 * weigh_changed in observe.c replaces the weight: the tick observes such a thread with a known
 * probability p (ticks_of_changed), so that the sample weighs 1/p ticks, and the remaining time
 * since the last observation goes to the old sleep (sampler.h). A negative remainder takes back
 * time that earlier ticks attributed.
 */
struct observation
select_observation(const struct tick *tick, struct sampled_thread *thread)
{
	return (struct observation){
		.thread = thread,
		.selected = thread->selected,
		.samples = (int64_t)(tick->number - thread->last_tick),
		.weight_ns = (int64_t)(tick->time_ns - thread->last_ns),
		.importance = 1.0,
		.state = RUN_UNKNOWN,
		.gil = GIL_UNKNOWN,
		.green_task = THREAD_NONE,
	};
}

size_t
select_threads(struct run *run, bool all, struct observation *out)
{
	struct thread_list *threads = &run->threads;
	struct tick *tick = &run->tick;
	const size_t first = threads->count > 0 ? rng_next(&run->rng) % threads->count : 0;
	size_t count = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[(first + i) % threads->count];

		if (thread->gone || thread->first_tick == tick->number)
			continue;
		if (thread->excluded && thread->late == NULL && !thread->held) {
			tick->skipped++;
			tick->excluded++;
			if (thread->next_tick > tick->number)
				continue;
			late_serve(run);
			excluded_observe(run, thread);
			continue;
		}
		if (is_due(tick, thread, all))
			out[count++] = select_observation(tick, thread);
		else
			tick->skipped++;
	}
	return count;
}

size_t
select_due(struct run *run, bool all, struct observation *out, size_t most)
{
	struct thread_list *threads = &run->threads;
	const size_t first = threads->count > 0 ? rng_next(&run->rng) % threads->count : 0;
	size_t count = 0;

	for (size_t i = 0; i < threads->count && count < most; i++) {
		struct sampled_thread *thread = threads->thread[(first + i) % threads->count];

		if (!thread->gone && !thread->excluded && is_due(&run->tick, thread, all))
			out[count++] = select_observation(&run->tick, thread);
	}
	return count;
}
