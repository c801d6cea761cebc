/* SPDX-License-Identifier: MIT */
/* tick_read.c - what a tick reads of the target besides samples: processes, lists of threads,
 * mappings, code generated at run time, language runtimes. */
#include "sampler/sampler_internal.h"

/* Number of times that threads are listed after one was created: the kernel gives a thread its id
 * shortly before it adds the thread to those of its process. */
#define LISTINGS_CREATED 2

bool
tick_read_processes(struct sampler *sampler)
{
	struct run *run = &sampler->run;
	size_t threads = 0, alive = 0;

	for (size_t i = 0; i < run->processes.count; i++) {
		struct sampled_process *process = run->processes.item[i];

		if (!sampled_process_read(process))
			continue;
		alive++;
		threads += process->thread_count;
		if (!process->execed)
			continue;
		/* The process executes another program: what was read from its memory is no longer
		 * valid. */
		run->stats.execed = true;
		run->threads.relist = true;
		maps_refresh(process->maps);
		green_forget(process->green);
	}
	if (alive > 0 && threads != run->threads.count)
		run->threads.relist = true;
	return alive > 0;
}

static void
remove_thread(struct sampler *sampler, struct sampled_thread *thread)
{
	attribute_removed(&sampler->charging, thread);
	sampler->run.stats.excluded.ended += thread->excluded;
	late_drop(&sampler->charging, thread);
	weights_end_thread(&sampler->calibration, thread);
	waits_leave(thread->process->waits, thread);
	charge_removed(&sampler->charging, thread);
	thread_free(&sampler->run.threads, thread);
}

void
tick_list_threads(struct sampler *sampler)
{
	struct thread_list *threads = &sampler->run.threads;
	struct run_stats *stats = &sampler->run.stats;

	threads_refresh(&sampler->run);
	for (size_t i = 0; i < threads->removed_count; i++)
		remove_thread(sampler, threads->removed[i]);
	threads->removed_count = 0;
	stats->threads_seen = threads->seen;
	if (threads->count > stats->threads_most)
		stats->threads_most = (uint32_t)threads->count;
}

void
tick_list_changed_threads(struct sampler *sampler, uint64_t now)
{
	struct thread_list *threads = &sampler->run.threads;
	bool wanted = threads->relist;

	if (loadavg_has_new_thread(&threads->loadavg))
		threads->created = LISTINGS_CREATED;
	if (threads->created == 0 && !wanted)
		return;
	wanted |= cpu_budget_begin(&threads->list_budget, now);
	if (wanted)
		tick_list_threads(sampler);
	cpu_budget_end(&threads->list_budget);
}

void
tick_remove_threads(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->run.threads.count; i++)
		remove_thread(sampler, sampler->run.threads.thread[i]);
	sampler->run.threads.count = 0;
}

/* Reads the names of code generated at run time. Returns true if the number of address ranges of
 * V8's interpreter code has changed: then all threads of the process have to be observed, because
 * the stacks of sleeping threads lack the names of interpreted functions. */
static bool
read_jit(struct run *run, struct sampled_process *process, uint64_t now)
{
	const struct address_range *interpreter;
	size_t count;

	if (process->jit == NULL)
		return false;
	jit_tick(process->jit, now, tracer_outstanding(run->tracer) > 0);
	count = jit_interpreters(process->jit, &interpreter);
	unwinder_set_interpreters(process->unwinder, interpreter, count);
	if (count == process->stacks.interpreters)
		return false;
	process->stacks.interpreters = count;
	for (size_t i = 0; i < run->threads.count; i++)
		if (run->threads.thread[i]->process == process)
			run->threads.thread[i]->asleep = false;
	return true;
}

/* Reads the language runtimes of a process. A thread that fell asleep before a runtime had
 * discovered it is captured again. */
static void
read_runtimes(struct run *run, struct sampled_process *process, uint64_t now)
{
	pid_t tid;

	if (tracer_outstanding(run->tracer) == 0)
		target_memory_renew(&process->memory);
	if (process->runtimes == NULL)
		return;
	runtimes_tick(process->runtimes, now);
	while ((tid = runtimes_next_new(process->runtimes)) > 0) {
		struct sampled_thread *thread = threads_find(&run->threads, tid);

		if (thread != NULL)
			thread->asleep = false;
	}
}

void
tick_read_runtimes(struct sampler *sampler, uint64_t now)
{
	for (size_t i = 0; i < sampler->run.processes.count; i++)
		read_runtimes(&sampler->run, sampler->run.processes.item[i], now);
}

void
tick_begin_runtimes(struct run *run)
{
	for (size_t i = 0; i < run->processes.count; i++)
		if (run->processes.item[i]->runtimes != NULL)
			runtimes_begin_tick(run->processes.item[i]->runtimes);
}

bool
tick_read_code(struct run *run, uint64_t now)
{
	bool all = false;

	for (size_t i = 0; i < run->processes.count; i++) {
		struct sampled_process *process = run->processes.item[i];

		late_serve(run);
		maps_tick(process->maps, now);
		late_serve(run);
		if (process->jit_objects != NULL)
			jit_objects_tick(process->jit_objects, now);
		late_serve(run);
		all |= read_jit(run, process, now);
		late_serve(run);
	}
	return all;
}

bool
tick_is_alive(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->run.processes;
	struct task_stat leader;

	for (size_t i = 0; i < processes->count; i++)
		if (sampled_process_is_alive(processes->item[i], &leader))
			return true;
	return false;
}
