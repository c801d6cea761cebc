/* SPDX-License-Identifier: MIT */
/* hold_late.c - when those that were let go really went on. */
#include "hold_late.h"

#include <math.h>
#include <string.h>

#include "sampler_state.h"

/* What is longer is the doing of others who want the CPU, or the thread has slept. */
#define LATE_MOST_NS 200000.0

/*
 * Between two ticks at which its CPU time was read a thread stood still while the first decided,
 * then for as long as it was held, then while the second stopped it.
 */
static void
add_late(struct sampler *sampler, const struct hold_mark *mark, uint64_t cpu_ns)
{
	const struct hold *hold = &sampler->hold;
	struct hold_late *late = &sampler->hold.late;
	double stood = (double)(late->read_ns - late->last_read_ns) -
		       (double)(cpu_ns - mark->cpu_ns);

	stood -= (double)(hold->from_ns - late->last_read_ns);
	stood -= (double)(late->read_ns - hold->asked_ns);
	if (mark->role == HOLD_HELD)
		stood -= hold->told_ns;
	if (fabs(stood) > LATE_MOST_NS)
		return;
	late->role[mark->role].sum_ns += stood;
	late->role[mark->role].count++;
}

static void
see(struct sampler *sampler, struct tracked *thread)
{
	struct hold_mark *mark = &thread->mark;
	struct sched now;

	if (watch_read_sched(&thread->watch, sampler->process, &now) != LOOK_OK)
		return;
	if (mark->role != HOLD_NONE && mark->tick + 1 == sampler->tick)
		add_late(sampler, mark, now.cpu_ns);
	*mark = (struct hold_mark){
		.role = HOLD_GOES, .tick = sampler->tick, .cpu_ns = now.cpu_ns,
	};
}

void
hold_late_see(struct sampler *sampler)
{
	const struct hold *hold = &sampler->hold;
	struct hold_late *late = &sampler->hold.late;

	memset(late->role, 0, sizeof(late->role));
	late->last_read_ns = late->read_ns;
	late->read_ns = clock_now_ns();
	for (size_t i = 0; i < hold->count && i < HOLD_MARKS; i++) {
		struct tracked *thread = thread_of_tid(sampler, hold->caught[i].tid);

		if (thread != NULL)
			see(sampler, thread);
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

		if (thread == NULL)
			continue;
		if (!thread->asleep || thread->sched.cpu_ns < thread->mark.cpu_ns)
			return told_ns;
		ran = (double)(thread->sched.cpu_ns - thread->mark.cpu_ns);
		used = ran > used ? ran : used;
	}
	return late->goes_count > 0 && used < told_ns ? used : told_ns;
}

void
hold_late_mark(struct sampler *sampler, bool holds)
{
	struct hold *hold = &sampler->hold;
	struct hold_late *late = &hold->late;
	bool all = true;

	late->goes_count = hold->others = 0;
	for (size_t i = 0; i < hold->count; i++) {
		const struct sampler_caught *caught = &hold->caught[i];
		struct tracked *thread = thread_of_tid(sampler, caught->tid);

		if (holds && !caught->goes_on) {
			hold->others++;
			if (thread != NULL)
				thread->mark.role = HOLD_HELD;
		} else if (holds) {
			all &= i < HOLD_MARKS;
			if (i < HOLD_MARKS)
				late->goes[late->goes_count++] = caught->tid;
		}
	}
	if (!all)
		late->goes_count = 0;
	/* Those that were held since an earlier tick have not run since. */
	for (size_t i = 0; !holds && hold->before > 0 && i < sampler->thread_count; i++) {
		struct tracked *thread = sampler->thread[i];

		if (thread->held && thread->mark.role == HOLD_HELD) {
			thread->mark.role = HOLD_GOES;
			thread->mark.tick = sampler->tick;
		}
	}
}
