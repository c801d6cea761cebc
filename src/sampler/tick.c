/* SPDX-License-Identifier: MIT */
/* tick.c - the driver of one tick: calls the stages in the order of pipeline_internal.h. */
#include <stdlib.h>

#include "sampler/sampler_internal.h"

/* How long the last tick waits for late stops on an overloaded machine. */
#define LAST_BOUND_NS (500 * NS_PER_MS)

/* Threads that are observed before late threads are released: an observation takes 1 us, some take
 * 10 us. */
#define OBSERVED_AT_ONCE 32

/* Copied stacks of sleeping threads that wait to be unwound: bounds the memory of the copies. */
#define SLEEPING_MOST 64

/* Up to this number of threads are all observed at each tick if threads are held: one that wakes is
 * to be held, too. */
#define HOLD_THREADS_MOST 500

/* --- from an observation to a sample -------------------------------------------------------- */

/* The observation is unwound, or has failed, or its stop is late. */
static void
finish_observation(struct sampler *sampler, struct observation *observation)
{
	if (observation->outcome == OUTCOME_DEFERRED) {
		late_begin(&sampler->late, observation);
		return;
	}
	attribute_sample(&sampler->attribution, observation);
	capture_return(observation);
}

/* A thread that was asked to stop. */
static void
finish_stop(struct sampler *sampler, struct observation *observation)
{
	capture_settle(&sampler->capturer, observation);
	if (observation->outcome == OUTCOME_CAPTURED)
		unwind_captured(&sampler->unwinding, observation);
}

static void
finish_running(struct sampler *sampler, struct observation *observation)
{
	struct stop_request *request = &observation->capture->request;

	finish_stop(sampler, observation);
	if (observation->outcome == OUTCOME_DEFERRED) {
		late_begin(&sampler->late, observation);
		return;
	}
	attribute_sample(&sampler->attribution, observation);
	hold_observe(&sampler->hold, request, observation->thread);
	capture_return(observation);
}

static void
finish_sleeping(struct sampler *sampler, struct observation *observation)
{
	unwind_sleeping(&sampler->unwinding, observation);
	if (observation->outcome == OUTCOME_REGISTERS) {
		capture_registers(&sampler->capturer, observation);
		if (observation->outcome == OUTCOME_CAPTURED)
			unwind_captured(&sampler->unwinding, observation);
	}
	finish_observation(sampler, observation);
}

static void
finish_all_sleeping(struct sampler *sampler, struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (observation[i].outcome != OUTCOME_SLEEPING)
			continue;
		late_serve(&sampler->late_stops);
		finish_sleeping(sampler, &observation[i]);
	}
}

/* --- late stops ------------------------------------------------------------------------- */

static void
finish_late(struct sampler *sampler, struct sampled_thread *thread)
{
	struct observation *observation = &thread->late->observation;

	observation->outcome = OUTCOME_RUNNING;
	finish_stop(sampler, observation);
	if (observation->outcome == OUTCOME_DEFERRED) {
		observation->outcome = OUTCOME_FAILED;
		observation->failure = FAILURE_LATE;
	}
	attribute_sample(&sampler->attribution, observation);
	hold_observe_late(&sampler->hold, &observation->capture->request, thread);
	late_end(&sampler->late, thread);
}

/* Completes the samples of late stops that have happened; of all with `give_up`. */
static void
collect_late(struct sampler *sampler, bool give_up)
{
	const struct late_stops *stops = &sampler->late_stops;

	if (stops->tracer != NULL)
		tracer_poll(stops->tracer);
	if (stops->count > 0)
		tracer_check(stops->tracer);
	for (size_t i = 0; stops->count > 0 && i < sampler->threads.count; i++) {
		struct sampled_thread *thread = sampler->threads.thread[i];

		if (late_has_ended(&sampler->late, thread, give_up))
			finish_late(sampler, thread);
	}
}

/* --- processes and threads ------------------------------------------------------------------- */

bool
tick_read_processes(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->processes;
	size_t threads = 0, alive = 0;

	for (size_t i = 0; i < processes->count; i++) {
		struct sampled_process *process = processes->item[i];

		if (!sampled_process_read(process))
			continue;
		alive++;
		threads += process->thread_count;
		if (!process->execed)
			continue;
		/* Another program: nothing known about memory holds. */
		sampler->stats.execed = true;
		sampler->threads.relist = true;
		maps_refresh(process->maps);
		green_forget(process->green);
	}
	if (alive > 0 && threads != sampler->threads.count)
		sampler->threads.relist = true;
	return alive > 0;
}

static void
remove_thread(struct sampler *sampler, struct sampled_thread *thread)
{
	attribute_removed(&sampler->attribution, thread);
	sampler->stats.excluded.ended += thread->excluded;
	late_drop(&sampler->late, thread);
	waits_leave(thread->process->waits, thread);
	thread_free(thread);
}

void
tick_list_threads(struct sampler *sampler)
{
	struct thread_list *threads = &sampler->threads;
	struct run_stats *stats = &sampler->stats;

	threads_refresh(threads, &sampler->processes);
	for (size_t i = 0; i < threads->removed_count; i++)
		remove_thread(sampler, threads->removed[i]);
	threads->removed_count = 0;
	stats->threads_seen = threads->seen;
	if (threads->count > stats->threads_most)
		stats->threads_most = (uint32_t)threads->count;
}

void
tick_remove_threads(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->threads.count; i++)
		remove_thread(sampler, sampler->threads.thread[i]);
	sampler->threads.count = 0;
}

/* Code made at run time. Returns true if stacks of sleeping threads have to be unwound again: their
 * frames could not be known before. */
static bool
read_jit(struct sampler *sampler, struct sampled_process *process, uint64_t now)
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
	for (size_t i = 0; i < sampler->threads.count; i++)
		if (sampler->threads.thread[i]->process == process)
			sampler->threads.thread[i]->asleep = false;
	return true;
}

/* A thread that has slept since before a runtime knew it is captured again. */
static void
read_runtimes(const struct thread_list *threads, struct sampled_process *process, uint64_t now)
{
	pid_t tid;

	if (process->runtimes == NULL)
		return;
	resident_renew(&process->resident);
	runtimes_tick(process->runtimes, now);
	while ((tid = runtimes_next_new(process->runtimes)) > 0) {
		struct sampled_thread *thread = threads_find(threads, tid);

		if (thread != NULL)
			thread->asleep = false;
	}
}

void
tick_read_runtimes(struct sampler *sampler, uint64_t now)
{
	for (size_t i = 0; i < sampler->processes.count; i++)
		read_runtimes(&sampler->threads, sampler->processes.item[i], now);
}

/* Mappings, code and runtimes of all processes. Returns true if all threads are to be observed. */
static bool
read_programs(struct sampler *sampler, uint64_t now)
{
	const struct late_stops *stops = &sampler->late_stops;
	bool everyone = false;

	for (size_t i = 0; i < sampler->processes.count; i++) {
		struct sampled_process *process = sampler->processes.item[i];

		late_serve(stops);
		maps_tick(process->maps, now);
		late_serve(stops);
		if (process->jit_objects != NULL)
			jit_objects_tick(process->jit_objects, now);
		late_serve(stops);
		everyone |= read_jit(sampler, process, now);
		late_serve(stops);
		read_runtimes(&sampler->threads, process, now);
	}
	late_serve(stops);
	return everyone;
}

/* --- observations ----------------------------------------------------------------------- */

static void
observe_late(struct sampler *sampler, const struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (observation[i].outcome == OUTCOME_LATE)
			late_observe(&sampler->late, observation[i].thread);
}

/* Selects and observes threads, and attributes what needs no stack. Returns their number. */
static size_t
observe_all(struct sampler *sampler, bool everyone)
{
	struct observation *all;
	size_t count, sleeping = 0, unwound = 0;

	sampler->observation = xgrow(sampler->observation, &sampler->observation_capacity,
				     sampler->threads.count + 1, sizeof(*sampler->observation));
	all = sampler->observation;
	count = select_threads(&sampler->selection, everyone, all);
	for (size_t at = 0; at < count; at += OBSERVED_AT_ONCE) {
		const size_t chunk = count - at < OBSERVED_AT_ONCE ? count - at : OBSERVED_AT_ONCE;

		late_serve(&sampler->late_stops);
		observe_threads(&sampler->observer, all + at, chunk);
		observe_late(sampler, all + at, chunk);
		attribute_observed(&sampler->attribution, all + at, chunk);
		for (size_t i = 0; i < chunk; i++)
			sleeping += all[at + i].outcome == OUTCOME_SLEEPING;
		if (sleeping < SLEEPING_MOST || sampler->config.stop_all)
			continue;
		finish_all_sleeping(sampler, all + unwound, at + chunk - unwound);
		unwound = at + chunk;
		sleeping = 0;
	}
	return count;
}

/* Running threads that hold_spares left alone. */
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

/* Running threads come first, so that their samples are of this moment. */
static void
capture_all(struct sampler *sampler, struct observation *all, size_t count)
{
	struct hold *hold = &sampler->hold;

	capture_prepare(&sampler->capturer, all, count);
	if (hold->wanted)
		hold_begin(hold);
	capture_running(&sampler->capturer, all, count);
	for (size_t i = 0; i < count; i++) {
		if (all[i].outcome != OUTCOME_RUNNING)
			continue;
		late_serve(&sampler->late_stops);
		finish_running(sampler, &all[i]);
	}
	if (hold->wanted) {
		hold->spared = count_spared(all, count);
		hold_decide(hold);
	}
	finish_all_sleeping(sampler, all, count);
}

static void
consume(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->processes;
	bool few = true;

	for (size_t i = 0; i < processes->count; i++)
		green_tick(processes->item[i]->green);
	for (size_t i = 0; i < processes->count; i++)
		waits_tick(processes->item[i]->waits);
	deadlocks_tick(&sampler->deadlocks);
	for (size_t i = 0; i < processes->count; i++)
		few &= waits_has_few_holders(processes->item[i]->waits);
	sampler->selection.few_holders = few;
	charge_tick(&sampler->charging, sampler->selection.skipped, sampler->selection.excluded);
	sampler->selection.skipped = sampler->selection.excluded = 0;
}

/* No tick follows: waits for late stops, within limits, and reads the names that threads have. */
static void
finish_last(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->processes;
	struct thread_list *threads = &sampler->threads;

	hold_end(&sampler->hold);
	if (sampler->late_stops.count > 0)
		tracer_finish(sampler->late_stops.tracer, LAST_BOUND_NS);
	collect_late(sampler, true);
	for (size_t i = 0; i < processes->count; i++)
		waits_tick(processes->item[i]->waits); /* of what was late */
	charge_rest(&sampler->charging);
	excluded_finish(threads);
	for (size_t i = 0; i < threads->count; i++)
		if (!threads->thread[i]->gone && threads_read_name(threads, threads->thread[i]))
			thread_record_rename(&sampler->records, threads->thread[i]);
	if (sampler->coroutines.out == NULL)
		return;
	hold_pause(&sampler->hold);
	for (size_t i = 0; i < processes->count; i++)
		coroutines_finish(&sampler->coroutines, processes->item[i]);
	hold_resume(&sampler->hold);
	async_tasks_finish(sampler->coroutines.out);
}

bool
tick_run(struct sampler *sampler, bool last)
{
	const uint64_t now = clock_now_ns();
	struct tick *tick = &sampler->tick;
	const bool holds = sampler->hold.wanted && sampler->threads.count <= HOLD_THREADS_MOST;
	bool everyone = last || sampler->config.stop_all || holds, alive;
	size_t count;

	/* What was captured since the last tick belongs to the tick that requested it. */
	collect_late(sampler, false);
	pace_begin(&sampler->pace, now);
	tick->number++;
	tick->began_ns = now;
	alive = tick_read_processes(sampler);
	tick->span_ns = pace_weigh(&sampler->pace, now - tick->time_ns, last || !alive);
	tick->time_ns += tick->span_ns;
	everyone |= read_programs(sampler, now);
	if (sampler->threads.relist && alive)
		tick_list_threads(sampler);
	count = observe_all(sampler, everyone || !alive);
	capture_all(sampler, sampler->observation, count);
	consume(sampler);
	if (last || !alive)
		finish_last(sampler);
	sampler->stats.ticks++;
	return alive;
}
