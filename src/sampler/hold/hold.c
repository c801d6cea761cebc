/* SPDX-License-Identifier: MIT */
/* hold.c - threads that somebody holds from one tick to the next. */
#include <math.h>

#include "sampler/pipeline_internal.h"
#include "wallsample/tracer/tracer_count.h"

void
hold_release(struct hold *hold)
{
	free(hold->caught);
	*hold = (struct hold){ .on = false };
}

/* What the next tick is expected to be late by is the mean of about so many before it, */
#define LAG_MEMORY 16.0
/* none of which counts for more than this part of the time between two. */
#define LAG_MOST 0.5

/* What is made up for at one tick is at most this part of the time between two. */
#define OWED_MOST 0.5

/*
 * Who shares its CPU gets it for some 3 ms at a time, and a stop costs it the rest of that. At a
 * stop every millisecond or two it would hardly ever run: so it gets one such turn in between. More
 * would be missed at the usual ticks: with two, of a pipeline of three threads that now and then
 * want the same CPU, the gain of the slowest was 73 to 77 % where it is 67.
 */
#define SPARE_NS (3 * NS_PER_MS)

void
hold_spare(struct sampler *sampler, struct tracked *thread)
{
	if (hold_is_wanted(sampler))
		thread->spared_ns = clock_now_ns() + SPARE_NS;
}

bool
hold_spares(struct sampler *sampler, const struct tracked *thread)
{
	const bool spares = thread->spared_ns > sampler->pace.began_ns;

	sampler->hold.spared += spares;
	return spares;
}

bool
hold_is_wanted(const struct sampler *sampler)
{
	return sampler->config.control != NULL && sampler->tracer != NULL;
}

/*
 * A tick comes when it is due, then has to wake, and to look at everybody, until it stops the
 * first: 2 % of 5 ms, for which those who are held would go free.
 */
static void
learn_lag(struct sampler *sampler)
{
	struct hold *hold = &sampler->hold;
	const double most = LAG_MOST * (double)NS_PER_SEC / sampler->pace.wanted_hz;
	double lag;

	if (hold->due_ns == 0 || hold->asked_ns < hold->due_ns)
		return;
	lag = (double)(hold->asked_ns - hold->due_ns);
	hold->lag_ns += ((lag < most ? lag : most) - hold->lag_ns) / LAG_MEMORY;
}

void
hold_begin(struct sampler *sampler)
{
	/* One that has stopped late may have been killed since. */
	sampler->hold.before = tracer_held_count(sampler->tracer);
	sampler->hold.before -= sampler->hold.count < sampler->hold.before ?
					sampler->hold.count : sampler->hold.before;
	sampler->hold.asked_ns = clock_now_ns();
	learn_lag(sampler);
	sampler->hold.due_ns = sampler->pace.due_ns;
}

void
hold_add(struct sampler *sampler, const struct tracked *thread)
{
	struct hold *hold = &sampler->hold;

	hold->caught = xgrow(hold->caught, &hold->capacity, hold->count + 1,
			     sizeof(*hold->caught));
	hold->caught[hold->count++] = (struct sampler_caught){
		.tid = thread->watch.tid, .stack = thread->stack,
	};
}

void
hold_add_late(struct sampler *sampler, struct tracked *thread)
{
	if (!hold_is_wanted(sampler) || !tracer_is_held(sampler->tracer, thread->watch.tid))
		return;
	thread->held = true;
	hold_add(sampler, thread);
}

/* The time that was counted is told, and ends. */
static void
end_count(struct sampler *sampler, uint64_t now_ns)
{
	const struct sampler_control *control = sampler->config.control;
	struct hold *hold = &sampler->hold;
	uint64_t until = hold->until_ns < now_ns ? hold->until_ns : now_ns;

	if (!hold->on)
		return;
	/* Those who were held really go on now; nobody did at until_ns. */
	if (tracer_held_count(sampler->tracer) > 0)
		until = now_ns;
	hold->on = false;
	until = until > hold->from_ns ? until - hold->from_ns : 0;
	hold->told_ns = (double)until;
	control->held(control->context, (int64_t)until);
}

static void
let_all_go(struct sampler *sampler)
{
	tracer_release_all_held(sampler->tracer);
	for (size_t i = 0; i < sampler->thread_count; i++)
		sampler->thread[i]->held = false;
}

void
hold_end(struct sampler *sampler)
{
	const uint64_t now = clock_now_ns();

	if (!hold_is_wanted(sampler))
		return;
	end_count(sampler, now);
	let_all_go(sampler);
}

/* All stood still until the others went on. */
static void
tell_late(struct sampler *sampler)
{
	const struct sampler_control *control = sampler->config.control;
	const struct hold *hold = &sampler->hold;
	double more = 0;

	if (hold->part <= 0)
		more = hold_late_mean(&hold->late, HOLD_GOES);
	else if (hold->part < 1 && hold->others > 0)
		more = hold_late_mean(&hold->late, HOLD_HELD);
	if (more != 0)
		control->held(control->context, (int64_t)more);
}

double
hold_owe(double owed_ns, double part, double length_ns, double held_ns, double most_ns)
{
	owed_ns += part * length_ns - held_ns;
	if (owed_ns > most_ns)
		return most_ns;
	return owed_ns < -most_ns ? -most_ns : owed_ns;
}

/*
 * The time to the next tick was guessed; now it is known, and so is when each really went on, or
 * fell asleep. What the others were held too short, or too long, is made up for at this tick,
 * so that in the sum it is that part of the time.
 */
static void
learn_owed(struct sampler *sampler, double used_ns)
{
	struct hold *hold = &sampler->hold;
	const double most = OWED_MOST * (double)NS_PER_SEC / sampler->pace.wanted_hz;
	const double goes = hold_late_mean(&hold->late, HOLD_GOES);
	const double late = hold->others > 0 ? hold_late_mean(&hold->late, HOLD_HELD) : 0;

	if (hold->part > 0 && hold->part < 1)
		hold->owed_ns = hold_owe(hold->owed_ns, hold->part,
					 (double)(hold->asked_ns - hold->from_ns) - goes,
					 used_ns + late - goes,
					 most);
}

static uint64_t
end_of_part(const struct hold *hold, double part)
{
	const double due = (double)hold->due_ns + hold->lag_ns - (double)hold->from_ns;
	const double length = part * due + hold->owed_ns;

	return hold->from_ns + (length > 0 ? (uint64_t)length : 0);
}

static void
tell_counts(struct sampler *sampler)
{
	const struct sampler_control *control = sampler->config.control;
	uint64_t total[TRACER_COUNT_MOST];

	if (control->addresses == 0)
		return;
	tracer_counts(sampler->tracer, total);
	control->counted(control->context, total, control->addresses);
}

/*
 * Those that were caught go on at once, but those that are to be held. Returns when they did, on
 * average: one that has our CPU then may keep it for milliseconds (priority.h), where that cannot
 * be helped, and the next ones wait for us.
 */
static uint64_t
let_go(struct sampler *sampler, bool holds)
{
	const struct hold *hold = &sampler->hold;
	const uint64_t began = clock_now_ns();
	uint64_t sum = 0, count = 0;

	for (size_t i = 0; i < hold->count; i++) {
		const struct sampler_caught *caught = &hold->caught[i];
		struct tracked *thread = thread_of_tid(sampler, caught->tid);
		const bool goes_on = !holds || caught->goes_on;

		if (thread != NULL)
			thread->held = !goes_on;
		if (!goes_on)
			continue;
		sum += clock_now_ns() - began;
		count++;
		tracer_release_held(sampler->tracer, caught->tid);
	}
	return began + (count > 0 ? sum / count : 0);
}

void
hold_decide(struct sampler *sampler)
{
	const struct sampler_control *control = sampler->config.control;
	struct hold *hold = &sampler->hold;
	struct sampler_stand stand = {
		.caught = hold->caught,
		.count = hold->count,
		.held = hold->before,
		.missed = sampler->late_count + hold->spared,
	};
	double part, used;
	uint64_t now;

	/* Those that were held until now were so until this tick began to stop the others. */
	end_count(sampler, hold->asked_ns);
	hold_late_see(sampler);
	tell_late(sampler);
	used = hold_late_used(sampler, hold->told_ns);
	learn_owed(sampler, used);
	stand.stopped_ns = hold->decided_ns +
			   (uint64_t)fmax(0, hold_late_mean(&hold->late, HOLD_GOES));
	stand.idle_ns = (uint64_t)(hold->told_ns - used);
	tell_counts(sampler);
	stand.standing_ns = clock_now_ns() - hold->asked_ns;
	part = control->decide(control->context, &stand);
	hold->part = part;
	hold->told_ns = 0;
	hold_late_mark(sampler, part > 0);
	/* From here until there is much to do (sampler_leave): who gives it back before it sleeps
	 * has no CPU for the next 3 ms, either, and would be late for the next tick. */
	priority_urgent(&sampler->priority, true);
	now = let_go(sampler, part > 0);
	if (part <= 0)
		let_all_go(sampler);
	hold->count = hold->spared = 0;
	/* To decide takes its time, too. */
	hold->decided_ns = now - hold->asked_ns - stand.standing_ns;
	control->held(control->context, (int64_t)hold->decided_ns);
	hold->from_ns = now;
	if (part <= 0)
		return;
	/* Who waits for a CPU now may get one meanwhile. */
	tracer_hold_late(sampler->tracer);
	hold->on = true;
	hold->until_ns = part < 1 ? end_of_part(hold, part) : UINT64_MAX;
}

uint64_t
hold_due(const struct sampler *sampler)
{
	return sampler->hold.on ? sampler->hold.until_ns : UINT64_MAX;
}

void
hold_serve(struct sampler *sampler, uint64_t now_ns)
{
	if (now_ns >= hold_due(sampler))
		hold_end(sampler);
}
