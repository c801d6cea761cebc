/* SPDX-License-Identifier: MIT */
/*
 * coroutines.c - the user-space tasks of a process, once: those of each thread while it stands
 * still, or sleeps and has not run meanwhile.
 */
#include "sampler/pipeline_internal.h"

/* Of one that runs on between our reads. */
#define ATTEMPTS 5

/* The target stands still for the first of these. A task takes some 10 us; of more than there is
 * time for it is said that not all are shown. */
#define HELD_MOST_NS (20 * NS_PER_MS)
#define OTHERS_MOST_NS (5 * NS_PER_SEC)

/* Nothing can change what it runs while it does not. */
static bool
is_still(struct sampler *sampler, struct tracked *thread, struct sched *sched)
{
	struct syscall_info info;

	return watch_read_sched(&thread->watch, sampler->process, sched) == LOOK_OK &&
	       watch_read_syscall(&thread->watch, sampler->process, &info) == LOOK_OK &&
	       !info.running;
}

/* False: it has run while they were read, and there were some. */
static bool
read_tasks(struct sampler *sampler, struct tracked *thread, uint64_t until_ns)
{
	struct async_tasks *tasks = sampler->config.tasks;
	struct sched before = { 0 }, after;
	const bool still = is_still(sampler, thread, &before);

	if (runtimes_read_async_tasks(sampler->runtimes, tasks, thread->watch.tid, until_ns) == 0)
		return true;
	if (still && watch_read_sched(&thread->watch, sampler->process, &after) == LOOK_OK &&
	    after.switches == before.switches)
		return true;
	async_tasks_undo(tasks);
	return false;
}

static bool
are_wanted(const struct sampler *sampler)
{
	return sampler->config.tasks != NULL && sampler->runtimes != NULL &&
	       runtimes_any(sampler->runtimes);
}

void
tasks_of_stopped(struct sampler *sampler, struct tracked *thread)
{
	if (are_wanted(sampler) && !thread->tasks_read)
		thread->tasks_read = read_tasks(sampler, thread, clock_now_ns() + HELD_MOST_NS);
}

void
tasks_of_held(struct sampler *sampler)
{
	const uint64_t until_ns = clock_now_ns() + HELD_MOST_NS;

	for (size_t i = 0; are_wanted(sampler) && i < sampler->runners.count; i++) {
		struct pending *pending = &sampler->runners.pending[i];

		if (pending->request->end == STOP_CAPTURED && !pending->thread->tasks_read)
			pending->thread->tasks_read =
				read_tasks(sampler, pending->thread, until_ns);
	}
}

static void
read_or_tell(struct sampler *sampler, struct tracked *thread, uint64_t until_ns)
{
	char text[100];

	thread->tasks_read = true;
	for (int i = 0; i < ATTEMPTS; i++)
		if (read_tasks(sampler, thread, until_ns))
			return;
	snprintf(text, sizeof(text), "the tasks of thread %d are not shown: they changed while "
		 "they were read", (int)thread->watch.tid);
	async_tasks_note(sampler->config.tasks, text);
}

void
tasks_finish(struct sampler *sampler)
{
	const uint64_t until_ns = clock_now_ns() + OTHERS_MOST_NS;

	if (sampler->config.tasks == NULL)
		return;
	/* It may take seconds: who stops only now is let go. */
	sampler_leave(sampler);
	for (size_t i = 0; are_wanted(sampler) && i < sampler->thread_count; i++) {
		struct tracked *thread = sampler->thread[i];

		if (!thread->gone && thread->selected && !thread->tasks_read)
			read_or_tell(sampler, thread, until_ns);
	}
	if (are_wanted(sampler))
		runtimes_read_async_tasks(sampler->runtimes, sampler->config.tasks, 0, until_ns);
	sampler_return(sampler);
	async_tasks_finish(sampler->config.tasks);
}
