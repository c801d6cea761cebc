/* SPDX-License-Identifier: MIT */
/*
 * causal_curve.h - estimates from experiments: how much the program gains by the speed-up of a
 * candidate, with 95 % confidence intervals.
 *
 * The gain of a THROUGHPUT point at speed-up s is the rate (events / virtual time) at s, divided by
 * the rate at 0, minus 1. The gain of a LATENCY point is 1 minus the quotient of the mean times
 * from begin to end at s and at 0. In both cases a higher gain is better. Virtual time is wall_ns -
 * held_ns, less 12 us a tick: a tick costs the target some time that cannot be distinguished from
 * work.
 *
 * At least half of all experiments are at speed-up 0. Each other experiment is compared with the
 * experiments at speed-up 0 that were made shortly before and after it. This cancels linear drift.
 * The confidence intervals are computed by bootstrap over experiments. The intervals are then
 * widened for two errors that all experiments share. The cost of a tick differs between machines,
 * by a standard deviation of 6 us. Ticks that are long compared with the target's bursts cause an
 * error with a standard deviation of 4 % of the gain if they are as long as a burst or longer, and
 * proportionally less if they are shorter. Only WHOLE experiments count.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H
#define WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H

#include "wallsample/causal/causal.h"

/* A gain is known only if at least this number of experiments at its speed-up had progress, and as
 * many at speed-up 0. */
#define CAUSAL_EXPERIMENTS_LEAST 3

struct causal_gain {
	double speedup;
	size_t experiments; /* number of WHOLE experiments at this speed-up */
	double events;      /* sum of the point's events in these experiments */
	/* Enough experiments had progress (CAUSAL_EXPERIMENTS_LEAST); else gain, low and high are
	 * 0. At speed-up 0 these three are always 0. */
	bool known;
	double gain, low, high; /* gain, with the ends of its 95 % interval; 0.18: 18 % better */
};

/* X(NAME, word): what a curve shows about its candidate. "Interval" is the 95 % interval of
 * causal_curve.slope. NOTHING: the interval contains 0 and is so narrow that a gain above the
 * precision is unlikely. UNSURE: none of the three others applies, because data are few or the
 * gains contradict each other; the candidate is listed last. */
#define CAUSAL_VERDICTS(X)                                                                         \
	X(HELPS, "helps") /* the interval is above 0 */                                            \
	X(NOTHING, "nothing")                                                                      \
	X(HURTS, "hurts")   /* the interval is below 0, for example because of contention */       \
	X(UNSURE, "unsure") /* none of the three */

enum causal_verdict {
#define X(name, word) CAUSAL_##name,
	CAUSAL_VERDICTS(X)
#undef X
};

/* Returns the virtual time of an experiment in ns, without the estimated cost of its ticks. */
double causal_virtual_ns(const struct causal_experiment *experiment);

const char *causal_verdict_word(enum causal_verdict verdict);

/* The curve of one candidate for one progress point. */
struct causal_curve {
	uint32_t candidate;
	uint32_t point;
	/* one for each element of causal_result.speedup */
	struct causal_gain gain[CAUSAL_SPEEDUPS_MOST];
	size_t gain_count;
	/* Gain per speed-up of 1, by weighted least squares through the origin, with the ends of
	 * its 95 % interval; all 0 if no gain is known. */
	double slope, slope_low, slope_high;
	enum causal_verdict verdict;
	/* Index in gain[] of the gain that a one-line summary shows: the known gain at the largest
	 * speed-up up to 0.5 or, if there is none, the known gain at the smallest speed-up; 0: no
	 * gain is known. */
	size_t shown;
};

struct causal_curves {
	struct causal_curve *curve; /* sorted by point, then UNSURE last, then by descending slope,
				     * then by candidate */
	size_t count;
	/* Events per second of virtual time at speed-up 0, for each point; 0: not known. */
	double rate[CAUSAL_POINTS_MOST];
	/* Mean virtual time from begin to end at speed-up 0, for each LATENCY point; 0: not known,
	 * or a THROUGHPUT point. */
	double latency_ns[CAUSAL_POINTS_MOST];
};

/* Computes all curves of the result; causal_curves_release frees them. `seed` starts the
 * bootstrap's random numbers: equal results and equal seeds give equal curves. */
void causal_curves_make(const struct causal_result *result, uint64_t seed,
			struct causal_curves *out);
void causal_curves_release(struct causal_curves *curves);

/*
 * Returns half the width of the 95 % interval of a candidate's gain at result->speedup[speedup] for
 * one progress point; INFINITY when the gain is not known, 0 for speed-up 0. The run repeats the
 * experiments of a gain until this margin is small enough. The interval is computed by the delta
 * method, which takes less time than the bootstrap of causal_curves_make. The interval does not
 * contain the two errors that all experiments share, because more experiments do not reduce them.
 */
double causal_margin(const struct causal_result *result, uint32_t candidate, size_t speedup,
		     uint32_t point);

#endif
