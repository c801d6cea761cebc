/* SPDX-License-Identifier: MIT */
/*
 * excluded.c - threads that the configuration excludes: they are never stopped, and nothing is
 * read of them but their name and CPU time.
 *
 * Both are read when the thread is first seen, 1, 2, 4, … ticks later, from then on about once a
 * second, and at the end of the run. The CPU time of a thread that ends is counted up to the last
 * of these readings.
 */
#include "sampler/threads_internal.h"

/* Adds the CPU time since the last reading. */
static void
excluded_read_cpu(struct run_excluded *counts, struct sampled_thread *thread)
{
	struct sched sched;

	if (watch_read_sched(&thread->watch, thread->process->process, &sched) != LOOK_OK)
		return;
	if (sched.cpu_ns > thread->excluded_cpu_ns)
		counts->cpu_ns += sched.cpu_ns - thread->excluded_cpu_ns;
	thread->excluded_cpu_ns = sched.cpu_ns;
}

void
excluded_observe(struct thread_list *threads, struct sampled_thread *thread,
		 const struct selection *selection)
{
	const struct tick *tick = threads->tick;
	/* In ticks of the present rate. */
	const uint32_t a_second = tick->span_ns > 0 ? (uint32_t)(NS_PER_SEC / tick->span_ns) + 1 :
						      1;
	const uint32_t age = tick->number - thread->since_tick + 1;

	excluded_read_cpu(threads->excluded_counts, thread);
	if (threads_read_name(threads, thread))
		thread_record_rename(selection->records, thread);
	if (thread->excluded) {
		thread->next_tick = tick->number + (age < a_second ? age : a_second);
		return;
	}
	/* Its new name is not excluded: from now on it is sampled like a new thread. */
	thread->seen = thread->asleep = false;
	thread->period = 1;
	thread->last_tick = tick->number - 1;
	thread->last_ns = tick->time_ns - tick->span_ns;
	thread->next_tick = tick->number;
}

void
excluded_finish(struct thread_list *threads)
{
	for (size_t i = 0; i < threads->count; i++)
		if (threads->thread[i]->excluded)
			excluded_read_cpu(threads->excluded_counts, threads->thread[i]);
}
