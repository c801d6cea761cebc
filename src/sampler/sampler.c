/* SPDX-License-Identifier: MIT */
/* sampler.c - the life of a run: when ticks happen, the end, and what it all cost. */
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "sampler/sampler_internal.h"

/* How long a snapshot waits for late stops on an overloaded machine. */
#define SNAPSHOT_BOUND_NS (500 * NS_PER_MS)

/* Readings of code made at run time before sampled time begins; the rest is read tick by tick. */
#define JIT_LOOKS 20

#define NAP_NS (100 * NS_PER_MS)
#define PROGRESS_NS (200 * NS_PER_MS)
/* Longest delay of a progress report that would lose a sample. */
#define PROGRESS_LATE_NS NS_PER_SEC

static struct tracer *
tracer_of(const struct sampler *sampler)
{
	return sampler->late_stops.tracer;
}

/* CPU time of all processes. */
static bool
read_target_cpu(const struct sampler *sampler, uint64_t *cpu_ns)
{
	*cpu_ns = 0;
	for (size_t i = 0; i < sampler->processes.count; i++) {
		uint64_t one;

		if (!process_read_cpu_ns(sampler->processes.item[i]->process, &one))
			return false;
		*cpu_ns += one;
	}
	return true;
}

static void
update_stats(struct sampler *sampler)
{
	struct run_stats *stats = &sampler->stats;
	const struct sampled_process *first = sampler->processes.item[0];
	struct rusage usage;
	uint64_t cpu;

	stats->target_cpu_known = read_target_cpu(sampler, &cpu) && cpu >= sampler->cpu_began_ns;
	if (stats->target_cpu_known)
		stats->target_cpu_ns = cpu - sampler->cpu_began_ns;
	stats->elapsed_ns = sampler->tick.time_ns - sampler->began_ns;
	stats->own_cpu_ns = clock_own_cpu_ns() - sampler->own_cpu_began_ns;
	stats->rate_lowest = sampler->pace.lowest_hz;
	stats->thinnest = sampler->pace.thinnest;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		stats->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	if (first->runtimes != NULL)
		runtimes_describe_all(first->runtimes, stats->runtimes, sizeof(stats->runtimes));
	if (tracer_of(sampler) != NULL) {
		stats->repaired = tracer_stats(tracer_of(sampler))->repaired;
		stats->signals_passed = tracer_stats(tracer_of(sampler))->signals_passed;
	}
}

/* Sleeps until the moment, but not for long: a signal that arrives between the reading of its flag
 * and the sleep does not end the sleep. */
static void
nap(const struct sampler *sampler, uint64_t until)
{
	uint64_t longest = clock_now_ns() + NAP_NS;
	struct timespec at;

	if (until > longest)
		until = longest;
	if (tracer_of(sampler) != NULL) {
		tracer_sleep_until(tracer_of(sampler), until);
		return;
	}
	at.tv_sec = (time_t)(until / NS_PER_SEC);
	at.tv_nsec = (long)(until % NS_PER_SEC);
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

/* Is a process of the target alive? */
static bool
is_alive(struct sampler *sampler)
{
	struct task_stat leader;

	for (size_t i = 0; i < sampler->processes.count; i++)
		if (sampled_process_is_alive(sampler->processes.item[i], &leader))
			return true;
	return false;
}

/* Sleeps until the next tick; returns false if sampling ends. */
static bool
wait_for_tick(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t end_ns)
{
	uint64_t until = sampler->pace.due_ns;

	if (until > end_ns)
		until = end_ns;
	while (clock_now_ns() < until) {
		const uint64_t due = hold_due(&sampler->hold);

		if (hooks->stop != NULL && *hooks->stop)
			return false;
		if (hooks->snapshot != NULL && *hooks->snapshot)
			return true;
		nap(sampler, until < due ? until : due);
		hold_serve(&sampler->hold, clock_now_ns());
		/* At a low rate the end of the target is found before the next tick; at higher
		 * ones this would take a CPU from threads that were just resumed. */
		if (clock_now_ns() + NAP_NS < until && !is_alive(sampler))
			sampler->pace.due_ns = until = clock_now_ns();
	}
	return (hooks->stop == NULL || !*hooks->stop) && clock_now_ns() < end_ns;
}

void
sampler_pause(struct sampler *sampler)
{
	hold_pause(&sampler->hold);
}

void
sampler_resume(struct sampler *sampler)
{
	hold_resume(&sampler->hold);
}

static bool
nothing_stopped(const struct sampler *sampler)
{
	return tracer_of(sampler) == NULL || tracer_outstanding(tracer_of(sampler)) == 0;
}

/* Waits for late stops first, so that few samples are lost to the snapshot. */
static void
call_snapshot(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	hold_end(&sampler->hold);
	if (!nothing_stopped(sampler))
		tracer_finish(tracer_of(sampler), SNAPSHOT_BOUND_NS);
	sampler_pause(sampler);
	hooks->on_snapshot(hooks->context);
	sampler_resume(sampler);
}

static void
call_progress(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t elapsed_ns)
{
	sampler_pause(sampler);
	hooks->on_progress(hooks->context, elapsed_ns, sampler->stats.thread_samples,
			   (uint32_t)sampler->threads.count);
	sampler_resume(sampler);
}

/* Returns false if the target has exited. */
static bool
run_tick(struct sampler *sampler)
{
	const struct run_stats *stats = &sampler->stats;
	struct pace_cost cost;

	if (!tick_run(sampler, false))
		return false;
	cost = (struct pace_cost){
		.ticks = sampler->tick.number,
		.looks = stats->looks + stats->task_looks,
		.stops = stats->stopped,
	};
	pace_end(&sampler->pace, &cost);
	for (size_t i = 0; i < sampler->processes.count && nothing_stopped(sampler); i++)
		waits_describe(sampler->processes.item[i]->waits, false);
	return true;
}

static enum run_end
run(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	const uint64_t began = sampler->began_ns;
	uint64_t end_ns = sampler->config.duration_ns != 0 ? began + sampler->config.duration_ns :
							     UINT64_MAX;
	uint64_t next_progress = began;

	while (wait_for_tick(sampler, hooks, end_ns)) {
		uint64_t now = clock_now_ns();

		if (now >= sampler->pace.due_ns) {
			if (!run_tick(sampler))
				return RUN_END_EXITED;
			if (hooks->on_tick != NULL)
				hooks->on_tick(hooks->context, !nothing_stopped(sampler));
		}
		if (hooks->on_progress != NULL && now >= next_progress &&
		    (nothing_stopped(sampler) || now >= next_progress + PROGRESS_LATE_NS)) {
			call_progress(sampler, hooks, now - began);
			next_progress = now + PROGRESS_NS;
		}
		if (hooks->snapshot != NULL && *hooks->snapshot) {
			*hooks->snapshot = 0;
			call_snapshot(sampler, hooks);
		}
	}
	/* The last tick observes all threads, so that every sleep is accounted for. */
	if (!tick_run(sampler, true))
		return RUN_END_EXITED;
	return clock_now_ns() >= end_ns ? RUN_END_DURATION : RUN_END_STOPPED;
}

/* Opens the files of all threads, and finds what they wait for. */
static void
read_first_waits(struct sampler *sampler)
{
	for (size_t i = 0; i < sampler->threads.count; i++) {
		struct sampled_thread *thread = sampler->threads.thread[i];
		const struct process *process = thread->process->process;
		struct syscall_info info;
		struct sched sched;

		if (!thread->watch.keep_open || thread->excluded)
			continue;
		watch_read_sched(&thread->watch, process, &sched);
		if (watch_read_syscall(&thread->watch, process, &info) == LOOK_OK)
			waits_see(thread->process->waits, thread, &info);
	}
}

static void
read_first_code(const struct sampled_process *process)
{
	for (int i = 0; process->jit_objects != NULL && i < JIT_LOOKS; i++) {
		jit_objects_tick(process->jit_objects, clock_now_ns());
		if (!jit_objects_busy(process->jit_objects))
			break;
	}
	if (process->jit != NULL)
		jit_begin(process->jit, clock_now_ns());
}

/*
 * Sampled time begins when the threads are known and their files are open: with thousands of them
 * that takes as long as many ticks.
 */
static uint64_t
start_clock(struct sampler *sampler)
{
	const struct sampler_config *config = &sampler->config;
	const struct sampler_control *control = sampler->context.control;
	const struct process_list *processes = &sampler->processes;
	const struct pace_config pace = {
		.rate_hz = config->rate_hz,
		.jitter = config->jitter,
		.spread_set = control != NULL,
		.spread = control != NULL ? control->spread : 0,
		.max_overhead = config->max_overhead,
	};

	tick_read_processes(sampler);
	tick_list_threads(sampler);
	for (size_t i = 0; i < processes->count; i++) {
		const unsigned cpus = process_allowed_cpus(processes->item[i]->process);

		if (cpus > sampler->stats.cpus)
			sampler->stats.cpus = cpus;
		read_first_code(processes->item[i]);
	}
	sampler->charging.cpus = sampler->stats.cpus;
	for (int i = 0; i < RUNTIME_LOOKS; i++)
		tick_read_runtimes(sampler, clock_now_ns());
	read_first_waits(sampler);
	if (!read_target_cpu(sampler, &sampler->cpu_began_ns))
		sampler->cpu_began_ns = UINT64_MAX;
	pace_start(&sampler->pace, &pace, &sampler->rng);
	sampler->tick.time_ns = sampler->pace.began_ns;
	for (size_t i = 0; i < sampler->threads.count; i++)
		sampler->threads.thread[i]->last_ns = sampler->tick.time_ns;
	return sampler->tick.time_ns;
}

enum run_end
sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	enum run_end end;

	priority_raise(&sampler->priority);
	sampler->stats.nice_value = sampler->priority.nice;
	log_say(sampler->context.log, LOG_VERBOSE, "sampling at nice %d",
		sampler->stats.nice_value);
	sampler->began_ns = start_clock(sampler);
	sampler->own_cpu_began_ns = clock_own_cpu_ns();
	sampler->runs = true;

	end = run(sampler, hooks);
	hold_end(&sampler->hold);
	if (sampler->hold.wanted)
		log_say(sampler->context.log, LOG_VERBOSE,
			"ticks began %.1f us after they were due, in %s class",
			sampler->hold.lag_ns / 1000,
			sampler->hold.asked_ns > 0 && sampler->priority.may_be_urgent ?
				"a real-time" :
				"the usual");

	sampler_pause(sampler);
	deadlocks_last(&sampler->deadlocks);
	for (size_t i = 0; i < sampler->processes.count; i++)
		waits_describe(sampler->processes.item[i]->waits, true);
	sampler_resume(sampler);
	if (tracer_of(sampler) != NULL)
		sampler->stats.child_exited = tracer_exit_status(tracer_of(sampler),
								 &sampler->stats.child_status);
	update_stats(sampler);
	sampler->runs = false;
	priority_restore(&sampler->priority);
	log_say(sampler->context.log, LOG_VERBOSE, "unwind: %llu frames, %.3f us a frame",
		(unsigned long long)sampler->stats.unwind_frames,
		sampler->stats.unwind_frames > 0 ? (double)sampler->stats.unwind_ns / 1000.0 /
							   (double)sampler->stats.unwind_frames :
						   0.0);
	return end;
}

const struct run_stats *
sampler_stats(struct sampler *sampler)
{
	if (sampler->runs)
		update_stats(sampler);
	return &sampler->stats;
}
