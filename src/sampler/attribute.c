/* SPDX-License-Identifier: MIT */
/* attribute.c - adds samples to the profile, with their weight (sampler.h), and stores each in its
 * thread as the last observation. */
#include "sampler/pipeline_internal.h"

static uint32_t
add_samples(struct run *run, struct sampled_thread *thread, int64_t samples, int64_t weight_ns)
{
	struct profile_entry entry = {
		.stack = thread->stack,
		.state = thread->state,
		.syscall = (int32_t)thread->syscall,
		.wait = run_state_runnable(thread->state) ? 0 : thread->wait.id,
		.gil = thread->gil,
		.samples = samples,
		.ns[WEIGHT_WALL] = weight_ns,
		.ns[WEIGHT_CPU] = thread->state == RUN_RUNNING ? weight_ns : 0,
	};

	uint32_t id;

	entry.thread = thread_record_of_sample(run, thread, &entry.carrier);
	run->stats.thread_samples += (uint64_t)samples;
	id = profile_add(run->profile, &entry);
	window_add(&thread->window, id, entry.state, samples, weight_ns);
	return id;
}

void
attribute_time(struct charging *charging, struct sampled_thread *thread, int64_t samples,
	       int64_t weight_ns)
{
	uint32_t entry;

	if (samples == 0 && weight_ns == 0)
		return;
	entry = add_samples(charging->run, thread, samples, weight_ns);
	if (run_state_runnable(thread->state))
		charge_runnable(charging, thread, entry, samples);
	else
		waits_blame(thread->process->waits, thread, samples, weight_ns);
}

void
attribute_past(struct charging *charging, struct sampled_thread *thread, int64_t samples,
	       int64_t ns)
{
	const enum run_state state = thread->state;

	if (samples == 0 && ns == 0)
		return;
	if (thread->woken)
		thread->state = RUN_QUEUED;
	add_samples(charging->run, thread, samples, ns);
	if (!run_state_runnable(thread->state))
		waits_blame_last(thread->process->waits, thread, samples, ns);
	thread->state = state;
}

void
attribute_exit(struct run *run, struct sampled_thread *thread)
{
	thread->gone = true;
	/* so that attribute_removed adds no more time to this thread */
	thread->seen = false;
	thread->next_tick = UINT32_MAX;
	threads_relist(run, thread->process);
}

void
attribute_removed(struct charging *charging, struct sampled_thread *thread)
{
	const struct tick *tick = &charging->run->tick;
	const uint64_t last_tick_ns = tick->time_ns - tick->span_ns;

	if (thread->seen && thread->selected && thread->last_ns < last_tick_ns)
		attribute_past(charging, thread, (int64_t)(tick->number - 1 - thread->last_tick),
			       (int64_t)(last_tick_ns - thread->last_ns));
}

/* --- a sample ---------------------------------------------------------------------------- */

static void
attribute_failed(struct charging *charging, const struct observation *observation)
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
	thread->window.importance = observation->importance;
	attribute_time(charging, thread, observation->samples, observation->weight_ns);
	thread->window.importance = 1;
	charging->run->stats.failed[observation->failure] += (uint64_t)observation->samples;
	select_settle(charging->run, thread, observation->asleep);
	if (observation->exited)
		attribute_exit(charging->run, thread);
}

/*
 * True if the thread sleeps because a free-threaded interpreter, which has no lock, has stopped all
 * its threads. When the interpreter resumes them, a thread that sleeps in a system call stays there
 * but no longer waits for the interpreter: the observation cannot be reused, although the thread
 * has not run.
 */
static bool
waits_for_moment(const struct sampled_thread *thread)
{
	return thread->gil == GIL_WAIT && thread->wait.what.kind != WAIT_GIL;
}

/* Stores the result of unwinding in the thread as its last observation, and adds the sample to the
 * profile. */
static void
attribute_unwound(struct charging *charging, const struct observation *observation)
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
	thread->window.importance = observation->importance;
	attribute_time(charging, thread, observation->samples, observation->weight_ns);
	thread->window.importance = 1;
	select_settle(charging->run, thread, observation->asleep && !waits_for_moment(thread));
	if (!observation->fell_asleep)
		return;
	/* The sample shows the thread running; the thread has fallen asleep since. */
	thread->state = observation->slept;
	thread->syscall = info->number;
	if (thread->asleep)
		waits_classify(thread->process->waits, thread, observation->slept, info);
}

void
attribute_sample(struct charging *charging, struct observation *observation)
{
	if (observation->outcome == OUTCOME_UNWOUND)
		attribute_unwound(charging, observation);
	else
		attribute_failed(charging, observation);
	observation->outcome = OUTCOME_ATTRIBUTED;
}

/* --- observations without a stack ----------------------------------------------------------- */

/* Handles an observation of a thread that was woken from the sleep of its last observation and has
 * had no CPU since. past_ns of the observation belongs to the sleep. */
static void
attribute_woken(struct charging *charging, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;
	const enum run_state slept = thread->state;

	if (!thread->woken) {
		charge_end_of_wait(charging, thread, thread->selected);
		attribute_past(charging, thread, observation->past_samples, observation->past_ns);
		thread->window.moved_ns = thread->last_ns;
	}
	thread->woken = true;
	if (!thread->selected) {
		charge_unselected(charging, RUN_QUEUED, observation->samples);
		return;
	}
	thread->state = RUN_QUEUED;
	attribute_time(charging, thread, observation->samples, observation->weight_ns);
	thread->state = slept;
}

static void
attribute_unchanged(struct charging *charging, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	if (observation->woken) {
		attribute_woken(charging, observation);
	} else if (thread->selected) {
		waits_try_again(thread->process->waits, thread);
		attribute_time(charging, thread, observation->samples, observation->weight_ns);
	}
	if (thread->selected)
		charging->run->stats.reused += (uint64_t)observation->samples;
	select_schedule(charging->run, thread);
}

static void
attribute_unselected(struct charging *charging, const struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	if (observation->state == RUN_RUNNING)
		charge_unselected(charging, RUN_RUNNING, observation->samples);
	else if (observation->state == RUN_SLEEPING && waits_word(&observation->info) != 0)
		waits_classify(thread->process->waits, thread, RUN_SLEEPING, &observation->info);
	select_settle(charging->run, thread, observation->state == RUN_SLEEPING);
}

/* Handles an observation of a thread that has run since its last observation. If it slept at its
 * last observation, that sleep has ended, and gets its remaining time. If the new sample needs no
 * stack, it is attributed. */
static void
attribute_changed(struct charging *charging, struct observation *observation)
{
	struct sampled_thread *thread = observation->thread;

	charge_end_of_wait(charging, thread, observation->selected);
	attribute_past(charging, thread, observation->past_samples, observation->past_ns);
	if (observation->outcome == OUTCOME_GONE) {
		attribute_exit(charging->run, thread);
		return;
	}
	waits_leave(thread->process->waits, thread);
	if (observation->renamed)
		thread_record_rename(charging->run, thread);
	if (thread->excluded) { /* the thread has taken an excluded name: it gets no more samples */
		thread->asleep = thread->woken = false;
		return;
	}
	if (observation->outcome == OUTCOME_SLEEPING)
		waits_enter(thread->process->waits, thread, &observation->info);
	else if (observation->outcome == OUTCOME_UNSELECTED)
		attribute_unselected(charging, observation);
	else if (observation->outcome == OUTCOME_FAILED)
		attribute_sample(charging, observation);
}

void
attribute_observed(struct charging *charging, struct observation *observation, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct observation *one = &observation[i];

		charging->hidden.known_ns += one->cpu_ns;
		if (one->changed) {
			attribute_changed(charging, one);
		} else if (one->outcome == OUTCOME_UNCHANGED) {
			attribute_unchanged(charging, one);
		} else if (one->outcome == OUTCOME_HELD) {
			attribute_time(charging, one->thread, one->samples, one->weight_ns);
			select_settle(charging->run, one->thread, false);
		}
	}
}
