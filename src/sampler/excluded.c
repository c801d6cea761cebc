/* SPDX-License-Identifier: MIT */
/*
 * excluded.c - threads that the configuration excludes: they are never stopped, and nothing is
 * read of them but their name and CPU time.
 *
 * Both are read when the thread is first seen, 1, 2, 4, … ticks later, from then on about once a
 * second, and at the end of the run. The CPU time of a thread that ends is counted up to the last
 * of these readings.
 */
#include "sampler/pipeline_internal.h"

/* Adds the CPU time since the last reading. */
static void
excluded_read_cpu(struct sampler *sampler, struct tracked *thread)
{
	struct sched sched;

	if (watch_read_sched(&thread->watch, sampler->process, &sched) != LOOK_OK)
		return;
	if (sched.cpu_ns > thread->excluded_cpu_ns)
		sampler->stats.excluded.cpu_ns += sched.cpu_ns - thread->excluded_cpu_ns;
	thread->excluded_cpu_ns = sched.cpu_ns;
}

void
excluded_begin(struct sampler *sampler, struct tracked *thread)
{
	struct sched sched;
	/* All the CPU time of a thread that was created during the run belongs to the run. */
	const bool is_new = sampler->tick > 0 && !thread->seen;

	sampler->stats.excluded.threads++;
	thread->excluded_cpu_ns = 0;
	if (!is_new && watch_read_sched(&thread->watch, sampler->process, &sched) == LOOK_OK)
		thread->excluded_cpu_ns = sched.cpu_ns;
	thread->since_tick = sampler->tick;
	thread->next_tick = sampler->tick + 1;
}

void
excluded_look(struct sampler *sampler, struct tracked *thread)
{
	const uint32_t a_second = (uint32_t)sampler->pace.wanted_hz + 1;
	const uint32_t age = sampler->tick - thread->since_tick + 1;

	excluded_read_cpu(sampler, thread);
	thread_refresh_name(sampler, thread);
	if (thread->excluded) {
		thread->next_tick = sampler->tick + (age < a_second ? age : a_second);
		return;
	}
	/* Its new name is not excluded: from now on it is sampled like a new thread. */
	thread->seen = thread->asleep = false;
	thread->period = 1;
	thread->last_tick = sampler->tick - 1;
	thread->last_ns = sampler->tick_ns - sampler->span_ns;
	thread->next_tick = sampler->tick;
}

void
excluded_finish(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->thread_count; i++)
		if (sampler->thread[i]->excluded)
			excluded_read_cpu(sampler, sampler->thread[i]);
}
