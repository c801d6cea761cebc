/* SPDX-License-Identifier: MIT */
/* sampler.c - creates a sampler, runs the ticks of a run, and reads what the run has cost. */
#include <stdlib.h>
#include <sys/resource.h>

#include "sampler/hold/hold_occupy_internal.h"
#include "sampler/occupy_internal.h"
#include "sampler/sampler_internal.h"
#include "wallsample/tracer/tracer_count.h"

/* Longest time for which a snapshot waits for late stops. Reached on an overloaded machine only. */
#define SNAPSHOT_BOUND_NS (500 * NS_PER_MS)

/* Longest single sleep between ticks; shortest time between two progress reports. */
#define NAP_NS (100 * NS_PER_MS)
#define PROGRESS_NS (200 * NS_PER_MS)
/* Longest time for which a progress report is delayed while a stop is late. The sampler pauses for
 * a report, and the sample of a late thread that stops during the pause gets no stack
 * (FAILURE_LATE). */
#define PROGRESS_LATE_NS NS_PER_SEC

/* Number of file descriptors that are not used for the files of threads, but kept for modules,
 * output and the occupiers, which use up to 128. */
#define FD_RESERVE 384

/* --- creation ---------------------------------------------------------------------------- */

static size_t
fd_budget(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur <= FD_RESERVE)
		return 0;
	return limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (limit.rlim_cur - FD_RESERVE) / 3;
}

static int
create_tracer(const struct sampler_context *context, struct tracer **tracer, struct error *err)
{
	const struct sampler_control *control = context->control;
	int rc = tracer_create(context->process->process, tracer, err);

	if (rc == 0)
		tracer_set_load(*tracer, context->load);
	if (rc == 0 && control != NULL && control->addresses > 0)
		rc = tracer_count(*tracer, control->address, control->addresses, err);
	if (rc != 0)
		tracer_free(*tracer);
	return rc;
}

int
sampler_create(const struct sampler_config *config, const struct sampler_context *context,
	       struct sampler **out, struct error *err)
{
	struct sampler *sampler = xcalloc(1, sizeof(*sampler));
	struct run *run = &sampler->run;
	int rc = 0;

	*out = NULL;
	if (!config->nonblocking)
		rc = create_tracer(context, &run->tracer, err);
	if (rc != 0) {
		free(sampler);
		return rc;
	}
	run->config = *config;
	run->context = *context;
	run->profile = context->profile;
	run->holds = context->control != NULL && run->tracer != NULL;
	run->tick.few_holders = true;
	run->threads.sched_source = sched_source_probe();
	run->threads.fd_budget = fd_budget();
	run->stats.rate_wanted = config->rate_hz;
	histogram_init(&run->stats.stop_ns);
	rng_seed(&run->rng, config->seed != 0 ? config->seed : clock_now_ns());
	sampler->unwinding.run = run;
	chain_init(&sampler->unwinding.chain);
	sampler->charging.run = run;
	sampler->charging.hidden.last_entry = UINT32_MAX;
	weights_init(&sampler->calibration, run, &sampler->charging);
	sampler->hold.run = run;
	sampler->file_wait.hold = &sampler->hold;
	sampler->hold.priority = &sampler->priority;
	sampler->deadlocks.run = run;
	for (size_t i = 0; i < context->process_count; i++)
		processes_add(run, &sampler->hold, &context->process[i]);
	run->context.process = NULL;
	*out = sampler;
	return 0;
}

void
sampler_free(struct sampler *sampler)
{
	struct run *run;

	if (sampler == NULL)
		return;
	run = &sampler->run;
	tick_remove_threads(sampler);
	threads_release(&run->threads);
	free(sampler->deadlocks.seen);
	free(sampler->hold.stopped);
	tracer_free(run->tracer);
	free(sampler->charging.item);
	free(sampler->charging.gap);
	weights_release(&sampler->calibration);
	chain_release(&sampler->unwinding.chain);
	table_release(&run->records.shared);
	waits_release_common(run);
	processes_release(run);
	free(sampler->observation);
	looks_release(&sampler->looks);
	absence_release(&sampler->absence);
	free(sampler);
}

int
sampler_check_realtime(struct error *err)
{
	return priority_check_urgent(err);
}

/* --- ticks ------------------------------------------------------------------------------- */

static void
update_stats(struct sampler *sampler, bool last)
{
	struct run *run = &sampler->run;
	struct run_stats *stats = &run->stats;
	struct rusage usage;

	stats->target_cpu_known = true;
	stats->target_cpu_ns = processes_cpu(&run->processes) + stats->unsampled_ns;
	stats->elapsed_ns = run->tick.time_ns - run->pace.start_ns;
	work_update(&sampler->work, run, clock_now_ns(), last);
	stats->own_cpu_ns = clock_own_cpu_ns() - sampler->own_cpu_began_ns;
	stats->rate_lowest = run->pace.lowest_hz;
	stats->thinnest = run->pace.thinnest;
	stats->overhead_delays = run->pace.overhead_delays;
	stats->stop_delays = run->pace.stop_delays;
	if (getrusage(RUSAGE_SELF, &usage) == 0)
		stats->peak_memory = (uint64_t)usage.ru_maxrss * 1024;
	processes_describe(run);
	if (run->tracer != NULL) {
		stats->repaired = tracer_stats(run->tracer)->repaired;
		stats->signals_passed = tracer_stats(run->tracer)->signals_passed;
	}
}

static bool
is_set(const volatile sig_atomic_t *flag)
{
	return flag != NULL && *flag != 0;
}

/*
 * Sleeps until the next tick is due, or returns early for a snapshot or to suspend wallsample.
 * Returns false if sampling ends. A single sleep lasts NAP_NS at most: a signal that arrives
 * between the read of its flag and the sleep does not end the sleep.
 */
static bool
wait_for_tick(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t end_ns)
{
	struct occupy *occupy = sampler->run.occupy;
	uint64_t until = sampler->run.pace.due_ns, now;

	if (until > end_ns)
		until = end_ns;
	while ((now = clock_now_ns()) < until) {
		const uint64_t due = hold_due(&sampler->hold);
		uint64_t wake = until < due ? until : due;

		if (is_set(hooks->stop))
			return false;
		if (is_set(hooks->snapshot) || is_set(hooks->suspend))
			return true;
		if (wake > now + NAP_NS)
			wake = now + NAP_NS;
		if (occupy != NULL && wake == until)
			occupy_sleep(occupy);
		if (wake == until)
			hold_occupy_plan(sampler->run.hold_occupy, until);
		tracer_sleep_until(sampler->run.tracer, wake);
		if (occupy != NULL && clock_now_ns() < until)
			occupy_relax(occupy);
		hold_serve(&sampler->hold, clock_now_ns());
		absence_look(sampler);
		/* Notices the exit of the target before the next tick, but only at a low rate. If
		 * the next tick is at most NAP_NS away, the check is omitted: it would take a CPU
		 * from threads that were just resumed. */
		if (clock_now_ns() + NAP_NS < until && !tick_is_alive(sampler))
			sampler->run.pace.due_ns = until = clock_now_ns();
	}
	return !is_set(hooks->stop) && now < end_ns;
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
	return tracer_outstanding(sampler->run.tracer) == 0;
}

/* Waits for late stops, at most SNAPSHOT_BOUND_NS, then calls on_snapshot. The sample of a thread
 * that stops during on_snapshot gets no stack (FAILURE_LATE). */
static void
call_snapshot(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	hold_end(&sampler->hold);
	if (!nothing_stopped(sampler))
		tracer_finish(sampler->run.tracer, SNAPSHOT_BOUND_NS);
	sampler_pause(sampler);
	hooks->on_snapshot(hooks->context);
	sampler_resume(sampler);
}

static void
call_progress(struct sampler *sampler, const struct sampler_hooks *hooks, uint64_t elapsed_ns)
{
	sampler_pause(sampler);
	hooks->on_progress(hooks->context, elapsed_ns, sampler->run.stats.thread_samples,
			   (uint32_t)sampler->run.threads.count);
	sampler_resume(sampler);
}

/* Runs a tick that is not the last one. After it, if no thread is stopped, gives some descriptors
 * readable names (waits_describe). Returns false if the target has exited. */
static bool
run_tick(struct sampler *sampler)
{
	struct pace_clock clock;

	if (!tick_run(sampler, false))
		return false;
	clock = pace_read_clock(sampler->run.holds);
	pace_end(&sampler->run.pace, &sampler->run.stats, &clock);
	if (sampler->run.occupy != NULL)
		occupy_plan(sampler->run.occupy, sampler->run.pace.due_ns);
	if (nothing_stopped(sampler))
		waits_describe(&sampler->run, false);
	return true;
}

static enum run_end
run_ticks(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	const uint64_t began = sampler->run.pace.start_ns;
	const uint64_t duration = sampler->run.config.duration_ns;
	const uint64_t end_ns = duration != 0 ? began + duration : UINT64_MAX;
	uint64_t next_progress = began;

	absence_look(sampler);
	while (wait_for_tick(sampler, hooks, end_ns)) {
		const uint64_t now = clock_now_ns();

		absence_look(sampler);
		if (now >= sampler->run.pace.due_ns) {
			if (!run_tick(sampler))
				return RUN_END_EXITED;
			absence_look(sampler);
			if (hooks->on_tick != NULL)
				hooks->on_tick(hooks->context, !nothing_stopped(sampler));
		}
		if (hooks->on_progress != NULL && now >= next_progress &&
		    (nothing_stopped(sampler) || now >= next_progress + PROGRESS_LATE_NS)) {
			call_progress(sampler, hooks, now - began);
			next_progress = now + PROGRESS_NS;
		}
		if (nothing_stopped(sampler))
			work_tick(&sampler->work, &sampler->run, now);
		absence_skip(sampler);
		if (is_set(hooks->suspend)) {
			absence_take(sampler, hooks);
			absence_look(sampler);
		}
		if (is_set(hooks->snapshot)) {
			*hooks->snapshot = 0;
			call_snapshot(sampler, hooks);
			absence_skip(sampler);
		}
	}
	/* The last tick observes all threads, so that the time of every sleep is attributed. */
	if (!tick_run(sampler, true))
		return RUN_END_EXITED;
	return clock_now_ns() >= end_ns ? RUN_END_DURATION : RUN_END_STOPPED;
}

/* Opens the files in /proc of all threads whose descriptors may stay open, and finds the futexes
 * that these threads wait for. */
static void
read_first_waits(const struct thread_list *threads)
{
	for (size_t i = 0; i < threads->count; i++) {
		struct sampled_thread *thread = threads->thread[i];
		const struct process *process = thread->process->process;
		struct syscall_info info;
		struct sched sched;

		if (!thread->watch.keep_open)
			continue;
		watch_read_sched(&thread->watch, process, &sched);
		if (watch_read_syscall(&thread->watch, process, &info) == WATCH_OK)
			waits_enter(thread->process->waits, thread, &info);
	}
}

/* Prepares the run: lists the threads, opens their files and reads code and runtimes. Then the time
 * begins for which ticks account: with thousands of threads the preparation takes as long as many
 * ticks. */
static void
start_clock(struct sampler *sampler)
{
	struct run *run = &sampler->run;
	struct pace_clock clock;

	tick_read_processes(sampler);
	tick_list_threads(sampler, true);
	run->stats.cpus = processes_allowed_cpus(&run->processes);
	for (size_t i = 0; i < run->processes.count; i++)
		tick_read_first_code(run->processes.item[i]);
	for (int i = 0; i < RUNTIME_LOOKS; i++)
		tick_read_runtimes(sampler, clock_now_ns());
	read_first_waits(&run->threads);
	processes_begin_cpu(&run->processes);
	work_prepare(&sampler->work, run);
	clock = pace_read_clock(sampler->run.holds);
	pace_start(&run->pace, &run->config, run->context.control, &run->rng, &clock);
	run->tick.time_ns = run->pace.start_ns;
	for (size_t i = 0; i < run->threads.count; i++)
		run->threads.thread[i]->last_ns = run->tick.time_ns;
	weights_start(&sampler->calibration);
	work_start(&sampler->work, &run->processes);
	sampler->own_cpu_began_ns = clock_own_cpu_ns();
	sampler->runs = true;
}

/* Runs that hold threads have their own occupiers (hold_occupy). Runs with breakpoints have none: a
 * thread that hits a breakpoint must be served at any time, and an occupation would delay that.
 * With stop_all no CPU is taken: stopping all threads together takes as long as an occupation. */
static void
begin_occupation(struct sampler *sampler)
{
	struct run *run = &sampler->run;

	if (!processes_allowed(&run->processes, &sampler->cpus))
		CPU_ZERO(&sampler->cpus);
	if (run->holds && run->context.control->addresses == 0)
		run->hold_occupy = hold_occupy_create(&sampler->cpus, &sampler->priority,
						      run->config.rate_hz);
	if (run->tracer == NULL || run->holds || run->config.stop_all ||
	    CPU_COUNT(&sampler->cpus) == 0)
		return;
	run->occupy = occupy_create(&sampler->cpus, &sampler->priority, run->pace.max_share,
				    run->config.realtime);
	if (run->occupy == NULL && run->config.realtime)
		log_say(run->context.log, LOG_NORMAL,
			"--realtime has no effect here: no CPU is taken, because the program may "
			"use CPUs that wallsample may not use, or more than 64, or because no "
			"thread could be created");
	if (run->config.realtime)
		priority_limit(&sampler->priority);
	if (run->occupy == NULL)
		return;
	run->searches = occupy_has_switches(run->occupy);
	occupy_plan(run->occupy, run->pace.due_ns);
}

static void
end_occupation(struct sampler *sampler)
{
	occupy_free(sampler->run.occupy);
	sampler->run.occupy = NULL;
	if (hold_occupy_missed(sampler->run.hold_occupy) > 0)
		log_say(sampler->run.context.log, LOG_NORMAL,
			"%.0f %% of the last stops found a running thread in a system call, and "
			"the CPUs of the program were taken at less than half of the ticks: code "
			"between system calls was found too seldom, and its gains are probably "
			"too low",
			100 * hold_occupy_missed(sampler->run.hold_occupy));
	hold_occupy_free(sampler->run.hold_occupy);
	sampler->run.hold_occupy = NULL;
	if (sampler->run.tracer != NULL && sampler->run.config.realtime)
		priority_unlimit(&sampler->priority);
}

enum run_end
sampler_run(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	const struct log *log = sampler->run.context.log;
	struct run_stats *stats = &sampler->run.stats;
	enum run_end end;

	priority_raise(&sampler->priority);
	stats->nice_value = sampler->priority.nice;
	log_say(log, LOG_VERBOSE, "sampling at nice %d", stats->nice_value);
	file_wait_begin(&sampler->file_wait, hooks->stop);
	start_clock(sampler);
	begin_occupation(sampler);
	end = run_ticks(sampler, hooks);
	end_occupation(sampler);
	hold_end(&sampler->hold);
	if (sampler->run.holds)
		log_say(log, LOG_VERBOSE, "ticks began %.1f us after they were due, in %s class",
			sampler->hold.lag_ns / 1000,
			sampler->hold.asked_ns > 0 && sampler->priority.may_be_urgent ?
				"a real-time" :
				"the usual");
	sampler_pause(sampler);
	file_locks_finish(&sampler->run, !nothing_stopped(sampler));
	for (size_t i = 0; i < sampler->run.processes.count; i++)
		waits_blame_holders(sampler->run.processes.item[i]->waits);
	deadlocks_last(&sampler->deadlocks);
	waits_describe(&sampler->run, true);
	if (nothing_stopped(sampler))
		thread_records_set_sleeps(&sampler->run);
	sampler_resume(sampler);
	if (sampler->run.tracer != NULL)
		stats->child_exited = tracer_exit_status(sampler->run.tracer, &stats->child_status);
	work_end(&sampler->work, &sampler->run);
	update_stats(sampler, true);
	file_wait_end(&sampler->file_wait, hooks->stop);
	sampler->runs = false;
	priority_restore(&sampler->priority);
	log_say(log, LOG_VERBOSE, "unwind: %llu frames, %.3f us a frame",
		(unsigned long long)stats->unwind_frames,
		stats->unwind_frames > 0 ?
			(double)stats->unwind_ns / 1000.0 / (double)stats->unwind_frames :
			0.0);
	return end;
}

const struct run_stats *
sampler_stats(struct sampler *sampler)
{
	if (sampler->runs)
		update_stats(sampler, false);
	return &sampler->run.stats;
}

bool
sampler_has_execed(const struct sampler *sampler)
{
	return sampler->run.stats.execed;
}
