/* SPDX-License-Identifier: MIT */
/*
 * late.c - threads whose stop was requested and has not happened: they wait for a CPU, are in a
 * long system call, or in uninterruptible sleep.
 *
 * They execute no code of the program until they stop, so that one stack stands for all ticks
 * since the request. What they did at each of these ticks is kept by state.
 */
#include <stdlib.h>

#include "sampler/pipeline_internal.h"

/*
 * The part of `elapsed_ns` in which a runnable thread waited for a CPU: for the rest the scheduler
 * has counted CPU time.
 */
static double
queued_share(const struct sched *before, const struct sched *now, uint64_t elapsed_ns)
{
	const uint64_t ran_ns = now->cpu_ns - before->cpu_ns;

	if (now->cpu_ns <= before->cpu_ns)
		return 1;
	return ran_ns >= elapsed_ns ? 0 : 1 - (double)ran_ns / (double)elapsed_ns;
}

static void
read_counters(struct sampled_thread *thread, struct sched *counters)
{
	(void)watch_read_sched(&thread->watch, thread->process->process, counters);
}

static const struct stop_request *
request_of(const struct late_stop *late)
{
	return &late->observation.capture->request;
}

void
late_begin(struct late_stage *stage, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	struct late_stop *late = xcalloc(1, sizeof(*late));
	double queued;

	late->observation = *observation;
	observation->capture = NULL;
	late->part_state = RUN_QUEUED;
	late->latest = thread->sched;
	read_counters(thread, &late->latest);
	late->latest_ns = clock_now_ns();
	queued = queued_share(&thread->sched, &late->latest,
			      late->latest_ns - observation->looked_ns);
	thread->late = late;
	charge_late_begin(stage->attribution->charging, observation, queued, &late->charge);
	stage->stops->count++;
	select_settle(stage->attribution->selection, thread, false);
}

/* The late sample stands for the time up to this tick, in which the thread was in this state. */
static void
late_extend(struct late_stage *stage, struct sampled_thread *thread, enum run_state state)
{
	const struct tick *tick = stage->tick;
	const int64_t samples = (int64_t)(tick->number - thread->last_tick);
	struct late_stop *late = thread->late;
	struct sched now = late->latest;
	const uint64_t now_ns = clock_now_ns();

	read_counters(thread, &now);
	late->part_state = state;
	late->part[state].samples += samples;
	late->part[state].weight_ns += (int64_t)(tick->time_ns - thread->last_ns);
	if (run_state_runnable(state))
		charge_late_extend(&late->charge, samples,
				   queued_share(&late->latest, &now, now_ns - late->latest_ns));
	late->latest = now;
	late->latest_ns = now_ns;
	thread->last_tick = tick->number;
	thread->last_ns = tick->time_ns;
}

void
late_observe(struct late_stage *stage, struct sampled_thread *thread)
{
	struct task_stat stat;
	const bool known = process_read_task_stat(thread->process->process, thread->watch.tid,
						  &stat);
	/* In a long system call it may be in uninterruptible sleep. */
	const bool disk = known && stat.state == 'D';

	late_extend(stage, thread, disk ? RUN_DISK : RUN_QUEUED);
	if (known && (stat.state == 'Z' || stat.state == 'X')) {
		/* The kernel does not report the first thread's exit while others live. */
		late_drop(stage, thread);
		attribute_exit(stage->attribution, thread);
		return;
	}
	charge_late(stage->attribution->charging, &thread->late->charge);
	select_settle(stage->attribution->selection, thread, false);
}

bool
late_has_ended(struct late_stage *stage, struct sampled_thread *thread, bool give_up)
{
	struct late_stop *late = thread->late;

	if (late == NULL)
		return false;
	if (request_of(late)->end == STOP_LATE && !give_up)
		return false;
	/* Since the last tick it did nothing else. */
	late_extend(stage, thread, late->part_state);
	return true;
}

/*
 * The part of the runnable time that the thread was on a CPU, by the scheduler's count: in a long
 * system call all of it, in the run queue nothing.
 */
static struct late_part
ran_of(const struct late_stop *late)
{
	const struct late_part *all = &late->part[RUN_QUEUED];
	const struct stop_request *request = request_of(late);
	const struct sched *last = request->end == STOP_CAPTURED ? &request->during : &late->latest;
	const uint64_t cpu_ns = last->cpu_ns - request->before.cpu_ns;
	double share;

	if (all->weight_ns <= 0 || last->cpu_ns <= request->before.cpu_ns)
		return (struct late_part){ 0, 0 };
	share = (double)cpu_ns / (double)all->weight_ns;
	if (share > 1)
		share = 1;
	return (struct late_part){ .samples = (int64_t)((double)all->samples * share + 0.5),
				   .weight_ns = (int64_t)((double)all->weight_ns * share) };
}

static void
attribute_part(struct late_stage *stage, struct sampled_thread *thread, enum run_state state,
	       const struct late_part *part)
{
	const struct stop_request *request = request_of(thread->late);

	thread->state = state;
	thread->syscall = SYSCALL_NONE;
	if (!run_state_runnable(state))
		thread->syscall = request->end == STOP_CAPTURED ? request->syscall :
								  SYSCALL_UNKNOWN;
	if (run_state_runnable(state))
		attribute_runnable(stage->attribution, thread, part->samples, part->weight_ns);
	else
		attribute_time(stage->attribution, thread, part->samples, part->weight_ns);
}

/*
 * The sample of the first tick is attributed. A thread that proved to be asleep, or stopped by job
 * control, was so at the later ticks, too.
 */
static void
attribute_parts(struct late_stage *stage, struct sampled_thread *thread)
{
	const enum run_state first = thread->state;
	const long syscall = thread->syscall;
	struct late_part *part = thread->late->part;

	if (run_state_runnable(first) || first == RUN_UNKNOWN) {
		part[RUN_RUNNING] = ran_of(thread->late);
		part[RUN_QUEUED].samples -= part[RUN_RUNNING].samples;
		part[RUN_QUEUED].weight_ns -= part[RUN_RUNNING].weight_ns;
	}
	for (int state = 0; state < RUN_STATE_COUNT; state++) {
		if (run_state_runnable(first) || first == RUN_UNKNOWN)
			attribute_part(stage, thread, (enum run_state)state, &part[state]);
		else
			attribute_time(stage->attribution, thread, part[state].samples,
				       part[state].weight_ns);
	}
	thread->state = first;
	thread->syscall = syscall;
}

static int64_t
count_samples(const struct late_stop *late)
{
	int64_t samples = 0;

	for (int state = 0; state < RUN_STATE_COUNT; state++)
		samples += late->part[state].samples;
	return samples;
}

static void
discard(struct late_stage *stage, struct sampled_thread *thread)
{
	charge_late_end(stage->attribution->charging, &thread->late->charge);
	tracer_forget(stage->stops->tracer, request_of(thread->late));
	capture_return(&thread->late->observation);
	free(thread->late);
	thread->late = NULL;
	stage->stops->count--;
}

void
late_end(struct late_stage *stage, struct sampled_thread *thread)
{
	static const enum sample_failure failure_of[] = {
		[STOP_CAPTURED] = FAILURE_COUNT,        [STOP_EXITED] = FAILURE_EXITED,
		[STOP_DENIED] = FAILURE_DENIED,         [STOP_LATE] = FAILURE_LATE,
		[STOP_MISSED] = FAILURE_LATE,           [STOP_COMPAT32] = FAILURE_UNREADABLE,
		[STOP_UNREADABLE] = FAILURE_UNREADABLE,
	};
	const enum sample_failure failure = failure_of[request_of(thread->late)->end];

	if (failure != FAILURE_COUNT)
		stage->attribution->stats->failed[failure] += (uint64_t)count_samples(thread->late);
	attribute_parts(stage, thread);
	discard(stage, thread);
}

void
late_drop(struct late_stage *stage, struct sampled_thread *thread)
{
	struct late_stop *late = thread->late;

	if (late == NULL)
		return;
	/* The stack of an exited thread cannot be read. */
	thread->stack = stacks_failure(&thread->process->stacks, FAILURE_EXITED);
	thread->state = late->observation.state;
	thread->syscall = SYSCALL_NONE;
	attribute_time(stage->attribution, thread, late->observation.samples,
		       late->observation.weight_ns);
	stage->attribution->stats->failed[FAILURE_EXITED] += (uint64_t)(late->observation.samples +
									count_samples(late));
	attribute_parts(stage, thread);
	discard(stage, thread);
}
