/* SPDX-License-Identifier: MIT */
/*
 * crowds.c - counts the threads that wait at the same moment for objects of the same kind and name,
 * which share a row of the table of waits. Several connections to one server, for example, have one
 * name.
 */
#include "sampler/threads_internal.h"

/* Counting takes at most 1/COUNT_SHARE of the time. */
#define COUNT_SHARE 200
/* Number of threads of which two files are read between two calls of late_serve; each takes 2 to 4
 * us. */
#define READS_UNSERVED 16

/* Returns what distinguishes the name of the wait's object in reports: the text of a named frame,
 * else the frame. */
static uint64_t
name_of_object(const struct profile *profile, const struct profile_wait *wait)
{
	const struct profile_frame *frame;

	if (wait->object == FRAME_NONE)
		return UINT64_MAX;
	frame = profile_frame(profile, wait->object);
	return frame->module == MODULE_NONE ? frame->address : UINT64_C(1) << 32 | wait->object;
}

/* Returns the wait of a thread that slept at its last observation; NULL: it did not, or the thread
 * has no wait. */
static const struct profile_wait *
wait_of(const struct run *run, const struct sampled_thread *thread)
{
	if (thread->wait.id == 0 || !thread->asleep || thread->gone)
		return NULL;
	return profile_wait(run->profile, thread->wait.id);
}

static void
count_one(const struct run *run, struct table *counts, const struct profile_wait *wait)
{
	(*table_insert(counts, wait_kind_of_row(wait->kind), name_of_object(run->profile, wait), 0,
		       NULL))++;
}

static uint32_t
count_of(const struct run *run, const struct table *counts, const struct profile_wait *wait)
{
	uint32_t count = 0;

	table_find(counts, wait_kind_of_row(wait->kind), name_of_object(run->profile, wait),
		   &count);
	return count;
}

/*
 * Returns true if the thread has slept from its last observation until the reading of its system
 * call. A thread that was woken and has no CPU yet has the counters of a sleeping one, but does not
 * wait any more. The counters are read last: if they are unchanged, the thread has not run in
 * between, and fallen asleep again.
 */
static bool
still_waits(struct sampled_thread *thread)
{
	struct syscall_info info;

	return watch_read_syscall(&thread->watch, thread->process->process, &info) == WATCH_OK &&
	       !info.running && thread_is_unmoved(thread);
}

/* Counts in `waiting` the threads that still wait, of the crowds that are larger at their threads'
 * last observations than any crowd before. */
static void
count_larger(struct run *run)
{
	struct crowds *crowds = &run->crowds;
	uint32_t reads = 0;

	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];
		const struct profile_wait *wait = wait_of(run, thread);

		if (wait == NULL || count_of(run, &crowds->seen, wait) <= wait->most)
			continue;
		if (reads++ % READS_UNSERVED == 0)
			late_serve(run);
		if (still_waits(thread))
			count_one(run, &crowds->waiting, wait);
	}
}

void
crowds_tick(struct run *run)
{
	const uint64_t began = clock_now_ns();
	struct crowds *crowds = &run->crowds;

	if (began < crowds->next_ns)
		return;
	table_clear(&crowds->seen);
	table_clear(&crowds->waiting);
	for (size_t i = 0; i < run->threads.count; i++) {
		const struct profile_wait *wait = wait_of(run, run->threads.thread[i]);

		if (wait != NULL)
			count_one(run, &crowds->seen, wait);
	}
	count_larger(run);
	for (size_t i = 0; i < run->threads.count && crowds->waiting.count > 0; i++) {
		const struct profile_wait *wait = wait_of(run, run->threads.thread[i]);

		if (wait != NULL)
			profile_raise_most(run->profile, run->threads.thread[i]->wait.id,
					   count_of(run, &crowds->waiting, wait));
	}
	crowds->next_ns = began + (clock_now_ns() - began) * COUNT_SHARE;
}

void
crowds_release(struct crowds *crowds)
{
	table_release(&crowds->seen);
	table_release(&crowds->waiting);
}
