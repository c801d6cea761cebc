/* SPDX-License-Identifier: MIT */
/* plan.c - chooses the next experiment. */
#include "causal/causal_internal.h"

#include <stdlib.h>

#include "wallsample/causal/causal_curve.h"

/* Estimated number of further experiments for a gain, used as long as the gain is not known. */
#define ROUNDS_GUESSED 6

/* A gain has the requested precision only after at least this number of experiments: fewer may
 * agree by chance. */
#define EXPERIMENTS_ENOUGH 4
/* A gain is abandoned after this number of experiments if none of them was WHOLE. */
#define FAILURES_ENOUGH 3

void
plan_init(struct plan *plan, const struct causal_result *result, uint64_t seed)
{
	*plan = (struct plan){ .result = result };
	rng_seed(&plan->rng, seed);
	plan->wanted = 2 * ROUNDS_GUESSED * result->candidate_count *
		       (result->speedup_count > 0 ? result->speedup_count - 1 : 0);
}

void
plan_release(struct plan *plan)
{
	free(plan->item);
}

static void
shuffle(struct plan *plan)
{
	for (size_t i = plan->count; i > 1; i--) {
		size_t other = rng_next(&plan->rng) % i;
		struct plan_item item = plan->item[i - 1];

		plan->item[i - 1] = plan->item[other];
		plan->item[other] = item;
	}
}

/*
 * Estimates the number of further experiments until the margin (half the width of the gain's
 * interval) is within the precision. The margin is proportional to 1 / sqrt(number of experiments).
 */
static double
experiments_left(const struct causal_result *result, double margin, size_t done)
{
	const double times = margin / result->precision;

	if (margin > 1e9 || done == 0)
		return ROUNDS_GUESSED;
	if (times < 1.0)
		return 1;
	return (double)done * (times * times - 1.0);
}

/* Returns the number of experiments with this candidate at this speed-up; stores in *whole how many
 * of them are WHOLE. */
static size_t
count_done(const struct causal_result *result, uint32_t candidate, double speedup, size_t *whole)
{
	size_t done = 0;

	*whole = 0;
	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *experiment = &result->experiment[i];

		if (experiment->candidate != candidate || experiment->speedup != speedup)
			continue;
		*whole += experiment->end == CAUSAL_WHOLE;
		done++;
	}
	return done;
}

/* Begins a round: one experiment for each gain of the first progress point that does not have the
 * requested precision and is not abandoned. Sets plan->over if there is no such gain. */
static void
begin_round(struct plan *plan)
{
	const struct causal_result *result = plan->result;
	double left = 0;

	plan->count = plan->at = 0;
	for (uint32_t candidate = 0; candidate < result->candidate_count; candidate++) {
		for (uint32_t i = 1; i < result->speedup_count; i++) {
			const double margin = causal_margin(result, candidate, i, 0);
			size_t whole;
			const size_t done = count_done(result, candidate, result->speedup[i],
						       &whole);

			if ((margin <= result->precision && done >= EXPERIMENTS_ENOUGH) ||
			    (whole == 0 && done >= FAILURES_ENOUGH))
				continue;
			left += experiments_left(result, margin, done);
			plan->item = xgrow(plan->item, &plan->capacity, plan->count + 1,
					   sizeof(*plan->item));
			plan->item[plan->count++] = (struct plan_item){ .candidate = candidate,
									.speedup = i };
		}
	}
	plan->wanted = result->experiment_count + 2 * (size_t)(left + 0.5);
	plan->over = plan->count == 0;
	shuffle(plan);
}

struct plan_item
plan_next(struct plan *plan, bool may_hold)
{
	struct plan_item item = { .candidate = 0 };

	if (plan->at == plan->count)
		begin_round(plan);
	if (plan->over)
		return item;
	item = plan->item[plan->at];
	plan->compared = !plan->compared || !may_hold;
	/* An experiment at speed-up 0 keeps the candidate of the experiment after it: its ticks
	 * search stacks for this candidate, too, and so cost the target as much time. */
	if (plan->compared)
		item.speedup = 0;
	else
		plan->at++;
	return item;
}
