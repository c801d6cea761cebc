/* SPDX-License-Identifier: MIT */
/* coroutines.c - reads the coroutines of a process, and which coroutine awaits which. Those of one
 * thread are read together, at one moment of the run; each thread has a moment of its own. */
#include "sampler/tasks/green_internal.h"
#include "sampler/threads_internal.h"

/* Most attempts to read the coroutines of a thread that runs during the read. */
#define ATTEMPTS 5

/*
 * Longest times for reading coroutines: HELD_MOST_NS while threads are stopped, OTHERS_MOST_NS at
 * the end of the run. A coroutine takes some 10 us. If there are more than can be read in that
 * time, the output says that some are missing.
 */
#define HELD_MOST_NS (20 * NS_PER_MS)
#define OTHERS_MOST_NS (5 * NS_PER_SEC)

/* True if the thread is off-CPU, so that nothing changes its coroutines. Sets *sched to its
 * counters. */
static bool
is_off_cpu(struct sampled_thread *thread, struct sched *sched)
{
	const struct process *process = thread->process->process;
	struct syscall_info info;

	return watch_read_sched(&thread->watch, process, sched) == WATCH_OK &&
	       watch_read_syscall(&thread->watch, process, &info) == WATCH_OK && !info.running;
}

/* Reads the coroutines of a thread. If it has any and may have run while they were read, they are
 * dropped again, and the result is false. */
static bool
read_coroutines(struct async_tasks *out, struct sampled_thread *thread, uint64_t until_ns)
{
	struct sampled_process *process = thread->process;
	struct sched before = { 0 }, after;
	const bool off_cpu = is_off_cpu(thread, &before);

	if (runtimes_read_async_tasks(process->runtimes, out, thread->watch.tid, until_ns) == 0)
		return true;
	if (off_cpu && watch_read_sched(&thread->watch, process->process, &after) == WATCH_OK &&
	    after.switches == before.switches)
		return true;
	async_tasks_undo(out);
	return false;
}

static bool
coroutines_are_wanted(const struct run *run, const struct sampled_process *process)
{
	return run->context.async != NULL && process->runtimes != NULL &&
	       runtimes_any(process->runtimes);
}

void
coroutines_of_stopped(struct run *run, struct sampled_thread *thread)
{
	if (coroutines_are_wanted(run, thread->process) && !thread->coroutines_read)
		thread->coroutines_read = read_coroutines(run->context.async, thread,
							  clock_now_ns() + HELD_MOST_NS);
}

void
coroutines_of_held(struct run *run, struct observation *observation, size_t count)
{
	const uint64_t until_ns = clock_now_ns() + HELD_MOST_NS;

	for (size_t i = 0; i < count; i++) {
		struct sampled_thread *thread = observation[i].thread;

		if (observation[i].outcome == OUTCOME_RUNNING && !thread->coroutines_read &&
		    observation[i].capture->request.end == STOP_CAPTURED &&
		    coroutines_are_wanted(run, thread->process))
			thread->coroutines_read = read_coroutines(run->context.async, thread,
								  until_ns);
	}
}

/* Reads the coroutines of a thread, or adds a note to `out` that they are missing. */
static void
read_or_note(struct async_tasks *out, struct sampled_thread *thread, uint64_t until_ns)
{
	char text[100];

	thread->coroutines_read = true;
	for (int i = 0; i < ATTEMPTS; i++)
		if (read_coroutines(out, thread, until_ns))
			return;
	snprintf(text, sizeof(text),
		 "the tasks of thread %d are not shown: they changed while "
		 "they were read",
		 (int)thread->watch.tid);
	async_tasks_note(out, text);
}

void
coroutines_finish(struct run *run, const struct sampled_process *process)
{
	const struct thread_list *threads = &run->threads;
	const uint64_t until_ns = clock_now_ns() + OTHERS_MOST_NS;

	if (!coroutines_are_wanted(run, process))
		return;
	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[i];

		if (thread->process == process && !thread->gone && thread->selected &&
		    !thread->coroutines_read)
			read_or_note(run->context.async, thread, until_ns);
	}
	runtimes_read_async_tasks(process->runtimes, run->context.async, 0, until_ns);
}
