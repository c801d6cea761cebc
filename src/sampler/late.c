/* SPDX-License-Identifier: MIT */
/*
 * late.c - late threads: their stop was requested and has not happened, because they wait for a
 * CPU, are in a long system call, or in an uninterruptible sleep.
 *
 * A late thread executes no code of the program until it stops: one stack stands for all ticks
 * since the request. Each of these ticks finds the thread in a state; late_stop.part has the
 * total weight of the ticks for each state.
 */
#include <stdlib.h>

#include "sampler/pipeline_internal.h"

/*
 * Returns the share, 0 to 1, of `elapsed_ns` in which a runnable thread waited for a CPU. The
 * scheduler has counted the other part as CPU time.
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
late_begin(struct charging *charging, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	struct late_stop *late = xcalloc(1, sizeof(*late));
	double queued;

	late->observation = *observation;
	observation->capture = NULL;
	late->part_state = RUN_QUEUED;
	thread_keep_counters(charging->run, thread, &thread->sched, thread->sched_ns);
	late->latest = thread->sched;
	read_counters(thread, &late->latest);
	late->latest_ns = clock_now_ns();
	queued = queued_share(&thread->sched, &late->latest,
			      late->latest_ns - observation->counters_ns);
	thread->late = late;
	charge_late_begin(charging, observation, queued, &late->charge);
	charging->run->late_count++;
	select_settle(charging->run, thread, false);
}

/* Extends the late sample by the time up to this tick, in which the thread was in `state`. */
static void
late_extend(struct charging *charging, struct sampled_thread *thread, enum run_state state)
{
	const struct tick *tick = &charging->run->tick;
	const int64_t samples = (int64_t)(tick->number - thread->last_tick);
	struct late_stop *late = thread->late;
	struct sched now = late->latest;
	const uint64_t now_ns = clock_now_ns();

	read_counters(thread, &now);
	thread_keep_counters(charging->run, thread, &late->latest, late->latest_ns);
	if (sched_differ(&now, &late->latest))
		thread->window.moved_ns = thread->last_ns;
	late->part_state = state;
	late->part[state].samples += samples;
	late->part[state].weight_ns += (int64_t)(tick->time_ns - thread->last_ns);
	if (run_state_runnable(state)) {
		late->charge.new_samples += samples;
		late->charge.queued += (double)samples *
				       queued_share(&late->latest, &now, now_ns - late->latest_ns);
	}
	late->latest = now;
	late->latest_ns = now_ns;
	thread->last_tick = tick->number;
	thread->last_ns = tick->time_ns;
}

void
late_observe(struct charging *charging, struct sampled_thread *thread)
{
	struct task_stat stat;
	const bool known = process_read_task_stat(thread->process->process, thread->watch.tid,
						  &stat);
	/* A thread in a long system call may be in uninterruptible sleep. */
	const bool blocked = known && stat.state == 'D';

	late_extend(charging, thread, blocked ? RUN_UNINTERRUPTIBLE : RUN_QUEUED);
	if (known && (stat.state == 'Z' || stat.state == 'X')) {
		/* Without this check the exit would not be noticed: the kernel does not report the
		 * exit of a process's first thread to the tracer while other threads of the process
		 * live. */
		late_drop(charging, thread);
		attribute_exit(charging->run, thread);
		return;
	}
	charging->runnable += (double)thread->late->charge.new_samples;
	select_settle(charging->run, thread, false);
}

bool
late_has_ended(struct charging *charging, struct sampled_thread *thread, bool give_up)
{
	struct late_stop *late = thread->late;

	if (late == NULL || (request_of(late)->end == STOP_LATE && !give_up))
		return false;
	/* Until it stopped, the thread counts as in the state in which the last tick found it. */
	late_extend(charging, thread, late->part_state);
	return true;
}

/*
 * Returns the samples and the weight of the part of the late sample's runnable time
 * (part[RUN_QUEUED]) in which the thread was on a CPU: as long as the CPU time that the scheduler
 * has counted since the request. It is the whole time if the thread was in a long system call, and
 * nothing if it waited for a CPU.
 */
static struct late_part
running_part(const struct late_stop *late)
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
attribute_part(struct charging *charging, struct sampled_thread *thread, enum run_state state,
	       const struct late_part *part)
{
	const struct stop_request *request = request_of(thread->late);

	thread->state = state;
	thread->syscall = SYSCALL_NONE;
	if (!run_state_runnable(state))
		thread->syscall = request->end == STOP_CAPTURED ? request->syscall :
								  SYSCALL_UNKNOWN;
	attribute_time(charging, thread, part->samples, part->weight_ns);
}

/*
 * Attributes the samples of the ticks after the one that requested the stop, whose own sample is
 * attributed already. A thread that turned out to have been asleep, or stopped by job control, at
 * the request counts as in that state at the later ticks, too.
 */
static void
attribute_parts(struct charging *charging, struct sampled_thread *thread)
{
	const enum run_state first = thread->state;
	const bool ran = run_state_runnable(first) || first == RUN_UNKNOWN;
	const long syscall = thread->syscall;
	struct late_part *part = thread->late->part;

	if (ran) {
		part[RUN_RUNNING] = running_part(thread->late);
		part[RUN_QUEUED].samples -= part[RUN_RUNNING].samples;
		part[RUN_QUEUED].weight_ns -= part[RUN_RUNNING].weight_ns;
	}
	for (int state = 0; state < RUN_STATE_COUNT; state++) {
		if (ran)
			attribute_part(charging, thread, (enum run_state)state, &part[state]);
		else
			attribute_time(charging, thread, part[state].samples,
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

/* Abandons the stop request, and frees thread->late. */
static void
late_discard(struct charging *charging, struct sampled_thread *thread)
{
	/* Earlier ticks counted the thread as on a CPU in `on_cpu` samples, by an estimate. That is
	 * taken back: the attributed samples are counted instead (charge_runnable). */
	charging->on_cpu_missed -= thread->late->charge.on_cpu;
	tracer_forget(charging->run->tracer, request_of(thread->late));
	if (!thread->asleep) {
		thread->sched = thread->late->latest;
		thread->sched_ns = thread->late->latest_ns;
	}
	capture_return(&thread->late->observation);
	free(thread->late);
	thread->late = NULL;
	charging->run->late_count--;
}

void
late_end(struct charging *charging, struct sampled_thread *thread)
{
	const enum sample_failure failure = capture_failure(request_of(thread->late));

	if (failure != FAILURE_COUNT)
		charging->run->stats.failed[failure] += (uint64_t)count_samples(thread->late);
	attribute_parts(charging, thread);
	late_discard(charging, thread);
}

void
late_drop(struct charging *charging, struct sampled_thread *thread)
{
	struct late_stop *late = thread->late;

	if (late == NULL)
		return;
	/* The stack of an exited thread cannot be read. */
	thread->stack = stacks_failure(&thread->process->stacks, FAILURE_EXITED);
	thread->state = late->observation.state;
	thread->syscall = SYSCALL_NONE;
	attribute_past(charging, thread, late->observation.samples, late->observation.weight_ns);
	charging->run->stats.failed[FAILURE_EXITED] += (uint64_t)(late->observation.samples +
								  count_samples(late));
	attribute_parts(charging, thread);
	late_discard(charging, thread);
}
