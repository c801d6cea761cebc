/* SPDX-License-Identifier: MIT */
/* thread_records.c - the records that threads have in the profile. */
#include "sampler/threads_internal.h"

/*
 * A program may create threads without end. After this number the next ones share a record with
 * others of their name, under the thread id 0.
 */
#define RECORDS_MOST 10000

void
thread_records_init(struct thread_records *records, struct profile *profile)
{
	*records = (struct thread_records){ .profile = profile };
	table_init(&records->shared);
}

void
thread_records_release(struct thread_records *records)
{
	table_release(&records->shared);
}

static void
enter_thread(struct thread_records *records, struct sampled_thread *thread)
{
	struct profile *profile = records->profile;
	uint32_t name, *shared;
	bool added;

	/* Green tasks have a limit of their own: with one a request they would soon fill this. */
	thread->shared = profile_thread_count(profile) - records->green_tasks >= RECORDS_MOST;
	if (!thread->shared) {
		thread->record = profile_add_thread(profile, thread->watch.tid, thread->start_time,
						    thread->name);
		return;
	}
	name = profile_intern_text(profile, thread->name);
	shared = table_insert(&records->shared, name, 0, 0, &added);
	if (added)
		*shared = profile_add_thread(profile, 0, 0, thread->name);
	thread->record = *shared;
}

uint32_t
thread_record(struct thread_records *records, struct sampled_thread *thread)
{
	if (thread->record == THREAD_NONE)
		enter_thread(records, thread);
	return thread->record;
}

uint32_t
thread_record_of_sample(struct thread_records *records, struct sampled_thread *thread,
			uint32_t *carrier)
{
	const uint32_t record = thread_record(records, thread);
	const bool carries = thread->green_task != THREAD_NONE;

	*carrier = carries ? record + 1 : 0;
	return carries ? thread->green_task : record;
}

void
thread_record_rename(struct thread_records *records, const struct sampled_thread *thread)
{
	if (thread->record != THREAD_NONE && !thread->shared)
		profile_rename_thread(records->profile, thread->record, thread->name);
}
