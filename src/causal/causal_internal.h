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

struct plan {
	const struct causal_result *result; /* borrowed */
	struct rng rng;
	struct plan_item *item; /* the experiments of this round, in random order */
	size_t count, capacity;
	size_t at;     /* index of the next experiment of this round */
	size_t wanted; /* estimate of the number of all experiments */
	bool compared; /* the last experiment was at speed-up 0 */
	bool over;     /* all gains are known with the requested precision */
};

/* `seed` determines the order of experiments. */
void plan_init(struct plan *plan, const struct causal_result *result, uint64_t seed);
void plan_release(struct plan *plan);
/*
 * Returns the next experiment: at speed-up 0 if the last one was not, or if `may_hold` is false
 * because the bound of held time is reached. A round has one experiment for each gain that is not
 * known with the requested precision.
 */
struct plan_item plan_next(struct plan *plan, bool may_hold);

/* --- match.c: the candidates in a stack of the profile --------------------------------------- */

/* The caller sets the first three members, which are borrowed, and zeroes the others. */
struct match {
	const struct causal_result *result;
	const struct profile *profile;
	struct symbols *symbols;
	/* By frame number of the profile. */
	struct match_frame {
		uint64_t mask;  /* bit n: a function of the frame is candidate n */
		uint64_t inner; /* bit n: the innermost function of the frame is candidate n */
		bool queued;    /* the frame was queued; its masks are 0 until it is named */
	} * frame;
	size_t frames, frame_capacity;
	uint32_t *queue; /* numbers of the frames that are to be named */
	size_t queue_count, queue_capacity;
};

void match_release(struct match *match);
/*
 * Returns a mask in which bit n is set if candidate n is in the stack. A frame without a name
 * matches no candidate, and is queued for match_name_queued: reading a name may take as long as
 * reading a file, and threads are stopped.
 */
uint64_t match_stack(struct match *match, uint32_t stack);
/* Names the queued frames. */
void match_name_queued(struct match *match);

/* --- in_progress.c: mean number of events in progress over virtual time ---------------------- */

/*
 * A tick that finds the candidate running represents the time to the next tick: if the candidate
 * were faster by the speed-up, `part` of that time would not have passed. This part is left out of
 * the mean, with the number in progress at the tick. It is not the time in which other threads were
 * held: holds begin at the first tick of a burst of the candidate, and before that tick the other
 * threads ran, while the work of the burst was in progress. (With bursts of 12 ms and ticks of 5 ms
 * a fifth of the time remained at a speed-up of 100 %, where none should remain.)
 *
 * The remaining time may differ from the virtual time of the experiment: longer holds compensate
 * for what other threads run before the first tick of a burst, but not at 100 %, where holds cannot
 * be longer. The mean of the remaining time is therefore applied to all of the virtual time.
 */

/* The time from one tick to the next, and parts of it, in ns. */
struct in_progress_time {
	double passed;
	double part;     /* part of `passed` in which other threads were to be held, in [0, 1] */
	double stopped;  /* all threads were stopped, by the first tick */
	double standing; /* all threads were stopped, by the second tick */
	double idle;     /* other threads were held while the candidate waited for them */
};

/* Sums of an experiment from the time at which it begins to count, when they are zeroed. */
struct in_progress {
	double left_ns;                    /* time without what was left out */
	double sum_ns[CAUSAL_POINTS_MOST]; /* integrals of the number in progress over left_ns */
	double wall_ns;                    /* time with what was left out */
	double wall_sum_ns
		[CAUSAL_POINTS_MOST]; /* integrals of the number in progress over wall_ns */
};

/* Adds the numbers in progress of a point at both ends of `time`. in_progress_pass adds the time to
 * left_ns and wall_ns, once for all points. */
void in_progress_add(struct in_progress *to, size_t point, const struct in_progress_time *time,
		     double before, double now);
void in_progress_pass(struct in_progress *to, const struct in_progress_time *time);
/* Returns the integral of the number in progress over `virtual_ns`. It may be slightly below 0,
 * because ticks are samples. */
double in_progress_sum(const struct in_progress *from, size_t point, double virtual_ns);

#endif
