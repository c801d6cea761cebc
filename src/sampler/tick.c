/* SPDX-License-Identifier: MIT */
/* tick.c - the driver of one tick: calls the stages in the order of pipeline_internal.h. */
#include <stdlib.h>

#include "sampler/occupy_internal.h"
#include "sampler/sampler_internal.h"

/* Longest time for which the last tick waits for late stops. Reached on an overloaded machine
 * only. */
#define LAST_BOUND_NS (500 * NS_PER_MS)

/* Number of copied stacks of sleeping threads after which the copies are unwound, which bounds
 * their memory. */
#define SLEEPING_MOST 64

/*
 * While the target's CPUs are occupied, stacks of sleeping threads are copied for COPIES_NS, less
 * OBSERVATION_NS for each observation, which is what reading a thread's counters and system call
 * takes. So the occupation, which lasts for HOLD_NS of occupy.c, is usually not over before the
 * stops are requested. The other stacks are copied after the requests.
 */
#define COPIES_NS (120 * NS_PER_US)
#define OBSERVATION_NS (3 * NS_PER_US)

/* If there are at most this number of threads that are not excluded, a run that holds threads
 * between ticks observes all of them at each tick, so that a thread that has woken is held, too. */
#define HOLD_THREADS_MOST 500

/* Number of times that threads are listed after one was created: the kernel gives a thread its id
 * shortly before it adds the thread to those of its process. */
#define LISTINGS_CREATED 2

/* --- from an observation to a sample -------------------------------------------------------- */

/* Attributes an observation that is unwound or has failed; keeps one whose stop is late (late.c).
 * `stopped`: the thread was running, and this tick has requested its stop. */
static void
finish_observation(struct sampler *sampler, struct observation *observation, bool stopped)
{
	if (observation->outcome == OUTCOME_DEFERRED) {
		late_begin(&sampler->charging, observation);
		return;
	}
	attribute_sample(&sampler->charging, observation);
	if (stopped)
		hold_observe(&sampler->hold, &observation->capture->request, observation->thread);
	capture_return(observation);
}

/* Sets the outcome of an observation whose stop was requested, and unwinds the thread if it has
 * stopped. */
static void
finish_stop(struct sampler *sampler, struct observation *observation)
{
	capture_settle(&sampler->run, observation);
	if (observation->outcome == OUTCOME_CAPTURED)
		unwind_captured(&sampler->unwinding, observation);
}

static void
finish_sleeping(struct sampler *sampler, struct observation *observation)
{
	unwind_sleeping(&sampler->unwinding, observation);
	if (observation->outcome == OUTCOME_REGISTERS) {
		capture_registers(&sampler->run, observation);
		if (observation->outcome == OUTCOME_CAPTURED)
			unwind_captured(&sampler->unwinding, observation);
	}
}

/* Completes the samples of all observations with this outcome, RUNNING or SLEEPING. */
static void
finish_all(struct sampler *sampler, struct observation *observation, size_t count,
	   enum outcome outcome)
{
	for (size_t i = 0; i < count; i++) {
		if (observation[i].outcome != outcome)
			continue;
		late_serve(&sampler->run);
		if (outcome == OUTCOME_RUNNING)
			finish_stop(sampler, &observation[i]);
		else
			finish_sleeping(sampler, &observation[i]);
		finish_observation(sampler, &observation[i], outcome == OUTCOME_RUNNING);
	}
}

/* --- late stops ------------------------------------------------------------------------- */

static void
finish_late(struct sampler *sampler, struct sampled_thread *thread)
{
	struct observation *observation = &thread->late->observation;

	observation->outcome = OUTCOME_RUNNING;
	finish_stop(sampler, observation);
	if (observation->outcome == OUTCOME_DEFERRED)
		observation_fail(observation, FAILURE_LATE);
	attribute_sample(&sampler->charging, observation);
	hold_observe(&sampler->hold, &observation->capture->request, thread);
	late_end(&sampler->charging, thread);
}

/* Completes the samples of late threads (late.c) that have stopped; with `give_up`, of all late
 * threads. */
static void
collect_late(struct sampler *sampler, bool give_up)
{
	struct run *run = &sampler->run;

	if (run->tracer != NULL)
		tracer_poll(run->tracer);
	if (run->late_count > 0)
		tracer_check(run->tracer);
	for (size_t i = 0; run->late_count > 0 && i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];

		if (late_has_ended(&sampler->charging, thread, give_up))
			finish_late(sampler, thread);
	}
}

/* --- processes and threads ------------------------------------------------------------------- */

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

/*
 * Lists the threads again if they may have changed. Other processes create threads as well: a
 * listing for a thread that may not be one of the target is limited to 1% of a CPU.
 */
static void
list_threads_if_changed(struct sampler *sampler, uint64_t now)
{
	struct thread_list *threads = &sampler->run.threads;
	bool wanted = threads->relist;

	if (newest_task_changed(&threads->newest))
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
	jit_tick(process->jit, now);
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

	if (process->runtimes == NULL)
		return;
	resident_renew(&process->resident);
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

/* Reads mappings, names of code and language runtimes of all processes. Returns true if all threads
 * are to be observed at this tick. */
static bool
read_programs(struct run *run, uint64_t now)
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
		read_runtimes(run, process, now);
	}
	late_serve(run);
	return all;
}

/* --- observations ----------------------------------------------------------------------- */

/* Chooses the threads of this tick. Returns the number of observations. */
static size_t
select_all(struct sampler *sampler, bool all)
{
	sampler->observation = xgrow(sampler->observation, &sampler->observation_capacity,
				     sampler->run.threads.count + 1, sizeof(*sampler->observation));
	return select_threads(&sampler->run, all, sampler->observation);
}

/* Calls observe_due for the next thread: in the first `count` steps for those that were runnable
 * in observe_early, then for the others. Returns the number of steps made. `count`: at most
 * EARLY_MOST. */
static size_t
observe_next_due(struct observation *observation, size_t count, size_t step)
{
	for (; step < 2 * count; step++) {
		const bool first = step < count;
		struct observation *next = &observation[first ? step : step - count];

		if (next->early.running == first) {
			observe_due(next);
			return step + 1;
		}
	}
	return step;
}

/* Occupies the CPUs of the target (occupy_internal.h). */
static void
occupy_all(struct run *run, struct observation *observation, size_t count)
{
	struct occupy *occupy = run->occupy;
	const size_t first = count < EARLY_MOST ? count : EARLY_MOST;
	size_t step = 0;

	observe_early(run, observation, count, occupy_planned_ns(occupy));
	occupy_begin(occupy);
	while (occupy_arriving(occupy)) {
		late_serve(run);
		if (occupy_is_due(occupy))
			step = observe_next_due(observation, first, step);
	}
	occupy_span(occupy, run->occupied_ns);
	if (run->occupied_ns[1] != 0 && count <= SLEEPING_MOST && !run->config.stop_all &&
	    !run->holds)
		run->tick.copies_until_ns = run->occupied_ns[1] +
					    (COPIES_NS > count * OBSERVATION_NS ?
						     COPIES_NS - count * OBSERVATION_NS :
						     0);
}

/* Observes the threads of this tick, attributes the observations that need no stack, and, without
 * stop_all, completes samples of sleeping threads as soon as SLEEPING_MOST stacks are copied. */
static void
observe_all(struct sampler *sampler, size_t count)
{
	struct run *run = &sampler->run;
	struct observation *observation = sampler->observation;
	size_t sleeping = 0, unwound = 0;

	for (size_t at = 0; at < count; at += OBSERVED_AT_ONCE) {
		const size_t chunk = count - at < OBSERVED_AT_ONCE ? count - at : OBSERVED_AT_ONCE;

		late_serve(run);
		observe_threads(run, observation + at, chunk);
		for (size_t i = at; i < at + chunk; i++)
			if (observation[i].outcome == OUTCOME_LATE)
				late_observe(&sampler->charging, observation[i].thread);
		attribute_observed(&sampler->charging, observation + at, chunk);
		for (size_t i = at; i < at + chunk; i++)
			sleeping += observation[i].outcome == OUTCOME_SLEEPING;
		if (sleeping < SLEEPING_MOST || run->config.stop_all)
			continue;
		finish_all(sampler, observation + unwound, at + chunk - unwound, OUTCOME_SLEEPING);
		unwound = at + chunk;
		sleeping = 0;
	}
}

/* Returns the number of running threads that were not stopped because hold_spares was true for
 * them. */
static size_t
count_spared(const struct observation *all, size_t count)
{
	size_t spared = 0;

	for (size_t i = 0; i < count; i++)
		spared += all[i].changed && all[i].state == RUN_RUNNING &&
			  all[i].outcome == OUTCOME_ATTRIBUTED &&
			  all[i].failure == FAILURE_NOT_STOPPED;
	return spared;
}

/* Completes the samples of all observations that need a stack. Running threads come first, so that
 * they are captured soon after the tick began. */
static void
capture_all(struct sampler *sampler, struct observation *all, size_t count)
{
	struct run *run = &sampler->run;
	struct hold *hold = &sampler->hold;

	capture_prepare(run, all, count);
	if (run->holds)
		hold_begin(hold);
	capture_running(run, all, count, hold->before > 0);
	finish_all(sampler, all, count, OUTCOME_RUNNING);
	for (size_t i = 0; i < count; i++)
		if (all[i].outcome == OUTCOME_FAILED) /* was ASLEEP; the copy has failed */
			attribute_sample(&sampler->charging, &all[i]);
	if (run->holds) {
		hold->spared = count_spared(all, count);
		hold_decide(hold);
	}
	finish_all(sampler, all, count, OUTCOME_SLEEPING);
}

static void
run_consumers(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->run.processes;
	bool few = true;

	for (size_t i = 0; i < processes->count; i++)
		green_tick(processes->item[i]->green);
	for (size_t i = 0; i < processes->count; i++)
		waits_tick(processes->item[i]->waits);
	crowds_tick(&sampler->run);
	deadlocks_tick(&sampler->deadlocks);
	for (size_t i = 0; i < processes->count; i++)
		few &= waits_has_few_holders(processes->item[i]->waits);
	sampler->run.tick.few_holders = few;
	charge_tick(&sampler->charging);
}

/*
 * Ends the last tick: waits for late stops, up to LAST_BOUND_NS, attributes all time that is left,
 * and reads the names of all threads, and the coroutines that are wanted and not read yet. A thread
 * that has taken an excluded name since its last observation was sampled, and does not count as
 * excluded.
 */
static void
finish_last(struct sampler *sampler)
{
	struct run *run = &sampler->run;

	hold_end(&sampler->hold);
	if (run->late_count > 0)
		tracer_finish(run->tracer, LAST_BOUND_NS);
	collect_late(sampler, true);
	for (size_t i = 0; i < run->processes.count; i++)
		/* attributes the waiting time of late samples */
		waits_tick(run->processes.item[i]->waits);
	charge_rest(&sampler->charging);
	for (size_t i = 0; i < run->threads.count; i++) {
		struct sampled_thread *thread = run->threads.thread[i];

		if (thread->excluded)
			excluded_read_cpu(run, thread);
		if (!thread->gone && thread_read_name(thread))
			thread_record_rename(run, thread);
	}
	if (run->context.async == NULL)
		return;
	hold_pause(&sampler->hold);
	for (size_t i = 0; i < run->processes.count; i++)
		coroutines_finish(run, run->processes.item[i]);
	hold_resume(&sampler->hold);
	async_tasks_finish(run->context.async);
}

bool
tick_run(struct sampler *sampler, bool last)
{
	const uint64_t now = clock_now_ns();
	struct run *run = &sampler->run;
	struct tick *tick = &run->tick;
	const bool holds = run->holds &&
			   run->threads.count - run->threads.excluded <= HOLD_THREADS_MOST;
	const bool window = last || weights_due(&sampler->calibration);
	bool all = window || run->config.stop_all || holds, alive;
	size_t count;

	if (run->occupy != NULL)
		occupy_tick(run->occupy);
	/* A late thread that has stopped since the last tick: the sample of the tick that requested
	 * the stop is completed. */
	collect_late(sampler, false);
	pace_begin(&run->pace, now);
	tick->number++;
	tick->began_ns = now;
	tick->skipped = tick->excluded = 0;
	tick->copies_until_ns = UINT64_MAX;
	alive = tick_read_processes(sampler);
	tick->span_ns = pace_weigh(&run->pace, now - tick->time_ns, last || !alive);
	tick->time_ns += tick->span_ns;
	all |= read_programs(run, now);
	if (alive)
		list_threads_if_changed(sampler, now);
	count = select_all(sampler, all || !alive);
	if (run->occupy != NULL)
		occupy_all(run, sampler->observation, count);
	observe_all(sampler, count);
	capture_all(sampler, sampler->observation, count);
	run_consumers(sampler);
	if (last || !alive)
		finish_last(sampler);
	if (window || !alive)
		weights_end_window(&sampler->calibration, last || !alive);
	run->stats.ticks++;
	return alive;
}
