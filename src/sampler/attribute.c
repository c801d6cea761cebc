/* SPDX-License-Identifier: MIT */
/* attribute.c - puts samples into the profile, with their weight. */
#include "sampler/pipeline_internal.h"

static uint32_t
add_samples(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
	    int64_t weight_ns)
{
	struct profile_entry entry = {
		.stack = thread->stack,
		.state = thread->state,
		.syscall = (int32_t)thread->syscall,
		.wait = run_state_runnable(thread->state) ? 0 : thread->wait.id,
		.gil = thread->gil,
		.samples = samples,
		.ns[WEIGHT_WALL] = weight_ns,
		.ns[WEIGHT_OVERHEAD] = thread->state == RUN_RUNNING ? weight_ns : 0,
	};

	entry.thread = thread_record_of_sample(attribution->records, thread, &entry.carrier);
	attribution->stats->thread_samples += (uint64_t)samples;
	return profile_add(attribution->profile, &entry);
}

void
attribute_time(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
	       int64_t weight_ns)
{
	if (samples == 0 && weight_ns == 0)
		return;
	add_samples(attribution, thread, samples, weight_ns);
	if (!run_state_runnable(thread->state))
		waits_blame(thread->process->waits, thread, samples, weight_ns);
}

void
attribute_past(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
	       int64_t ns)
{
	if (samples == 0 && ns == 0)
		return;
	add_samples(attribution, thread, samples, ns);
	if (!run_state_runnable(thread->state))
		waits_blame_last(thread->process->waits, thread, samples, ns);
}

void
attribute_runnable(struct attribution *attribution, struct sampled_thread *thread, int64_t samples,
		   int64_t weight_ns)
{
	if (samples != 0 || weight_ns != 0)
		charge_runnable(attribution->charging, thread,
				add_samples(attribution, thread, samples, weight_ns), samples);
}

void
attribute_exit(struct attribution *attribution, struct sampled_thread *thread)
{
	thread->gone = true;
	thread->seen = false; /* all its time is accounted for */
	thread->next_tick = UINT32_MAX;
	attribution->threads->relist = true;
}

/* Attributes the time up to the tick before this one to the last observation. */
void
attribute_removed(struct attribution *attribution, struct sampled_thread *thread)
{
	const struct tick *tick = attribution->selection->tick;
	const uint64_t last_tick_ns = tick->time_ns - tick->span_ns;

	if (thread->seen && thread->selected && thread->last_ns < last_tick_ns)
		attribute_past(attribution, thread, (int64_t)(tick->number - 1 - thread->last_tick),
			       (int64_t)(last_tick_ns - thread->last_ns));
}

/* --- a sample ---------------------------------------------------------------------------- */

static void
add_sample(struct attribution *attribution, const struct observation *observation)
{
	if (run_state_runnable(observation->state))
		attribute_runnable(attribution, observation->thread, observation->samples,
				   observation->weight_ns);
	else
		attribute_time(attribution, observation->thread, observation->samples,
			       observation->weight_ns);
}

static void
attribute_failed(struct attribution *attribution, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	thread->stack = stacks_failure(&thread->process->stacks, observation->failure);
	thread->gil = GIL_UNKNOWN;
	thread->green_task = THREAD_NONE;
	if (observation->failure == FAILURE_NOT_STOPPED) {
		thread->gil = observation->gil;
		thread->green_task = observation->green_task;
	}
	thread->wait.id = 0;
	thread->state = observation->state;
	thread->syscall = SYSCALL_NONE;
	add_sample(attribution, observation);
	attribution->stats->failed[observation->failure] += (uint64_t)observation->samples;
	select_settle(attribution->selection, thread, observation->asleep);
	if (observation->exited)
		attribute_exit(attribution, thread);
}

/*
 * An interpreter without a lock may stop all its threads, sleeping ones too: these sleep on in the
 * same call, which is no wait of that kind any more.
 */
static bool
waits_for_moment(const struct sampled_thread *thread)
{
	return thread->gil == GIL_WAIT && thread->wait.what.kind != WAIT_GIL;
}

/* Stores the result of unwinding as the thread's last observation. */
static void
attribute_unwound(struct attribution *attribution, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const struct syscall_info *info = &observation->info;
	const bool runnable = run_state_runnable(observation->state);

	thread->stack = observation->stack;
	thread->green_task = observation->green_task;
	thread->gil = observation->gil;
	thread->state = observation->state;
	thread->syscall = runnable ? SYSCALL_NONE : info->number;
	if (!runnable)
		waits_classify(thread->process->waits, thread, observation->state, info);
	thread->sp = info->sp;
	thread->pc = info->pc;
	add_sample(attribution, observation);
	select_settle(attribution->selection, thread,
		      observation->asleep && !waits_for_moment(thread));
	if (!observation->fell_asleep)
		return;
	/* The sample is of the thread that ran; from here on it sleeps. */
	thread->state = RUN_SLEEPING;
	thread->syscall = info->number;
	if (thread->asleep)
		waits_classify(thread->process->waits, thread, RUN_SLEEPING, info);
}

void
attribute_sample(struct attribution *attribution, struct observation *observation)
{
	if (observation->outcome == OUTCOME_UNWOUND)
		attribute_unwound(attribution, observation);
	else
		attribute_failed(attribution, observation);
	observation->outcome = OUTCOME_ATTRIBUTED;
}

/* --- observations without a stack ----------------------------------------------------------- */

static void
attribute_unchanged(struct attribution *attribution, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	if (thread->selected) {
		waits_try_again(thread->process->waits, thread);
		attribute_time(attribution, thread, observation->samples, observation->weight_ns);
		attribution->stats->reused += (uint64_t)observation->samples;
	}
	select_schedule(attribution->selection, thread);
}

static void
attribute_unselected(struct attribution *attribution, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	if (observation->state == RUN_RUNNING)
		charge_unwanted(attribution->charging, observation->samples);
	else if (observation->state == RUN_SLEEPING && waits_word(&observation->info) != 0)
		waits_classify(thread->process->waits, thread, RUN_SLEEPING, &observation->info);
	select_settle(attribution->selection, thread, observation->state == RUN_SLEEPING);
}

/* The thread has run: its sleep, if it slept, is over. */
static void
attribute_changed(struct attribution *attribution, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	charge_end_of_wait(attribution->charging, thread);
	attribute_past(attribution, thread, observation->past_samples, observation->past_ns);
	if (observation->outcome == OUTCOME_GONE) {
		attribute_exit(attribution, thread);
		return;
	}
	waits_leave(thread->process->waits, thread);
	if (observation->renamed)
		thread_record_rename(attribution->records, thread);
	if (thread->excluded) { /* from now on: its new name is */
		thread->asleep = false;
		return;
	}
	if (observation->outcome == OUTCOME_SLEEPING)
		waits_see(thread->process->waits, thread, &observation->info);
	else if (observation->outcome == OUTCOME_UNSELECTED)
		attribute_unselected(attribution, observation);
	else if (observation->outcome == OUTCOME_FAILED)
		attribute_sample(attribution, observation);
}

void
attribute_observed(struct attribution *attribution, struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct observation *one = &observation[i];

		charge_cpu_time(attribution->charging, one);
		if (one->changed) {
			attribute_changed(attribution, one);
		} else if (one->outcome == OUTCOME_UNCHANGED) {
			attribute_unchanged(attribution, one);
		} else if (one->outcome == OUTCOME_HELD) {
			attribute_runnable(attribution, one->thread, one->samples, one->weight_ns);
			select_settle(attribution->selection, one->thread, false);
		}
	}
}
