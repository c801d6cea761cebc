/* SPDX-License-Identifier: MIT */
/* tick_read.c - what a tick reads of the target besides samples: processes, lists of threads,
 * mappings, code generated at run time, language runtimes. */
#include "sampler/sampler_internal.h"
#include "sampler/weights/weigh_ended_internal.h"

/* Number of times that threads are listed after one was created: the kernel gives a thread its id
 * shortly before it adds the thread to those of its process. */
#define LISTINGS_CREATED 2

/* Most readings of the GDB JIT objects (jit_objects_tick) of a process before its first tick; from
 * then on there is one a tick. */
#define JIT_READS 20

/* Up to this number of processes, each is read at each tick: a read takes 5 us. Of more processes,
 * those are read that have run, and each one once in READ_LEAST_NS. */
#define READ_EACH 8
#define READ_LEAST_NS NS_PER_SEC

/* Reads the state of a process, and its mappings after an exec. Returns false if it has exited. */
static bool
read_process(struct run *run, struct sampled_process *process)
{
	process->read_tick = run->tick.number;
	process->stirred = false;
	if (!sampled_process_read(process))
		return false;
	if (process->execed) {
		/* What was read from its memory is no longer valid. */
		run->stats.execed = true;
		maps_refresh(process->maps);
		green_forget(process->green);
		process_read_name(run, process);
	}
	if (process->execed || process->thread_count != process->listed)
		threads_relist(run, process);
	return true;
}

/* True if the process is to be read at this tick. */
static bool
is_due(const struct run *run, const struct sampled_process *process)
{
	const struct tick *tick = &run->tick;
	const uint64_t age = tick->number - process->read_tick;

	return run->processes.count <= READ_EACH || process->stirred || process->read_tick == 0 ||
	       age * tick->span_ns >= READ_LEAST_NS;
}

/* True if the run continues without a process. */
static bool
may_grow(const struct run *run)
{
	return run->context.may_grow != NULL && run->context.may_grow(run->context.process_context);
}

/* True if this tick has read the process. */
static bool
is_read(const struct run *run, const struct sampled_process *process)
{
	return process->read_tick == run->tick.number;
}

bool
tick_read_processes(struct sampler *sampler)
{
	struct run *run = &sampler->run;
	const size_t count = run->processes.count;
	size_t alive = 0;

	for (size_t i = 0; i < count; i++) {
		struct sampled_process *process = run->processes.item[i];

		if (!process->gone && !is_due(run, process)) {
			process->execed = false;
			alive++;
			continue;
		}
		if (!process->gone && read_process(run, process)) {
			alive++;
			continue;
		}
		process_end(process);
	}
	if (alive == 0 && !may_grow(run)) {
		/* The last tick attributes the time of all threads. */
		for (size_t i = 0; i < count; i++)
			run->processes.item[i]->gone = false;
		return false;
	}
	run->threads.relist |= alive < count;
	return true;
}

/* Removes the processes that are no longer to be sampled, as if they had ended at this tick. */
static void
leave_processes(struct run *run, uint64_t now)
{
	const struct sampler_context *context = &run->context;
	const struct process *left;

	while (context->next_left != NULL &&
	       (left = context->next_left(context->process_context, now)) != NULL) {
		for (size_t i = 0; i < run->processes.count; i++) {
			struct sampled_process *process = run->processes.item[i];

			if (process->process != left)
				continue;
			(void)process_cpu(process);
			process->gone = true;
			run->threads.relist = true;
		}
	}
}

void
tick_find_processes(struct sampler *sampler, uint64_t now)
{
	struct run *run = &sampler->run;
	const struct sampler_context *context = &run->context;
	struct sampler_process found;

	leave_processes(run, now);
	if (context->next_process == NULL)
		return;
	while (context->next_process(context->process_context, now, &found)) {
		struct sampled_process *process = processes_add(run, &sampler->hold, &found);

		late_serve(run);
		tick_read_first_code(process);
		for (int i = 0; process->runtimes != NULL && i < RUNTIME_LOOKS; i++)
			runtimes_tick(process->runtimes, now);
		(void)read_process(run, process);
		threads_relist(run, process);
		late_serve(run);
	}
}

/* A search for the files of JIT compilers takes 300 us. In a run with many processes it is made for
 * those that have code of a JIT compiler. */
static bool
may_have_jit(const struct run *run, const struct sampled_process *process)
{
	return run->processes.count <= READ_EACH || maps_have_generated_code(process->maps);
}

void
tick_read_first_code(const struct sampled_process *process)
{
	for (int i = 0; process->jit_objects != NULL && i < JIT_READS; i++) {
		jit_objects_tick(process->jit_objects, clock_now_ns());
		if (!jit_objects_busy(process->jit_objects))
			break;
	}
	if (process->jit != NULL && may_have_jit(process->run, process))
		jit_begin(process->jit, clock_now_ns());
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
tick_list_threads(struct sampler *sampler, bool all)
{
	struct thread_list *threads = &sampler->run.threads;
	struct run_stats *stats = &sampler->run.stats;

	threads_refresh(&sampler->run, all);
	for (size_t i = 0; i < threads->removed_count; i++)
		remove_thread(sampler, threads->removed[i]);
	threads->removed_count = 0;
	for (size_t i = 0; i < sampler->run.processes.count; i++)
		if (sampler->run.processes.item[i]->gone)
			weights_end_process(&sampler->calibration, sampler->run.processes.item[i]);
	processes_remove_gone(&sampler->run);
	stats->threads_seen = threads->seen;
	if (threads->count > stats->threads_most)
		stats->threads_most = (uint32_t)threads->count;
}

void
tick_list_changed_threads(struct sampler *sampler, uint64_t now)
{
	struct thread_list *threads = &sampler->run.threads;
	bool all = false;

	if (loadavg_has_new_thread(&threads->loadavg))
		threads->created = LISTINGS_CREATED;
	if (threads->created == 0 && !threads->relist)
		return;
	all = cpu_budget_begin(&threads->list_budget, now) && threads->created > 0;
	if (all || threads->relist)
		tick_list_threads(sampler, all);
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

	if (process->jit == NULL || !may_have_jit(run, process))
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

	if (!is_read(run, process))
		return;
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

/* Reads mappings and names of code of a process. Returns the result of read_jit. */
static bool
read_code(struct run *run, struct sampled_process *process, uint64_t now)
{
	bool all;

	late_serve(run);
	maps_tick(process->maps, now);
	late_serve(run);
	if (process->jit_objects != NULL)
		jit_objects_tick(process->jit_objects, now);
	late_serve(run);
	all = read_jit(run, process, now);
	late_serve(run);
	return all;
}

bool
tick_read_code(struct run *run, uint64_t now)
{
	bool all = false;

	for (size_t i = 0; i < run->processes.count; i++)
		if (is_read(run, run->processes.item[i]))
			all |= read_code(run, run->processes.item[i], now);
	return all;
}

void
tick_read_stirred(struct sampler *sampler, struct observation *observation, size_t count)
{
	struct run *run = &sampler->run;

	for (size_t i = 0; i < count; i++) {
		struct observation *one = &observation[i];
		struct sampled_process *process = one->thread->process;

		if (one->changed && !process->gone && !is_read(run, process)) {
			if (!read_process(run, process)) {
				process_end(process);
				continue;
			}
			(void)read_code(run, process, run->tick.began_ns);
			read_runtimes(run, process, run->tick.began_ns);
		}
		/* The stack may be of the old program. */
		if (one->outcome == OUTCOME_SLEEPING && process->execed)
			observation_fail(one, FAILURE_MOVED);
	}
}

bool
tick_is_alive(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->run.processes;
	struct task_stat leader;

	for (size_t i = 0; i < processes->count; i++)
		if (sampled_process_is_alive(processes->item[i], &leader))
			return true;
	return may_grow(&sampler->run);
}
