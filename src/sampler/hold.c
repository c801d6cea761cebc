/* SPDX-License-Identifier: MIT */
/* hold.c - threads that somebody holds from one tick to the next. */
#include "sampler_state.h"
#include "wallsample/tracer_count.h"

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

/* The same for what it takes to wake; of what is more than this something else is the reason. */
#define WAKE_MEMORY 64.0
#define WAKE_MOST_NS (300.0 * (double)NS_PER_US)

/*
 * Who shares its CPU gets it for some 3 ms at a time, and a stop costs it the rest of that. At a
 * stop every few milliseconds it would hardly ever run: so it gets two such turns in between.
 */
#define SPARE_NS (6 * NS_PER_MS)

void
hold_spare(struct sampler *sampler, struct tracked *thread)
{
	if (hold_is_wanted(sampler))
		thread->spared_ns = clock_now_ns() + SPARE_NS;
}

bool
hold_spares(const struct sampler *sampler, const struct tracked *thread)
{
	return thread->spared_ns > sampler->pace.began_ns;
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
	sampler->hold.count = 0;
	sampler->hold.before = tracer_held(sampler->tracer);
	sampler->hold.asked_ns = clock_now_ns();
	learn_lag(sampler);
	sampler->hold.due_ns = sampler->pace.due_ns;
}

/*
 * Who is let go has to be woken, maybe on a CPU that has gone idle: tens of microseconds in a virtual
 * machine, in which it does not run, as if it still stood. Of one that went on at once and did
 * nothing but run until now that is what is left of the time when what it ran for, and what it is
 * known to have stood for, is taken off.
 */
static void
learn_wake(struct sampler *sampler, const struct tracked *thread, const struct sched *now)
{
	struct hold *hold = &sampler->hold;
	const struct sched *before = &thread->went_on;
	double rest;

	if (thread->went_on_tick + 1 != sampler->tick || now->switches != before->switches + 1)
		return;
	rest = (double)(hold->asked_ns - hold->stood_ns) - (double)hold->standing_ns -
	       (double)(now->cpu_ns - before->cpu_ns);
	rest = rest < WAKE_MOST_NS ? rest : WAKE_MOST_NS;
	hold->wake_ns += (rest - hold->wake_ns) / WAKE_MEMORY;
}

void
hold_add(struct sampler *sampler, struct tracked *thread, const struct sched *during)
{
	struct hold *hold = &sampler->hold;

	learn_wake(sampler, thread, during);
	thread->went_on = *during;
	hold->caught = xgrow(hold->caught, &hold->capacity, hold->count + 1,
			     sizeof(*hold->caught));
	hold->caught[hold->count++] = (struct sampler_caught){
		.tid = thread->watch.tid, .stack = thread->stack,
	};
}

/* So long they have stood by now, and those that go on will until they are awake. */
static uint64_t
standing(const struct hold *hold)
{
	const uint64_t until_now = clock_now_ns() - hold->asked_ns;

	if (hold->count + hold->before == 0 || hold->wake_ns <= 0)
		return until_now;
	return until_now + (uint64_t)hold->wake_ns;
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
	/* Those who were held really went on now; nobody did at until_ns. */
	if (tracer_held(sampler->tracer) > 0)
		until = now_ns;
	hold->on = false;
	control->released(control->context, until > hold->from_ns ? until - hold->from_ns : 0);
}

static void
let_all_go(struct sampler *sampler)
{
	tracer_let_all_go(sampler->tracer);
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

static uint64_t
part_of(double part, uint64_t from_ns, uint64_t until_ns)
{
	return until_ns > from_ns ? (uint64_t)(part * (double)(until_ns - from_ns)) : 0;
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

void
hold_decide(struct sampler *sampler)
{
	const struct sampler_control *control = sampler->config.control;
	struct hold *hold = &sampler->hold;
	const uint64_t due = hold->due_ns + (uint64_t)hold->lag_ns;
	const struct sampler_stand stand = {
		.caught = hold->caught,
		.count = hold->count,
		.held = hold->before,
		.missed = sampler->late_count,
		.standing_ns = standing(hold),
	};
	double part;

	hold->stood_ns = hold->asked_ns;
	hold->standing_ns = clock_now_ns() - hold->asked_ns;

	/* Those that were held until now were so until this tick began to stop the others. */
	end_count(sampler, hold->asked_ns);
	tell_counts(sampler);
	part = control->decide(control->context, &stand);
	if (part <= 0)
		let_all_go(sampler);
	for (size_t i = 0; i < hold->count; i++) {
		const bool goes_on = part <= 0 || hold->caught[i].goes_on;
		struct tracked *thread = thread_of_tid(sampler, hold->caught[i].tid);

		if (part > 0 && goes_on)
			tracer_let_go(sampler->tracer, hold->caught[i].tid);
		if (thread != NULL && goes_on)
			thread->went_on_tick = sampler->tick;
		else if (thread != NULL)
			thread->held = true;
	}
	if (part <= 0)
		return;
	/* Who waits for a CPU now may get one meanwhile. */
	tracer_keep_late(sampler->tracer);
	hold->on = true;
	hold->from_ns = clock_now_ns();
	hold->until_ns = UINT64_MAX;
	if (part < 1)
		hold->until_ns = hold->from_ns + part_of(part, hold->from_ns, due);
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
