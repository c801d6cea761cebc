/* SPDX-License-Identifier: MIT */
/* thread_records.c - the records of threads in the profile. */
#include "sampler/threads_internal.h"
#include "wallsample/thread/sleep_clock.h"

/*
 * Most threads that have a record of their own in the profile: there is a limit because a program
 * may create threads without end. Each further thread shares a record with the others of the same
 * name. The thread id in a shared record is 0.
 */
#define RECORDS_MOST 10000

/* A shared record has the thread id 0 and, in place of the start time, this number plus the text id
 * of its name, by which the profile distinguishes it. The records of profile_no_thread and of
 * threads
 * that were never seen (weights_internal.h) have lower numbers. */
#define SHARED_TIMES 2

static void
enter_thread(struct run *run, struct sampled_thread *thread)
{
	struct profile *profile = run->profile;
	uint32_t name, *shared;
	bool added;

	/* The records of green tasks (green_task.h) do not count: a program with a task per request
	 * would soon reach the limit. */
	thread->shared = profile_thread_count(profile) - run->records.green_tasks >= RECORDS_MOST;
	if (!thread->shared) {
		thread->record = profile_add_thread(profile, thread->process->id, thread->watch.tid,
						    thread->start_time, thread->name);
		return;
	}
	name = profile_intern_text(profile, thread->name);
	shared = table_insert(&run->records.shared, name, thread->process->id, 0, &added);
	if (added)
		*shared = profile_add_thread(profile, thread->process->id, 0, SHARED_TIMES + name,
					     thread->name);
	thread->record = *shared;
}

uint32_t
thread_record(struct run *run, struct sampled_thread *thread)
{
	if (thread->record == THREAD_NONE)
		enter_thread(run, thread);
	return thread->record;
}

uint32_t
thread_record_of_sample(struct run *run, struct sampled_thread *thread, uint32_t *carrier)
{
	const uint32_t record = thread_record(run, thread);
	const bool carries = thread->green_task != THREAD_NONE;

	*carrier = carries ? record + 1 : 0;
	return carries ? thread->green_task : record;
}

void
thread_record_rename(struct run *run, const struct sampled_thread *thread)
{
	if (thread->record != THREAD_NONE && !thread->shared)
		profile_rename_thread(run->profile, thread->record, thread->name);
}

void
thread_records_set_sleeps(struct run *run)
{
	struct sleep_clock clock;

	if (!run->config.exact)
		return;
	sleep_clock_init(&clock);
	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];
		uint64_t slept_ns;

		if (thread->record == THREAD_NONE || thread->shared || !thread->seen ||
		    run_state_runnable(thread->state))
			continue;
		slept_ns = sleep_clock_read(&clock, thread->process->process, &thread->watch);
		/* A thread that has run since its sample has slept for less than the time since
		 * that sample: its sleep is not the sampled one. */
		if (slept_ns > clock_now_ns() - thread->last_ns)
			profile_set_waiting(run->profile, thread->record, slept_ns);
	}
	sleep_clock_release(&clock);
}
