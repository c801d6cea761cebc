/* SPDX-License-Identifier: MIT */
/*
 * threads.c - the list of the target's threads, which is made again after an exec, after the exit
 * of a thread, and when the number of threads has changed; and the threads that the configuration
 * excludes by name.
 *
 * An excluded thread is never stopped, and only its name and CPU time are read: when the thread is
 * first seen, then at intervals of 1, 2, 4, 8, … ticks up to about a second, and at the end of the
 * run. The CPU time of a thread that ends is counted up to the last of these readings.
 */
#include <stdlib.h>
#include <string.h>

#include "sampler/threads_internal.h"
#include "wallsample/base/search.h"
#include "wallsample/sampler/rings.h"
#include "wallsample/tracer/process_memory.h"

/* Bytes of stack to copy at the first capture of a thread. */
#define STACK_FIRST ((size_t)16 << 10)

/* The id of a thread that the kernel lists, and its process. */
struct listed_thread {
	pid_t tid;
	struct sampled_process *process;
};

/* Sets whether the thread's descriptors on /proc stay open between reads. If not, closes them. */
static void
set_keep_open(struct thread_list *threads, struct sampled_thread *thread, bool keep_open)
{
	threads->fd_users += keep_open;
	threads->fd_users -= thread->watch.keep_open;
	thread->watch.keep_open = keep_open;
	if (!keep_open)
		watch_release(&thread->watch);
}

/* Counts the thread as excluded. Sets excluded_cpu_ns to the CPU time of the thread that is not
 * counted: what it has used so far, or 0 if it was created during the run. */
static void
begin_excluded(struct run *run, struct sampled_thread *thread)
{
	const uint32_t now = run->tick.number;
	/* All the CPU time of a thread that was created during the run belongs to the run. */
	const bool is_new = now > 0 && !thread->listed;
	struct sched sched;

	run->stats.excluded.threads += !thread->was_excluded;
	thread->was_excluded = true;
	thread->excluded_cpu_ns = 0;
	if (!is_new &&
	    watch_read_sched(&thread->watch, thread->process->process, &sched) == WATCH_OK)
		thread->excluded_cpu_ns = sched.cpu_ns;
	thread->since_tick = now;
	thread->next_tick = now + 1;
}

/* Sets `selected` and `excluded` of the thread as the callbacks of sampler_context decide for its
 * name. */
static void
select_by_name(struct run *run, struct sampled_thread *thread)
{
	const struct sampler_context *context = &run->context;
	struct thread_list *threads = &run->threads;
	const pid_t tid = thread->watch.tid;
	const bool excluded = context->excluded != NULL &&
			      context->excluded(context->selected_context, tid, thread->name);

	thread->selected = !excluded &&
			   (context->selected == NULL ||
			    context->selected(context->selected_context, tid, thread->name));
	if (excluded && !thread->excluded)
		begin_excluded(run, thread);
	threads->excluded += excluded;
	threads->excluded -= thread->excluded;
	thread->excluded = excluded;
	if (excluded || (!thread->watch.keep_open && threads->fd_users < threads->fd_budget))
		set_keep_open(threads, thread, !excluded);
}

/* True if this tick has added the process, which was not created during the run. */
static bool
is_older(const struct tick *tick, const struct sampled_process *process)
{
	return tick->number > 0 && process->since_tick == tick->number && !process->is_new;
}

/* `before`: the last thread with this id, which has ended; NULL: none. */
static struct sampled_thread *
thread_create(struct run *run, const struct listed_thread *listed,
	      const struct sampled_thread *before)
{
	const struct tick *tick = &run->tick;
	const size_t stack_limit = run->config.stack_limit;
	struct task_stat stat;
	struct sampled_thread *thread;

	if (!process_read_task_stat(listed->process->process, listed->tid, &stat))
		return NULL; /* the thread has exited */
	if (stat.state == 'Z' || stat.state == 'X')
		return NULL;
	thread = xcalloc(1, sizeof(*thread));
	thread->process = listed->process;
	window_init(&thread->window);
	watch_init(&thread->watch, listed->tid, run->threads.sched_source, false);
	thread->start_time = stat.start_time;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	thread->record = thread->green_task = THREAD_NONE;
	thread->stack = stacks_failure(&listed->process->stacks, FAILURE_EXITED);
	thread->period = 1;
	/* The thread was created since the last tick: the time for which it is sampled begins at
	 * that tick. */
	thread->last_tick = tick->number > 0 ? tick->number - 1 : 0;
	thread->last_ns = tick->time_ns - tick->span_ns;
	thread->next_tick = tick->number;
	thread->state = RUN_UNKNOWN;
	thread->syscall = SYSCALL_NONE;
	thread->stack_need = STACK_FIRST < stack_limit ? STACK_FIRST : stack_limit;
	/* If the start times are equal, this thread has called exec, and has the id and start time
	 * of the first thread since then. Its earlier CPU time belongs to its earlier id. The CPU
	 * time that a process has used before it was added is not that of the run. */
	if ((before != NULL && before->start_time == thread->start_time) ||
	    is_older(tick, listed->process))
		(void)watch_read_sched(&thread->watch, thread->process->process,
				       &thread->window.counted);
	select_by_name(run, thread);
	thread->listed = true;
	thread->process->listed++;
	run->threads.seen++;
	return thread;
}

void
thread_free(struct thread_list *threads, struct sampled_thread *thread)
{
	set_keep_open(threads, thread, false);
	threads->excluded -= thread->excluded;
	thread->process->listed--;
	window_release(&thread->window);
	free(thread->memo);
	free(thread);
}

static int
compare_listed(const void *left, const void *right)
{
	const struct listed_thread *a = left, *b = right;

	return (a->tid > b->tid) - (a->tid < b->tid);
}

static void
add_listed(struct thread_list *threads, size_t *count, pid_t tid, struct sampled_process *process)
{
	threads->listed = xgrow(threads->listed, &threads->listed_capacity, *count + 1,
				sizeof(*threads->listed));
	threads->listed[(*count)++] = (struct listed_thread){ tid, process };
}

static size_t
list_process(struct thread_list *threads, size_t all, struct sampled_process *process)
{
	const size_t count = process_list_threads(process->process, &threads->tids,
						  &threads->tid_capacity);

	for (size_t i = 0; i < count; i++)
		add_listed(threads, &all, threads->tids[i], process);
	process->relist = false;
	return all;
}

/* Lists the thread ids of all processes in ascending order: of marked processes, or with `every` of
 * all of them, as /proc shows them, of other processes the known ones. Returns their number. */
static size_t
list_all(struct thread_list *threads, const struct process_list *processes, bool every)
{
	size_t all = 0;

	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[i];

		if (!every && !thread->process->relist && !thread->process->gone)
			add_listed(threads, &all, thread->watch.tid, thread->process);
	}
	for (size_t p = 0; p < processes->count; p++)
		if ((every || processes->item[p]->relist) && !processes->item[p]->gone)
			all = list_process(threads, all, processes->item[p]);
	if (processes->count > 1)
		qsort(threads->listed, all, sizeof(*threads->listed), compare_listed);
	return all;
}

void
threads_relist(struct run *run, struct sampled_process *process)
{
	process->relist = process->stirred = true;
	run->threads.relist = true;
}

static void
add_removed(struct thread_list *threads, struct sampled_thread *thread)
{
	threads->removed = xgrow(threads->removed, &threads->removed_capacity,
				 threads->removed_count + 1, sizeof(*threads->removed));
	threads->removed[threads->removed_count++] = thread;
}

/* The old list and the new one are both in ascending order of thread ids: one pass merges them. */
void
threads_refresh(struct run *run, bool all)
{
	struct thread_list *threads = &run->threads;
	const size_t count = list_all(threads, &run->processes, all);
	struct sampled_thread **old = threads->thread;
	const size_t old_count = threads->count;
	size_t at = 0;

	threads->thread = xcalloc(count + 1, sizeof(*threads->thread));
	threads->count = 0;
	threads->removed_count = 0;
	threads->relist = false;
	for (size_t i = 0; i < count; i++) {
		const struct listed_thread *listed = &threads->listed[i];
		struct sampled_thread *thread = NULL, *before = NULL;

		if (i > 0 && listed[-1].tid == listed->tid) {
			/* One of the two has exited since its process was listed. */
			threads_relist(run, listed[-1].process);
			threads_relist(run, listed->process);
			continue;
		}
		while (at < old_count && old[at]->watch.tid < listed->tid)
			add_removed(threads, old[at++]);
		if (at < old_count && old[at]->watch.tid == listed->tid) {
			thread = old[at++];
			if (thread->gone || thread->process != listed->process) {
				add_removed(threads, before = thread);
				thread = NULL;
			}
		}
		if (thread == NULL)
			thread = thread_create(run, listed, before);
		if (thread != NULL)
			threads->thread[threads->count++] = thread;
	}
	while (at < old_count)
		add_removed(threads, old[at++]);
	free(old);
	threads->created -= threads->created > 0;
}

uint32_t
threads_index(const struct thread_list *threads, pid_t tid)
{
	size_t index;

	SEARCH_FIRST_NOT(index, threads->count, threads->thread[index]->watch.tid < tid);
	if (index == threads->count || threads->thread[index]->watch.tid != tid)
		return RINGS_NONE;
	return (uint32_t)index;
}

struct sampled_thread *
threads_find(const struct thread_list *threads, pid_t tid)
{
	const uint32_t index = threads_index(threads, tid);

	return index != RINGS_NONE ? threads->thread[index] : NULL;
}

void
threads_release(struct thread_list *threads)
{
	free(threads->thread);
	free(threads->removed);
	free(threads->listed);
	free(threads->tids);
	loadavg_release(&threads->loadavg);
}

void
thread_keep_counters(const struct run *run, struct sampled_thread *thread, const struct sched *last,
		     uint64_t read_ns)
{
	if (read_ns <= run->seen_ns)
		thread->earlier = *last;
}

void
thread_set_counters(const struct run *run, struct sampled_thread *thread, const struct sched *sched)
{
	if (thread->late != NULL)
		thread_keep_counters(run, thread, &thread->late->latest, thread->late->latest_ns);
	else
		thread_keep_counters(run, thread,
				     thread->seen ? &thread->sched : &thread->window.counted,
				     thread->sched_ns);
	thread->sched = *sched;
	thread->sched_ns = clock_now_ns();
}

bool
thread_is_unmoved(struct sampled_thread *thread)
{
	struct sched now;

	return watch_read_sched(&thread->watch, thread->process->process, &now) == WATCH_OK &&
	       now.switches == thread->sched.switches;
}

enum watch_end
thread_read_call(struct sampled_thread *thread, const struct sched *sched,
		 struct syscall_info *call)
{
	const enum watch_end end = watch_read_syscall(&thread->watch, thread->process->process,
						      call);

	if (end == WATCH_OK && sched->switches == thread->stop_switches)
		call->running = true;
	return end;
}

bool
thread_is_woken(const struct run *run, struct sampled_thread *thread)
{
	const struct thread_window *window = &thread->window;
	const int64_t waited_ns = (int64_t)(thread->sched.delay_ns - window->counted.delay_ns);

	/* These runs are not calibrated: `counted` is not set. */
	if (run->holds || run->config.exact)
		return false;
	if (!thread->woken && !window->waits && waited_ns < WAITS_LEAST_NS)
		return false;
	return watch_is_runnable(&thread->watch, thread->process->process);
}

bool
thread_read_name(struct sampled_thread *thread)
{
	struct task_stat stat;

	if (!process_read_task_stat(thread->process->process, thread->watch.tid, &stat) ||
	    strcmp(stat.comm, thread->name) == 0)
		return false;
	snprintf(thread->name, sizeof(thread->name), "%s", stat.comm);
	return true;
}

/* The name is read at the 2nd, 4th, 8th, ... call: threads name themselves soon after they were
 * created, and seldom later. */
bool
threads_count_capture(struct run *run, struct sampled_thread *thread)
{
	thread->captures++;
	if (thread->captures == 1 || (thread->captures & (thread->captures - 1)) != 0 ||
	    !thread_read_name(thread))
		return false;
	select_by_name(run, thread);
	return true;
}

void
excluded_read_cpu(struct run *run, struct sampled_thread *thread)
{
	struct sched sched;

	if (watch_read_sched(&thread->watch, thread->process->process, &sched) != WATCH_OK)
		return;
	if (sched.cpu_ns > thread->excluded_cpu_ns) {
		run->stats.excluded.cpu_ns += sched.cpu_ns - thread->excluded_cpu_ns;
		thread->process->weights.known_ns += (int64_t)(sched.cpu_ns -
							       thread->excluded_cpu_ns);
	}
	thread->excluded_cpu_ns = sched.cpu_ns;
}

void
excluded_observe(struct run *run, struct sampled_thread *thread)
{
	const struct tick *tick = &run->tick;
	const uint32_t ticks_a_second = tick->span_ns > 0 ?
						(uint32_t)(NS_PER_SEC / tick->span_ns) + 1 :
						1;
	const uint32_t age = tick->number - thread->since_tick + 1;

	excluded_read_cpu(run, thread);
	if (thread_read_name(thread)) {
		select_by_name(run, thread);
		thread_record_rename(run, thread);
	}
	if (thread->excluded) {
		thread->next_tick = tick->number + (age < ticks_a_second ? age : ticks_a_second);
		return;
	}
	/* The thread's new name is not excluded: from now on the thread is sampled like a new
	 * one. */
	(void)watch_read_sched(&thread->watch, thread->process->process, &thread->window.counted);
	thread->seen = thread->asleep = false;
	thread->period = 1;
	thread->last_tick = tick->number - 1;
	thread->last_ns = tick->time_ns - tick->span_ns;
	thread->next_tick = tick->number;
}

/*
 * After the kernel has restarted a system call, /proc shows restart_syscall(2) in its place. The
 * call of the last observation is still valid if the thread sleeps at the same place; otherwise the
 * call is found from the code that made it, or from the arguments.
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
	if (memory_read(&thread->process->reader, info->pc - sizeof(code), code, sizeof(code)))
		number = syscall_from_code(code);
	return number != SYSCALL_UNKNOWN ? number : syscall_from_args(info->args);
}
