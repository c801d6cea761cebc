/* SPDX-License-Identifier: MIT */
/*
 * late.c - threads that were asked to stop and have not yet: they wait for a CPU, are in a long
 * system call, or sleep where no signal wakes them.
 *
 * They execute no code of the program until they stop, so that one stack stands for all ticks
 * since. What they did at each of these ticks is kept apart, by state.
 */
#include <string.h>

#include "sampler/pipeline_internal.h"

/*
 * The part of a stretch of time in which a runnable thread waited for a CPU: of the rest the
 * scheduler has counted CPU time.
 */
static double
queued_share(const struct sched *before, const struct sched *now, uint64_t elapsed_ns)
{
	const uint64_t ran_ns = now->cpu_ns - before->cpu_ns;

	if (now->cpu_ns <= before->cpu_ns)
		return 1;
	return ran_ns >= elapsed_ns ? 0 : 1 - (double)ran_ns / (double)elapsed_ns;
}

void
late_begin(struct sampler *sampler, struct pending *pending)
{
	struct tracked *thread = pending->thread;
	int64_t fresh = 0;
	double queued;

	thread->late = xmalloc(sizeof(*thread->late));
	*thread->late = *pending;
	memset(thread->late->part, 0, sizeof(thread->late->part));
	thread->late->part_state = RUN_QUEUED;
	thread->late->latest = thread->sched;
	(void)watch_read_sched(&thread->watch, sampler->process, &thread->late->latest);
	thread->late->looked_ns = clock_now_ns();
	queued = queued_share(&thread->sched, &thread->late->latest,
			      thread->late->looked_ns - pending->looked_ns);
	if (queued > 1 - sampler->late_ran)
		queued = 1 - sampler->late_ran;
	if (pending->samples != 1)
		queued = 1; /* see count_hidden in charge.c */
	/* A sleeper that was to tell its registers is not among those that can run. */
	if (run_state_runnable(pending->state))
		fresh = pending->samples;
	thread->late->charge = (struct late_charge){
		.samples = pending->samples - fresh,
		.fresh = fresh,
		.queued = (double)fresh * queued,
	};
	sampler->runnable += (double)fresh;
	sampler->late_count++;
	/* The request stays with the tracer: the batch gets another. */
	pending_create(sampler, pending);
	look_settle(sampler, thread, false);
}

void
late_extend(struct sampler *sampler, struct tracked *thread, enum run_state state)
{
	const int64_t samples = (int64_t)(sampler->tick - thread->last_tick);
	const uint64_t time_ns = sampler->tick_ns - thread->last_ns;
	struct pending *late = thread->late;
	struct sched now = late->latest;
	const uint64_t now_ns = clock_now_ns();

	(void)watch_read_sched(&thread->watch, sampler->process, &now);
	late->part_state = state;
	late->part[state].samples += samples;
	late->part[state].weight_ns += (int64_t)time_ns;
	if (run_state_runnable(state)) {
		late->charge.fresh += samples;
		late->charge.queued +=
			(double)samples *
			queued_share(&late->latest, &now, now_ns - late->looked_ns);
	}
	late->latest = now;
	late->looked_ns = now_ns;
	thread->last_tick = sampler->tick;
	thread->last_ns = sampler->tick_ns;
}

void
late_serve(struct sampler *sampler)
{
	if (sampler->late_count > 0)
		tracer_poll(sampler->tracer);
}

/*
 * Runnable time is split by the CPU time that the scheduler has counted meanwhile: a thread in
 * a long system call has a CPU all the time, one in the queue has none.
 */
static struct late_part
ran_of(const struct pending *late)
{
	const struct late_part *all = &late->part[RUN_QUEUED];
	const struct sched *last =
		late->request->end == STOP_CAPTURED ? &late->request->during : &late->latest;
	const uint64_t cpu_ns = last->cpu_ns - late->request->before.cpu_ns;
	double share;

	if (all->weight_ns <= 0 || last->cpu_ns <= late->request->before.cpu_ns)
		return (struct late_part){ 0, 0 };
	share = (double)cpu_ns / (double)all->weight_ns;
	if (share > 1)
		share = 1;
	return (struct late_part){ .samples = (int64_t)((double)all->samples * share + 0.5),
				   .weight_ns = (int64_t)((double)all->weight_ns * share) };
}

static void
credit_part(struct sampler *sampler, struct tracked *thread, enum run_state state,
	    const struct late_part *part)
{
	const struct stop_request *request = thread->late->request;

	thread->state = state;
	thread->syscall = SYSCALL_NONE;
	if (!run_state_runnable(state))
		thread->syscall = request->end == STOP_CAPTURED ? request->syscall :
								  SYSCALL_UNKNOWN;
	if (run_state_runnable(state))
		credit_runnable(sampler, thread, part->samples, part->weight_ns);
	else
		credit(sampler, thread, part->samples, part->weight_ns);
}

/*
 * What it did at the first tick has been credited. One that turned out to sleep, or to be
 * stopped by job control, did so at those after it, too.
 */
static void
credit_parts(struct sampler *sampler, struct tracked *thread)
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
			credit_part(sampler, thread, (enum run_state)state, &part[state]);
		else
			credit(sampler, thread, part[state].samples, part[state].weight_ns);
	}
	thread->state = first;
	thread->syscall = syscall;
}

static int64_t
count_samples(const struct pending *late)
{
	int64_t samples = 0;

	for (int state = 0; state < RUN_STATE_COUNT; state++)
		samples += late->part[state].samples;
	return samples;
}

/* Nothing refers to it any more. */
static void
discard(struct sampler *sampler, struct tracked *thread)
{
	charge_late_end(sampler, &thread->late->charge);
	tracer_forget(sampler->tracer, thread->late->request);
	pending_free(thread->late);
	free(thread->late);
	thread->late = NULL;
	sampler->late_count--;
}

void
late_end(struct sampler *sampler, struct tracked *thread)
{
	static const enum sample_failure failure_of[] = {
		[STOP_CAPTURED] = FAILURE_COUNT,  [STOP_EXITED] = FAILURE_EXITED,
		[STOP_DENIED] = FAILURE_DENIED,   [STOP_LATE] = FAILURE_LATE,
		[STOP_MISSED] = FAILURE_LATE,
		[STOP_COMPAT32] = FAILURE_UNREADABLE, [STOP_UNREADABLE] = FAILURE_UNREADABLE,
	};
	const enum sample_failure failure = failure_of[thread->late->request->end];

	if (failure != FAILURE_COUNT)
		sampler->stats.failed[failure] += (uint64_t)count_samples(thread->late);
	credit_parts(sampler, thread);
	discard(sampler, thread);
}

void
late_drop(struct sampler *sampler, struct tracked *thread)
{
	struct pending *late = thread->late;

	if (late == NULL)
		return;
	/* The thread is gone, and with it the stack of the time that it waited. */
	thread->stack = stack_of_failure(sampler, FAILURE_EXITED);
	thread->state = late->state;
	thread->syscall = SYSCALL_NONE;
	credit(sampler, thread, late->samples, late->weight_ns);
	sampler->stats.failed[FAILURE_EXITED] += (uint64_t)(late->samples + count_samples(late));
	credit_parts(sampler, thread);
	discard(sampler, thread);
}
