/* SPDX-License-Identifier: MIT */
/* hold_late.c - estimates the resume delay: the time from the moment at which the sampler resumes a
 * thread until the thread runs. */
#include "sampler/hold/hold_internal.h"

#include <math.h>
#include <string.h>

#include "sampler/threads_internal.h"

/* DELAY_MOST_NS: longest resume delay that enters the mean (hold_mean_delay). DELAY_MOST_PART: the
 * same as a share of the tick interval. The smaller one applies. A longer delay has another cause:
 * other threads used the CPU, or the thread has slept. */
#define DELAY_MOST_NS (200.0 * NS_PER_US)
#define DELAY_MOST_PART 0.1

/*
 * Most times that a thread may have been scheduled in since the last tick for its delay to enter
 * the mean: once after the stop, and once after each use of its CPU by wallsample, which resumes
 * other threads, works between two ticks, observes the thread, and may take its CPU
 * (hold_occupy_internal.h). A limit of 2 would leave out half of all threads.
 */
#define SWITCHES_MOST 5

bool
hold_resume_delay(const struct hold_run *run, double tick_ns, double *delay_ns)
{
	const double most = DELAY_MOST_PART * tick_ns;

	*delay_ns = run->between_ns - run->cpu_ns - run->stopped_ns - run->held_ns;
	return run->switches <= SWITCHES_MOST &&
	       fabs(*delay_ns) <= (most < DELAY_MOST_NS ? most : DELAY_MOST_NS);
}

/* --- threads that the last tick stopped ------------------------------------------------ */

static void
add_delay(struct hold *hold, const struct hold_mark *mark, const struct sched *now)
{
	struct hold_delays *delays = &hold->delays;
	const struct hold_run run = {
		.between_ns = (double)(delays->read_ns - delays->last_read_ns),
		.stopped_ns = (double)(hold->from_ns - delays->last_read_ns) +
			      (double)(delays->read_ns - hold->asked_ns),
		.held_ns = mark->role == HOLD_HELD ? hold->counted_ns : 0,
		.cpu_ns = (double)(now->cpu_ns - mark->cpu_ns),
		.switches = now->switches - mark->switches,
	};
	double delay_ns;

	if (!hold_resume_delay(&run, (double)NS_PER_SEC / hold->run->config.rate_hz, &delay_ns))
		return;
	delays->role[mark->role].sum_ns += delay_ns;
	delays->role[mark->role].count++;
}

static bool
is_of_last_tick(const struct hold *hold, const struct hold_mark *mark)
{
	return mark->role != HOLD_NONE && mark->tick + 1 == hold->run->tick.number;
}

/* Adds the resume delay of a stopped thread if the last tick has read its counters, and stores its
 * present counters for the next tick. */
static void
mark_now(struct hold *hold, struct sampled_thread *thread)
{
	struct hold_mark *mark = &thread->mark;
	struct sched now;

	if (watch_read_sched(&thread->watch, thread->process->process, &now) != WATCH_OK) {
		mark->role = HOLD_NONE;
		return;
	}
	if (is_of_last_tick(hold, mark))
		add_delay(hold, mark, &now);
	*mark = (struct hold_mark){
		.role = HOLD_RESUMED,
		.tick = hold->run->tick.number,
		.cpu_ns = now.cpu_ns,
		.switches = now.switches,
	};
}

/* True if the CPU times of threads can be read (schedstat). */
static bool
counters_are_known(const struct hold *hold)
{
	return hold->run->threads.sched_source == SCHED_FROM_SCHEDSTAT;
}

void
hold_measure_delays(struct hold *hold)
{
	struct hold_delays *delays = &hold->delays;

	memset(delays->role, 0, sizeof(delays->role));
	delays->last_read_ns = delays->read_ns;
	delays->read_ns = clock_now_ns();
	for (size_t i = 0; counters_are_known(hold) && i < hold->count && i < HOLD_MARKS; i++) {
		struct sampled_thread *thread = threads_find(&hold->run->threads,
							     hold->stopped[i].tid);

		if (thread != NULL)
			mark_now(hold, thread);
	}
}

double
hold_mean_delay(const struct hold *hold, enum hold_role role)
{
	const struct hold_delays *delays = &hold->delays;

	return delays->role[role].count > 0 ?
		       delays->role[role].sum_ns / (double)delays->role[role].count :
		       0;
}

double
hold_effective(const struct hold *hold, double counted_ns)
{
	const struct hold_delays *delays = &hold->delays;
	double used = 0;

	for (size_t i = 0; i < delays->resumed_count; i++) {
		const struct sampled_thread *thread = threads_find(&hold->run->threads,
								   delays->resumed[i]);
		double ran;

		/* A resumed thread that is not in a futex sleep, or has exited, may have run for
		 * the whole hold. */
		if (thread == NULL || !thread->asleep || !thread->mark.waits ||
		    !is_of_last_tick(hold, &thread->mark) ||
		    thread->sched.cpu_ns < thread->mark.cpu_ns)
			return counted_ns;
		ran = (double)(thread->sched.cpu_ns - thread->mark.cpu_ns);
		used = ran > used ? ran : used;
	}
	if (hold->others == 0 || delays->resumed_count == 0 || used > counted_ns)
		return counted_ns;
	return used;
}

/* --- threads that this tick stopped ---------------------------------------------------- */

/* Records a thread that is resumed while others are held. `marked`: mark_now has already been
 * called for it at this tick. Returns false if HOLD_MARKS threads are recorded already. */
static bool
mark_resumed(struct hold *hold, struct sampled_thread *thread, bool marked)
{
	struct hold_delays *delays = &hold->delays;

	if (delays->resumed_count == HOLD_MARKS)
		return false;
	if (!marked)
		mark_now(hold, thread);
	delays->resumed[delays->resumed_count++] = thread->watch.tid;
	return true;
}

/* Sets the roles of the threads that were held before this tick. Their counters are those of the
 * last tick, because they have not run. */
static void
mark_held_before(struct hold *hold, bool holds)
{
	for (size_t i = 0; hold->before > 0 && i < hold->run->threads.count; i++) {
		struct hold_mark *mark = &hold->run->threads.thread[i]->mark;

		if (!hold->run->threads.thread[i]->held || mark->role != HOLD_HELD ||
		    mark->tick == hold->run->tick.number)
			continue;
		mark->role = holds ? HOLD_HELD : HOLD_RESUMED;
		mark->tick = hold->run->tick.number;
	}
}

void
hold_mark_threads(struct hold *hold, bool holds)
{
	bool room = counters_are_known(hold);

	mark_held_before(hold, holds);
	hold->delays.resumed_count = 0;
	hold->others = holds ? hold->before : 0;
	for (size_t i = 0; i < hold->count; i++) {
		struct sampled_thread *thread = threads_find(&hold->run->threads,
							     hold->stopped[i].tid);
		const bool marked = i < HOLD_MARKS;
		const bool held = holds && !hold->stopped[i].resume;

		hold->others += held;
		if (thread == NULL)
			continue;
		if (held)
			thread->mark.role = marked ? HOLD_HELD : HOLD_NONE;
		else if (holds)
			room = room && mark_resumed(hold, thread, marked);
		else if (!marked)
			thread->mark.role = HOLD_NONE;
	}
	if (!room)
		hold->delays.resumed_count = 0;
}
