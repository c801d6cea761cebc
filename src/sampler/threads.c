/* SPDX-License-Identifier: MIT */
/* threads.c - the threads of the target: listed again when something says that they changed. */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/sampler/rings.h"
#include "wallsample/tracer/process_memory.h"

/* Bytes of stack that are copied of a thread that was not sampled before. */
#define STACK_FIRST ((size_t)16 << 10)

/* A thread id that the kernel lists. */
struct listed_thread {
	pid_t tid;
	struct sampled_process *process;
};

/* The name of the thread is excluded from now on. */
static void
begin_excluded(struct thread_list *threads, struct sampled_thread *thread)
{
	const uint32_t now = threads->tick->number;
	/* All the CPU time of a thread that was created during the run belongs to the run. */
	const bool is_new = now > 0 && !thread->listed;
	struct sched sched;

	threads->excluded_counts->threads += !thread->was_excluded;
	thread->was_excluded = true;
	thread->excluded_cpu_ns = 0;
	if (!is_new &&
	    watch_read_sched(&thread->watch, thread->process->process, &sched) == LOOK_OK)
		thread->excluded_cpu_ns = sched.cpu_ns;
	thread->since_tick = now;
	thread->next_tick = now + 1;
}

/* Asks the configuration whether a thread of this name is sampled, counted or excluded. */
static void
select_by_name(struct thread_list *threads, struct sampled_thread *thread)
{
	const pid_t tid = thread->watch.tid;
	void *context = threads->selected_context;
	const bool excluded = threads->excluded != NULL &&
			      threads->excluded(context, tid, thread->name);

	thread->selected = !excluded && (threads->selected == NULL ||
					 threads->selected(context, tid, thread->name));
	if (excluded && !thread->excluded)
		begin_excluded(threads, thread);
	thread->excluded = excluded;
}

static struct sampled_thread *
thread_create(struct thread_list *threads, const struct listed_thread *listed)
{
	const struct tick *tick = threads->tick;
	struct task_stat stat;
	struct sampled_thread *thread;

	if (!process_read_task_stat(listed->process->process, listed->tid, &stat))
		return NULL; /* it has exited */
	if (stat.state == 'Z' || stat.state == 'X')
		return NULL;
	thread = xcalloc(1, sizeof(*thread));
	thread->process = listed->process;
	watch_init(&thread->watch, listed->tid, threads->sched_source,
		   threads->count < threads->fd_budget);
	thread->start_time = stat.start_time;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	thread->record = thread->green_task = THREAD_NONE;
	thread->stack = stacks_failure(&listed->process->stacks, FAILURE_EXITED);
	thread->period = 1;
	/* Born since the last tick: the tick that finds it is its first. */
	thread->last_tick = tick->number > 0 ? tick->number - 1 : 0;
	thread->last_ns = tick->time_ns - tick->span_ns;
	thread->next_tick = tick->number;
	thread->state = RUN_UNKNOWN;
	thread->syscall = SYSCALL_NONE;
	thread->stack_need = STACK_FIRST < threads->stack_limit ? STACK_FIRST :
								  threads->stack_limit;
	select_by_name(threads, thread);
	thread->listed = true;
	threads->seen++;
	return thread;
}

void
thread_free(struct sampled_thread *thread)
{
	watch_release(&thread->watch);
	free(thread->memo);
	free(thread);
}

static int
compare_listed(const void *left, const void *right)
{
	const struct listed_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

/* The thread ids of all processes, in ascending order. */
static size_t
list_all(struct thread_list *threads, const struct process_list *processes)
{
	size_t all = 0;

	for (size_t p = 0; p < processes->count; p++) {
		const size_t count = process_list_threads(processes->item[p]->process,
							  &threads->tids, &threads->tid_capacity);

		threads->listed = xgrow(threads->listed, &threads->listed_capacity, all + count + 1,
					sizeof(*threads->listed));
		for (size_t i = 0; i < count; i++)
			threads->listed[all++] = (struct listed_thread){
				.tid = threads->tids[i],
				.process = processes->item[p],
			};
	}
	if (processes->count > 1)
		qsort(threads->listed, all, sizeof(*threads->listed), compare_listed);
	return all;
}

static void
remove_thread(struct thread_list *threads, struct sampled_thread *thread)
{
	threads->removed = xgrow(threads->removed, &threads->removed_capacity,
				 threads->removed_count + 1, sizeof(*threads->removed));
	threads->removed[threads->removed_count++] = thread;
}

/* Both lists are in ascending order: one pass merges them. */
void
threads_refresh(struct thread_list *threads, const struct process_list *processes)
{
	const size_t count = list_all(threads, processes);
	struct sampled_thread **old = threads->thread;
	const size_t old_count = threads->count;
	size_t at = 0;

	threads->thread = xcalloc(count + 1, sizeof(*threads->thread));
	threads->count = 0;
	threads->removed_count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct listed_thread *listed = &threads->listed[i];
		struct sampled_thread *thread = NULL;

		while (at < old_count && old[at]->watch.tid < listed->tid)
			remove_thread(threads, old[at++]);
		if (at < old_count && old[at]->watch.tid == listed->tid) {
			thread = old[at++];
			if (thread->gone) {
				remove_thread(threads, thread);
				thread = NULL;
			}
		}
		if (thread == NULL)
			thread = thread_create(threads, listed);
		if (thread != NULL)
			threads->thread[threads->count++] = thread;
	}
	while (at < old_count)
		remove_thread(threads, old[at++]);
	free(old);
	threads->relist = false;
}

uint32_t
threads_index(const struct thread_list *threads, pid_t tid)
{
	size_t low = 0, high = threads->count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (threads->thread[middle]->watch.tid == tid)
			return (uint32_t)middle;
		if (threads->thread[middle]->watch.tid < tid)
			low = middle + 1;
		else
			high = middle;
	}
	return NOBODY;
}

struct sampled_thread *
threads_find(const struct thread_list *threads, pid_t tid)
{
	const uint32_t index = threads_index(threads, tid);

	return index != NOBODY ? threads->thread[index] : NULL;
}

void
threads_release(struct thread_list *threads)
{
	free(threads->thread);
	free(threads->removed);
	free(threads->listed);
	free(threads->tids);
	*threads = (struct thread_list){ .thread = NULL };
}

/* Threads name themselves soon after their birth, and seldom later. */
bool
threads_count_capture(struct thread_list *threads, struct sampled_thread *thread)
{
	thread->captures++;
	return thread->captures > 1 && (thread->captures & (thread->captures - 1)) == 0 &&
	       threads_read_name(threads, thread);
}

bool
threads_read_name(struct thread_list *threads, struct sampled_thread *thread)
{
	struct task_stat stat;

	if (!process_read_task_stat(thread->process->process, thread->watch.tid, &stat) ||
	    strcmp(stat.comm, thread->name) == 0)
		return false;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	select_by_name(threads, thread);
	return true;
}

/*
 * After a restart the kernel shows restart_syscall(2). The number seen before holds as long as the
 * sleep is at the same place; otherwise the code that made the call, or its arguments, tell it.
 */
long
thread_syscall(const struct sampled_thread *thread, const struct syscall_info *info)
{
	unsigned char code[SYSCALL_CODE_SIZE];
	long number = SYSCALL_UNKNOWN;

	if (!syscall_is_restart(info->number))
		return info->number;
	if (thread->seen && thread->sp == info->sp && thread->pc == info->pc &&
	    thread->syscall >= 0)
		return thread->syscall;
	if (memory_read_process(thread->watch.tid, info->pc - sizeof(code), code, sizeof(code)) ==
	    sizeof(code))
		number = syscall_from_code(code);
	return number != SYSCALL_UNKNOWN ? number : syscall_from_args(info->args);
}
