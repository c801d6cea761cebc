/* SPDX-License-Identifier: MIT */
/*
 * plan_internal.h - which experiment comes next: every second one at 0, the others in random
 * order.
 */
#ifndef WALLSAMPLE_CAUSAL_PLAN_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PLAN_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/causal/causal.h"

/* A candidate at a speed-up, by their numbers in the result. */
struct plan_item {
	uint32_t candidate;
	uint32_t speedup;
};

struct plan {
	const struct causal_result *result; /* borrowed */
	struct rng rng;
	struct plan_item *item; /* of this round, in the order in which they come */
	size_t count, capacity, at;
	size_t wanted;          /* about how many experiments there will be */
	bool compared;          /* the last one was at 0 */
	bool over;              /* all gains are known well enough */
};

/* Begins as zeros. */
void plan_init(struct plan *plan, const struct causal_result *result, uint64_t seed);
void plan_release(struct plan *plan);
/*
 * The next one. `may_hold`: others were not held for too long yet; else it is at 0. Rounds are made
 * of what is not known well enough.
 */
struct plan_item plan_next(struct plan *plan, bool may_hold);

#endif
