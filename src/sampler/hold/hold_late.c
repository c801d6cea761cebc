/* SPDX-License-Identifier: MIT */
/* hold_late.c - when those that were let go really went on. */
#include "sampler/hold/hold_late_internal.h"

#include <math.h>
#include <string.h>

#include "sampler/pipeline_internal.h"

/* What is longer, or more than this part of a tick, is the doing of others who want the CPU, or the
 * thread has slept. */
#define LATE_MOST_NS (200.0 * NS_PER_US)
#define LATE_MOST_PART 0.1

/* So often it may be scheduled in: after a stop, and after each time that we had its CPU, to let
 * others go, between two ticks, and to look at it. With 2 half of all are left out. */
#define SWITCHES_MOST 4

bool
hold_late_stood(const struct hold_run *run, double tick_ns, double *late_ns)
{
	const double most = LATE_MOST_PART * tick_ns;

	*late_ns = run->between_ns - run->cpu_ns - run->stopped_ns - run->held_ns;
	return run->switches <= SWITCHES_MOST &&
	       fabs(*late_ns) <= (most < LATE_MOST_NS ? most : LATE_MOST_NS);
}

/* --- those of the last tick ------------------------------------------------------ */

static void
add_late(struct sampler *sampler, const struct hold_mark *mark, const struct sched *now)
{
	const struct hold *hold = &sampler->hold;
	struct hold_late *late = &sampler->hold.late;
	const struct hold_run run = {
		.between_ns = (double)(late->read_ns - late->last_read_ns),
		.stopped_ns = (double)(hold->from_ns - late->last_read_ns) +
			      (double)(late->read_ns - hold->asked_ns),
		.held_ns = mark->role == HOLD_HELD ? hold->told_ns : 0,
		.cpu_ns = (double)(now->cpu_ns - mark->cpu_ns),
		.switches = now->switches - mark->switches,
	};
	double stood;

	if (!hold_late_stood(&run, (double)NS_PER_SEC / sampler->pace.wanted_hz, &stood))
		return;
	late->role[mark->role].sum_ns += stood;
	late->role[mark->role].count++;
}

static bool
is_of_last_tick(const struct sampler *sampler, const struct hold_mark *mark)
{
	return mark->role != HOLD_NONE && mark->tick + 1 == sampler->tick;
}

/* It stands still: from here its CPU time counts. */
static void
mark_now(struct sampler *sampler, struct tracked *thread)
{
	struct hold_mark *mark = &thread->mark;
	struct sched now;

	if (watch_read_sched(&thread->watch, sampler->process, &now) != LOOK_OK) {
		mark->role = HOLD_NONE;
		return;
	}
	if (is_of_last_tick(sampler, mark))
		add_late(sampler, mark, &now);
	*mark = (struct hold_mark){
		.role = HOLD_GOES, .tick = sampler->tick, .cpu_ns = now.cpu_ns,
		.switches = now.switches,
	};
}

static bool
is_known(const struct sampler *sampler)
{
	return sampler->sched_source == SCHED_FROM_SCHEDSTAT;
}

void
hold_late_see(struct sampler *sampler)
{
	const struct hold *hold = &sampler->hold;
	struct hold_late *late = &sampler->hold.late;

	memset(late->role, 0, sizeof(late->role));
	late->last_read_ns = late->read_ns;
	late->read_ns = clock_now_ns();
	for (size_t i = 0; is_known(sampler) && i < hold->count && i < HOLD_MARKS; i++) {
		struct tracked *thread = thread_of_tid(sampler, hold->caught[i].tid);

		if (thread != NULL)
			mark_now(sampler, thread);
	}
}

double
hold_late_mean(const struct hold_late *late, enum hold_role role)
{
	return late->role[role].count > 0 ?
		       late->role[role].sum_ns / (double)late->role[role].count : 0;
}

double
hold_late_used(struct sampler *sampler, double told_ns)
{
	const struct hold_late *late = &sampler->hold.late;
	double used = 0;

	for (size_t i = 0; i < late->goes_count; i++) {
		const struct tracked *thread = thread_of_tid(sampler, late->goes[i]);
		double ran;

		/* One that has exited has run until then, perhaps. */
		if (thread == NULL || !thread->asleep || !thread->mark.waits ||
		    !is_of_last_tick(sampler, &thread->mark) ||
		    thread->sched.cpu_ns < thread->mark.cpu_ns)
			return told_ns;
		ran = (double)(thread->sched.cpu_ns - thread->mark.cpu_ns);
		used = ran > used ? ran : used;
	}
	return sampler->hold.others > 0 && late->goes_count > 0 && used < told_ns ? used : told_ns;
}

/* --- those of this tick ---------------------------------------------------------- */

/* One that goes on at once while others are held. False: there is no room. */
static bool
mark_goes(struct sampler *sampler, struct tracked *thread, bool marked)
{
	struct hold_late *late = &sampler->hold.late;

	if (late->goes_count == HOLD_MARKS)
		return false;
	if (!marked)
		mark_now(sampler, thread);
	late->goes[late->goes_count++] = thread->watch.tid;
	return true;
}

/* Those that were held since an earlier tick have not run since. */
static void
mark_held_before(struct sampler *sampler, bool holds)
{
	for (size_t i = 0; sampler->hold.before > 0 && i < sampler->thread_count; i++) {
		struct hold_mark *mark = &sampler->thread[i]->mark;

		if (!sampler->thread[i]->held || mark->role != HOLD_HELD ||
		    mark->tick == sampler->tick)
			continue;
		mark->role = holds ? HOLD_HELD : HOLD_GOES;
		mark->tick = sampler->tick;
	}
}

void
hold_late_mark(struct sampler *sampler, bool holds)
{
	struct hold *hold = &sampler->hold;
	bool room = is_known(sampler);

	mark_held_before(sampler, holds);
	hold->late.goes_count = 0;
	hold->others = holds ? hold->before : 0;
	for (size_t i = 0; i < hold->count; i++) {
		struct tracked *thread = thread_of_tid(sampler, hold->caught[i].tid);
		const bool marked = i < HOLD_MARKS;
		const bool held = holds && !hold->caught[i].goes_on;

		hold->others += held;
		if (thread == NULL)
			continue;
		if (held)
			thread->mark.role = marked ? HOLD_HELD : HOLD_NONE;
		else if (holds)
			room = room && mark_goes(sampler, thread, marked);
		else if (!marked)
			thread->mark.role = HOLD_NONE;
	}
	if (!room)
		hold->late.goes_count = 0;
}
