/* SPDX-License-Identifier: MIT */
/* tick.c - the driver of one tick: calls the stages in the order of pipeline_internal.h. */
#include <stdlib.h>

#include "sampler/hold/hold_occupy_internal.h"
#include "sampler/occupy_internal.h"
#include "sampler/sampler_internal.h"

/* Longest time for which the last tick waits for late stops. Reached on an overloaded machine
 * only. */
#define LAST_BOUND_NS (500 * NS_PER_MS)

/* Number of copied stacks of sleeping threads after which the copies are unwound, which bounds
 * their memory. */
#define SLEEPING_MOST 64

/* If there are at most this number of threads that are not excluded, a run that holds threads
 * between ticks observes all of them at each tick, so that a thread that has woken is held, too. */
#define HOLD_THREADS_MOST 500

/* If a tick observes at most this number of threads, consumers take microseconds, and run before a
 * run that holds threads resumes them. */
#define CONSUMED_FIRST 100

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

void
tick_collect_late(struct sampler *sampler, bool give_up)
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

/* --- observations ----------------------------------------------------------------------- */

/* Chooses the threads of this tick. Returns the number of observations. */
static size_t
select_all(struct sampler *sampler, bool all)
{
	sampler->observation = xgrow(sampler->observation, &sampler->observation_capacity,
				     sampler->run.threads.count + 1, sizeof(*sampler->observation));
	return select_threads(&sampler->run, all, sampler->observation);
}

/* Observes threads, attributes the observations that need no stack, and completes samples of
 * sleeping threads as soon as `most` stacks are copied. `settled`: this tick has read the processes
 * (tick_read_processes); those that have run since are read now. */
static void
observe_all(struct sampler *sampler, struct observation *observation, size_t count, size_t most,
	    bool settled)
{
	struct run *run = &sampler->run;
	size_t sleeping = 0, unwound = 0;

	for (size_t at = 0; at < count; at += OBSERVED_AT_ONCE) {
		const size_t chunk = count - at < OBSERVED_AT_ONCE ? count - at : OBSERVED_AT_ONCE;

		late_serve(run);
		observe_threads(run, observation + at, chunk);
		if (settled)
			tick_read_stirred(sampler, observation + at, chunk);
		for (size_t i = at; i < at + chunk; i++)
			if (observation[i].outcome == OUTCOME_LATE)
				late_observe(&sampler->charging, observation[i].thread);
		attribute_observed(&sampler->charging, observation + at, chunk);
		for (size_t i = at; i < at + chunk; i++)
			sleeping += observation[i].outcome == OUTCOME_SLEEPING;
		if (sleeping < most)
			continue;
		finish_all(sampler, observation + unwound, at + chunk - unwound, OUTCOME_SLEEPING);
		unwound = at + chunk;
		sleeping = 0;
	}
}

/* Returns the number of running threads that were not stopped because spare_has was true for
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

static size_t
count_running(const struct observation *all, size_t count)
{
	size_t running = 0;

	for (size_t i = 0; i < count; i++)
		running += all[i].outcome == OUTCOME_RUNNING;
	return running;
}

/* Completes the samples of all observations that need a stack. Running threads come first, so that
 * they are captured soon after they were observed. */
static void
capture_all(struct sampler *sampler, struct observation *all, size_t count)
{
	struct run *run = &sampler->run;
	struct hold *hold = &sampler->hold;

	capture_prepare(run, all, count);
	if (run->holds)
		hold_begin(hold, hold_occupy_await(run->hold_occupy, count_running(all, count)));
	capture_running(run, all, count, hold->before > 0);
	finish_all(sampler, all, count, OUTCOME_RUNNING);
	finish_all(sampler, all, count, OUTCOME_SLEEPING);
	if (run->holds)
		hold->spared = count_spared(all, count);
}

/* Looks at threads while the CPUs of the target are occupied, observes those that are to be
 * observed first, requests their stops, ends the occupation, and captures these threads. */
static void
capture_first(struct sampler *sampler, bool all)
{
	struct run *run = &sampler->run;
	struct looks *looks = &sampler->looks;

	looks_take(looks, run, all);
	tick_begin_runtimes(run);
	observe_all(sampler, looks->item, looks->first, SIZE_MAX, false);
	capture_prepare(run, looks->item, looks->first);
	capture_running(run, looks->item, looks->first, false);
	/* late_serve polls only for threads that late_begin has counted. */
	for (size_t i = 0; i < looks->first; i++) {
		struct observation *one = &looks->item[i];

		if (one->outcome != OUTCOME_RUNNING || one->capture->request.end != STOP_LATE)
			continue;
		capture_settle(run, one);
		finish_observation(sampler, one, true);
	}
}

/* Completes the samples of the first threads. `rest_ns`: time that the tick accounts for in
 * addition, because the target has exited since they were observed. */
static void
finish_first(struct sampler *sampler, uint64_t rest_ns)
{
	struct looks *looks = &sampler->looks;

	for (size_t i = 0; i < looks->first; i++) {
		struct observation *one = &looks->item[i];

		if (one->outcome != OUTCOME_RUNNING && one->outcome != OUTCOME_SLEEPING)
			continue;
		one->weight_ns += (int64_t)rest_ns;
		observe_stopped_process(one);
		if (!one->thread->process->execed)
			continue;
		/* The stack may be of the old program. */
		observation_fail(one, FAILURE_MOVED);
		finish_observation(sampler, one, false);
	}
	finish_all(sampler, looks->item, looks->first, OUTCOME_RUNNING);
	finish_all(sampler, looks->item, looks->first, OUTCOME_SLEEPING);
}

static void
run_consumers(struct sampler *sampler)
{
	const struct process_list *processes = &sampler->run.processes;
	bool few = true;

	for (size_t i = 0; i < processes->count; i++)
		green_tick(processes->item[i]->green);
	file_locks_tick(&sampler->run);
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
	tick_collect_late(sampler, true);
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

static void
begin_tick(struct run *run, uint64_t now, bool last)
{
	struct pace_clock clock = pace_read_clock(run->holds);
	struct tick *tick = &run->tick;

	clock.now_ns = now;
	pace_begin(&run->pace, &clock);
	tick->number++;
	tick->began_ns = now;
	tick->skipped = tick->excluded = 0;
	tick->searched = 0;
	tick->released = false;
	tick->stops_no_thread = !pace_may_stop(&run->pace, now);
	tick->span_ns = pace_weigh(&run->pace, now - tick->time_ns, last);
	tick->time_ns += tick->span_ns;
}

/* Makes the tick account for all time, as the last one of a target that has exited. Returns the
 * time by which this extends its span. */
static uint64_t
account_rest(struct tick *tick, uint64_t now)
{
	const uint64_t rest_ns = now - tick->time_ns;

	tick->span_ns += rest_ns;
	tick->time_ns = now;
	return rest_ns;
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
	uint64_t rest_ns;
	size_t count;

	if (run->occupy != NULL)
		occupy_tick(run->occupy);
	if (run->occupy != NULL && run->late_count > 0)
		occupy_relax(run->occupy);
	/* A late thread that has stopped since the last tick: the sample of the tick that requested
	 * the stop is completed. */
	if (run->late_count > 0)
		tick_collect_late(sampler, false);
	hold_occupy_tick(run->hold_occupy, run->pace.due_ns);
	begin_tick(run, now, last);
	if (run->occupy != NULL)
		capture_first(sampler, all);
	if (run->tracer != NULL)
		tracer_poll(run->tracer);
	alive = tick_read_processes(sampler);
	rest_ns = alive ? 0 : account_rest(tick, now);
	all |= tick_read_code(run, now);
	if (run->occupy != NULL)
		finish_first(sampler, rest_ns);
	tick_read_runtimes(sampler, now);
	late_serve(run);
	if (alive) {
		tick_find_processes(sampler, now);
		tick_list_changed_threads(sampler, now);
	}
	count = select_all(sampler, all || !alive);
	if (run->occupy != NULL)
		looks_use(&sampler->looks, run, sampler->observation, count);
	observe_all(sampler, sampler->observation, count,
		    run->config.stop_all ? SIZE_MAX : SLEEPING_MOST, true);
	capture_all(sampler, sampler->observation, count);
	/* While the threads are stopped all of them wait for the consumers; afterwards only the one
	 * whose CPU the sampler uses would. */
	if (run->holds && count > CONSUMED_FIRST)
		hold_decide(&sampler->hold);
	run_consumers(sampler);
	if (run->holds && count <= CONSUMED_FIRST)
		hold_decide(&sampler->hold);
	if (last || !alive)
		finish_last(sampler);
	if (window || !alive)
		processes_read_names(run);
	if (window || !alive)
		weights_end_window(&sampler->calibration, last || !alive);
	run->stats.ticks++;
	return alive;
}
