/* SPDX-License-Identifier: MIT */
/* causal_internal.h - the parts of a causal run: plan, candidates in stacks, time in progress. */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_INTERNAL_H
#define WALLSAMPLE_CAUSAL_CAUSAL_INTERNAL_H

#include "wallsample/base/base.h"
#include "wallsample/causal/causal.h"
#include "wallsample/profile/profile.h"
#include "wallsample/symbol/symbol.h"

/* --- plan.c: the order of experiments, every second one at speed-up 0 ------------------------ */

/* A candidate and a speed-up, by their indices in the result. */
struct plan_item {
	uint32_t candidate;
	uint32_t speedup;
};

/* Zeros before plan_init. */
struct plan {
	const struct causal_result *result; /* borrowed */
	struct rng rng;
	struct plan_item *item; /* of this round, in random order */
	size_t count, capacity, at;
	size_t wanted; /* estimated number of experiments */
	bool compared; /* the last experiment was at 0 */
	bool over;     /* all gains are known with the requested precision */
};

void plan_init(struct plan *plan, const struct causal_result *result, uint64_t seed);
void plan_release(struct plan *plan);
/*
 * The next experiment; at 0 unless `may_hold` (the bound of held time is not reached). A round has
 * the gains that are not known with the requested precision.
 */
struct plan_item plan_next(struct plan *plan, bool may_hold);

/* --- match.c: the candidates in a stack of the profile --------------------------------------- */

/* Zeros but for the first three, which are borrowed. */
struct match {
	const struct causal_result *result;
	const struct profile *profile;
	struct symbols *symbols;
	/* By frame number of the profile: bit n of `mask` is candidate n; of `inner`, candidate n
	 * by its innermost function only. */
	struct match_frame {
		uint64_t mask, inner;
		bool known, asked;
	} * frame;
	size_t frames, frame_capacity;
	uint32_t *asked; /* frames that have no name yet */
	size_t asked_count, asked_capacity;
	struct symbol *symbol;
};

void match_release(struct match *match);
/*
 * Bit n: candidate n is in the stack. A frame without a name matches no candidate, and is queued
 * for match_name_asked: reading a name may take as long as reading a file, and threads are stopped.
 */
uint64_t match_stack(struct match *match, uint32_t stack);
/* Names the queued frames. */
void match_name_asked(struct match *match);

/* --- in_progress.c: mean number of events in progress over virtual time ---------------------- */

/*
 * A tick that finds the candidate stands for the time to the next tick: if the candidate were that
 * much faster, `part` of that time would not have passed. It is left out, with the number in
 * progress at the tick. The time left out is not the time in which others were held: holds begin at
 * the first tick of a burst, and before that the others ran, while the work of the burst was in
 * progress. (With bursts of 12 ms and ticks of 5 ms a fifth of the time was left at 100 %, where
 * none should be.)
 *
 * The time that is left may differ from the virtual time of the experiment: longer holds make up
 * for what the others run before the first tick of a burst, but not at 100 %, which leaves no room.
 * Its mean number in progress is therefore applied to all of the virtual time.
 */

/* The time from one tick to the next, in ns. */
struct in_progress_time {
	double passed;
	double part;     /* of this time others were to be held, in [0, 1] */
	double stopped;  /* all threads were stopped after the first tick, */
	double standing; /* and for the second one */
	double idle;     /* others were held while the candidate was blocked on them */
};

/* Sums of a counted experiment; zeros at first. */
struct in_progress {
	double left_ns;                    /* time that was not left out */
	double sum_ns[CAUSAL_POINTS_MOST]; /* integral of the number in progress over it */
	double wall_ns;
	double wall_sum_ns[CAUSAL_POINTS_MOST];
};

/* Adds the numbers in progress at both ends of `time` for a point; in_progress_pass adds the time
 * itself, after all points. */
void in_progress_add(struct in_progress *to, size_t point, const struct in_progress_time *time,
		     double before, double now);
void in_progress_pass(struct in_progress *to, const struct in_progress_time *time);
/* The integral over `virtual_ns`. May be slightly below 0, because ticks are samples. */
double in_progress_sum(const struct in_progress *from, size_t point, double virtual_ns);

#endif
