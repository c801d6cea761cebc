/* SPDX-License-Identifier: MIT */
/* threads.c - which threads the target has: listed when something says it changed. */
#include <errno.h>
#include <string.h>

#include "wallsample/sampler/rings.h"
#include "sampler/pipeline_internal.h"

/* Asks the configuration whether a thread of this name is captured, counted or excluded. */
static void
thread_select(struct sampler *sampler, struct tracked *thread)
{
	const struct sampler_config *config = &sampler->config;
	const bool excluded =
		config->excluded != NULL &&
		config->excluded(config->selected_context, thread->watch.tid, thread->name);

	thread->selected = !excluded && (config->selected == NULL ||
					 config->selected(config->selected_context,
							  thread->watch.tid, thread->name));
	if (excluded && !thread->excluded)
		excluded_begin(sampler, thread);
	thread->excluded = excluded;
}

static struct tracked *
thread_create(struct sampler *sampler, pid_t tid)
{
	struct task_stat stat;
	struct tracked *thread;

	if (!process_read_task_stat(sampler->process, tid, &stat))
		return NULL; /* gone already */
	if (stat.state == 'Z' || stat.state == 'X')
		return NULL;
	thread = xcalloc(1, sizeof(*thread));
	watch_init(&thread->watch, tid, sampler->sched_source,
		   sampler->thread_count < sampler->fd_budget);
	thread->start_time = stat.start_time;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	thread->profile_thread = thread->task = THREAD_NONE;
	thread->stack = stack_of_failure(sampler, FAILURE_EXITED);
	thread->period = 1;
	/* Born since the last tick: the tick that finds it is its first. */
	thread->last_tick = sampler->tick > 0 ? sampler->tick - 1 : 0;
	thread->last_ns = sampler->tick_ns - sampler->span_ns;
	thread->next_tick = sampler->tick;
	thread->state = RUN_UNKNOWN;
	thread->syscall = SYSCALL_NONE;
	thread->stack_need = STACK_FIRST < sampler->config.stack_limit ?
				     STACK_FIRST :
				     sampler->config.stack_limit;
	thread_select(sampler, thread);
	sampler->stats.threads_seen++;
	return thread;
}

/*
 * A thread that has ended lived at the tick before this one: until then it did what it was
 * last seen doing.
 */
static void
credit_last(struct sampler *sampler, struct tracked *thread)
{
	uint64_t last_tick_ns = sampler->tick_ns - sampler->span_ns;

	if (thread->seen && thread->selected && thread->last_ns < last_tick_ns)
		credit_past(sampler, thread, (int64_t)(sampler->tick - 1 - thread->last_tick),
			    (int64_t)(last_tick_ns - thread->last_ns));
}

static void
thread_free(struct sampler *sampler, struct tracked *thread)
{
	credit_last(sampler, thread);
	sampler->stats.excluded.ended += thread->excluded;
	late_drop(sampler, thread);
	waits_leave(sampler, thread);
	watch_release(&thread->watch);
	free(thread->memo);
	free(thread);
}

/* Both lists are in ascending order: one pass merges them. */
void
threads_refresh(struct sampler *sampler)
{
	size_t count = process_list_threads(sampler->process, &sampler->tids,
					    &sampler->tid_capacity);
	struct tracked **old = sampler->thread;
	size_t old_count = sampler->thread_count, at = 0;

	sampler->thread = xcalloc(count + 1, sizeof(*sampler->thread));
	sampler->thread_count = 0;
	for (size_t i = 0; i < count; i++) {
		struct tracked *thread = NULL;

		while (at < old_count && old[at]->watch.tid < sampler->tids[i])
			thread_free(sampler, old[at++]);
		if (at < old_count && old[at]->watch.tid == sampler->tids[i]) {
			thread = old[at++];
			if (thread->gone) {
				thread_free(sampler, thread);
				thread = NULL;
			}
		}
		if (thread == NULL)
			thread = thread_create(sampler, sampler->tids[i]);
		if (thread != NULL)
			sampler->thread[sampler->thread_count++] = thread;
	}
	while (at < old_count)
		thread_free(sampler, old[at++]);
	free(old);
	sampler->relist = false;
	if (sampler->thread_count > sampler->stats.threads_most)
		sampler->stats.threads_most = (uint32_t)sampler->thread_count;
}

uint32_t
index_of_tid(const struct sampler *sampler, pid_t tid)
{
	size_t low = 0, high = sampler->thread_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (sampler->thread[middle]->watch.tid == tid)
			return (uint32_t)middle;
		if (sampler->thread[middle]->watch.tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NOBODY;
}

struct tracked *
thread_of_tid(struct sampler *sampler, pid_t tid)
{
	const uint32_t index = index_of_tid(sampler, tid);

	return index != NOBODY ? sampler->thread[index] : NULL;
}

void
threads_free(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->thread_count; i++)
		thread_free(sampler, sampler->thread[i]);
	free(sampler->thread);
	free(sampler->tids);
	sampler->thread = NULL;
	sampler->thread_count = 0;
}

/*
 * Threads name themselves soon after their birth, and seldom later: the name is read
 * again at the 2nd, 4th, 8th, … capture, and of all at the end.
 */
void
thread_count_capture(struct sampler *sampler, struct tracked *thread)
{
	thread->captures++;
	if (thread->captures > 1 && (thread->captures & (thread->captures - 1)) == 0)
		thread_refresh_name(sampler, thread);
}

void
thread_refresh_name(struct sampler *sampler, struct tracked *thread)
{
	struct task_stat stat;

	if (!process_read_task_stat(sampler->process, thread->watch.tid, &stat) ||
	    strcmp(stat.comm, thread->name) == 0)
		return;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	if (thread->profile_thread != UINT32_MAX && !thread->shared)
		profile_rename_thread(sampler->profile, thread->profile_thread, thread->name);
	thread_select(sampler, thread);
}

/*
 * A program may create threads without end. After so many the next ones share a record with
 * others of their name, under the thread id 0.
 */
#define MOST_THREADS 10000

void
thread_enter_profile(struct sampler *sampler, struct tracked *thread)
{
	struct profile *profile = sampler->profile;
	uint32_t name, *shared;
	bool added;

	/* Tasks have a limit of their own: with one a request they would soon take up this one. */
	thread->shared =
		profile_thread_count(profile) - sampler->tasks.units >= MOST_THREADS;
	if (!thread->shared) {
		thread->profile_thread = profile_add_thread(profile, thread->watch.tid,
							    thread->start_time, thread->name);
		return;
	}
	name = profile_intern_text(profile, thread->name);
	shared = table_place(&sampler->shared_threads, name, 0, 0, &added);
	if (added)
		*shared = profile_add_thread(profile, 0, 0, thread->name);
	thread->profile_thread = *shared;
}

uint32_t
thread_unit(struct sampler *sampler, struct tracked *thread, uint32_t *carrier)
{
	if (thread->profile_thread == THREAD_NONE)
		thread_enter_profile(sampler, thread);
	if (carrier != NULL)
		*carrier = thread->task != THREAD_NONE ? thread->profile_thread + 1 : 0;
	return thread->task != THREAD_NONE ? thread->task : thread->profile_thread;
}
