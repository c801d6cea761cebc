/* SPDX-License-Identifier: MIT */
/* absence.c - accounts for the times in which wallsample itself did not run: it was stopped or
 * frozen, or had no CPU. */
#include <stdlib.h>

#include "sampler/sampler_internal.h"

/* Shorter times count as ordinary delays of a tick. */
#define ABSENCE_LEAST_NS (500 * NS_PER_MS)

/* Interval at which absence_take checks hooks->stop. */
#define TAKE_NS (100 * NS_PER_MS)

void
absence_release(struct absence *absence)
{
	free(absence->item);
}

/* Adds to the profile the part of an absence that the thread spent in `state`. */
static void
add_part(struct absence *absence, struct run *run, struct sampled_thread *thread,
	 enum run_state state, int64_t samples, uint64_t ns)
{
	struct profile_entry entry = {
		.stack = stacks_failure(&thread->process->stacks, FAILURE_ABSENT),
		.state = state,
		.syscall = SYSCALL_NONE,
		.gil = GIL_UNKNOWN,
		.samples = samples,
		.ns[WEIGHT_WALL] = (int64_t)ns,
		.ns[WEIGHT_CPU] = state == RUN_RUNNING ? (int64_t)ns : 0,
	};
	uint32_t id;

	if (ns == 0 && samples == 0)
		return;
	entry.thread = thread_record_of_sample(run, thread, &entry.carrier);
	id = profile_add(run->profile, &entry);
	window_count(&thread->window, id, samples, (int64_t)ns);
	if (!run_state_runnable(state) || ns == 0)
		return;
	absence->item = xgrow(absence->item, &absence->capacity, absence->count + 1,
			      sizeof(*absence->item));
	absence->item[absence->count++] = (struct absent_part){ thread, id, ns };
}

static uint64_t
less(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Divides `ns` of an absence among the states of a thread that has run meanwhile. `used`: what the
 * kernel has counted since the last observation. The sample goes with the longest part. A thread
 * that has been runnable all the time without getting a CPU keeps its state.
 */
static void
add_parts(struct absence *absence, struct run *run, struct sampled_thread *thread,
	  const struct sched *used, uint64_t ns)
{
	const uint64_t cpu_ns = less(used->cpu_ns, ns),
		       delay_ns = less(used->delay_ns, ns - cpu_ns);
	const uint64_t rest_ns = ns - cpu_ns - delay_ns;
	const bool idle = used->switches == 0 && cpu_ns == 0;
	const enum run_state rest = idle && run_state_runnable(thread->state) ? RUN_QUEUED :
										RUN_SLEEPING;
	const int longest = cpu_ns >= delay_ns && cpu_ns >= rest_ns ? 0 :
			    delay_ns >= rest_ns                     ? 1 :
								      2;

	thread->green_task = THREAD_NONE;
	add_part(absence, run, thread, RUN_RUNNING, longest == 0, cpu_ns);
	add_part(absence, run, thread, RUN_QUEUED, longest == 1, delay_ns);
	add_part(absence, run, thread, rest, longest == 2, rest_ns);
	run->stats.thread_samples++;
	run->stats.failed[FAILURE_ABSENT]++;
}

/* Returns true if the time `ns` is after the absence: if it is in the later half of the time from
 * run->seen_ns to `now`. The absence fills nearly all of this time, but a tick that began before
 * the absence may have continued after it. */
static bool
is_after(const struct run *run, uint64_t ns, uint64_t now)
{
	return ns > run->seen_ns && ns - run->seen_ns > (now - run->seen_ns) / 2;
}

/* Makes the absence the last observation of the thread; the sample of a late stop, which was
 * requested after the absence, begins at its end. */
static void
settle(const struct run *run, struct sampled_thread *thread, const struct sched *sched)
{
	struct late_stop *late = thread->late;

	if (late != NULL) {
		late->latest = *sched;
		late->latest_ns = clock_now_ns();
		return;
	}
	thread_set_counters(run, thread, sched);
	thread->stack = stacks_failure(&thread->process->stacks, FAILURE_ABSENT);
	thread->state = RUN_RUNNING;
	thread->syscall = SYSCALL_NONE;
	thread->gil = GIL_UNKNOWN;
	thread->wait.id = 0;
}

/*
 * Accounts for the time of one thread up to tick.time_ns. Time up to seen_ns belongs to its last
 * observation, after which its counters were `before`. Nothing is to be done for a thread that has
 * not run: its stack is known. Nor for one that wallsample has kept stopped, or that has exited:
 * the next tick accounts for its time.
 */
static void
account_thread(struct absence *absence, struct charging *charging, struct sampled_thread *thread,
	       struct sched before)
{
	struct run *run = charging->run;
	const uint64_t now = run->tick.time_ns;
	uint64_t from = thread->last_ns;
	struct sched sched, used;

	if (thread->gone || thread->excluded || thread->held ||
	    (thread->late != NULL &&
	     !is_after(run, thread->late->observation.capture->request.asked_ns, now)) ||
	    watch_read_sched(&thread->watch, thread->process->process, &sched) != WATCH_OK)
		return;
	if (sched.cpu_ns < before.cpu_ns || sched.switches < before.switches ||
	    (thread->asleep && sched.switches == before.switches))
		return;
	if (!thread->selected) {
		absence->unselected_ns += sched.cpu_ns - before.cpu_ns;
		return;
	}
	charge_end_of_wait(charging, thread, true);
	if (thread->seen && run->seen_ns > from) {
		attribute_past(charging, thread, (int64_t)(run->tick.number - thread->last_tick),
			       (int64_t)(run->seen_ns - from));
		from = run->seen_ns;
	}
	waits_leave(thread->process->waits, thread);
	used = (struct sched){ .cpu_ns = sched.cpu_ns - before.cpu_ns,
			       .delay_ns = sched.delay_ns - less(before.delay_ns, sched.delay_ns),
			       .switches = sched.switches - before.switches };
	add_parts(absence, run, thread, &used, now - from);
	settle(run, thread, &sched);
	select_settle(run, thread, false);
}

/* Divides the real time of an absence among the runnable threads, in proportion to their runnable
 * time. */
static void
charge_parts(struct absence *absence, struct charging *charging, uint64_t span_ns)
{
	double runnable_ns = (double)absence->unselected_ns, cpu_ns = runnable_ns;

	for (size_t i = 0; i < absence->count; i++) {
		const struct absent_part *part = &absence->item[i];

		runnable_ns += (double)part->ns;
		if (profile_entry(charging->run->profile, part->entry)->state == RUN_RUNNING)
			cpu_ns += (double)part->ns;
	}
	for (size_t i = 0; i < absence->count; i++) {
		const struct absent_part *part = &absence->item[i];
		const double share = (double)part->ns / runnable_ns;

		charge_entry(charging, part->thread, part->entry,
			     (int64_t)(share * (double)span_ns + 0.5));
	}
	charge_absence(charging, span_ns, cpu_ns / (double)span_ns, runnable_ns / (double)span_ns);
}

/* Returns the counters of a thread at its last observation before the absence. */
static struct sched
counters_before(const struct run *run, const struct sampled_thread *thread, uint64_t now)
{
	const struct late_stop *late = thread->late;
	const uint64_t read_ns = late != NULL ? late->latest_ns : thread->sched_ns;

	if (!thread->seen)
		return thread->window.counted;
	if (is_after(run, read_ns, now))
		return thread->earlier;
	return late != NULL ? late->latest : thread->sched;
}

/* Returns counters_before() of all threads, which the caller frees. */
static struct sched *
all_counters_before(const struct run *run, uint64_t now)
{
	const struct thread_list *threads = &run->threads;
	struct sched *counters = xcalloc(threads->count + 1, sizeof(*counters));

	for (size_t i = 0; i < threads->count; i++)
		counters[i] = counters_before(run, threads->thread[i], now);
	return counters;
}

static void
account(struct sampler *sampler, uint64_t now)
{
	struct absence *absence = &sampler->absence;
	struct run *run = &sampler->run;
	const uint64_t open_ns = now - run->tick.time_ns;
	const struct thread_list *threads = &run->threads;
	struct sched *before = all_counters_before(run, now);

	/* Late threads that have stopped get their samples, for the time before the absence. This
	 * reads their counters. */
	tick_collect_late(sampler, false);
	absence->count = 0;
	absence->unselected_ns = 0;
	run->tick.time_ns = now;
	for (size_t i = 0; i < threads->count; i++)
		account_thread(absence, &sampler->charging, threads->thread[i], before[i]);
	charge_parts(absence, &sampler->charging, open_ns);
	run->stats.absences++;
	run->stats.absent_ns += now - run->seen_ns;
	run->threads.relist = true;
	free(before);
}

void
absence_look(struct sampler *sampler)
{
	struct absence *absence = &sampler->absence;
	const struct run *run = &sampler->run;
	const uint64_t now = clock_now_ns(), passed = now - run->seen_ns;
	uint64_t used_ns;

	if (run->seen_ns != 0 && passed >= ABSENCE_LEAST_NS) {
		used_ns = pace_read_clock(run->holds).cpu_ns - absence->cpu_ns;
		if (passed - less(used_ns, passed) >= ABSENCE_LEAST_NS)
			account(sampler, now);
	}
	absence_skip(sampler);
}

void
absence_skip(struct sampler *sampler)
{
	sampler->run.seen_ns = clock_now_ns();
	/* The CPU time at the end of the last tick: little has been used since. */
	sampler->absence.cpu_ns = sampler->run.pace.tick_cpu_ns;
}

void
absence_take(struct sampler *sampler, const struct sampler_hooks *hooks)
{
	struct tracer *tracer = sampler->run.tracer;

	hold_end(&sampler->hold);
	while (tracer_outstanding(tracer) > 0 && (hooks->stop == NULL || *hooks->stop == 0))
		tracer_finish(tracer, TAKE_NS);
	hold_pause(&sampler->hold);
	if (tracer_outstanding(tracer) == 0)
		hooks->on_suspend(hooks->context);
	hold_resume(&sampler->hold);
}
