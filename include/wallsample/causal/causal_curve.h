/* SPDX-License-Identifier: MIT */
/*
 * causal_curve.h - estimates from experiments: the gain of the program by the speed-up of a
 * candidate, with 95 % confidence intervals.
 *
 * Gain at speed-up s of a THROUGHPUT point: the rate (events / virtual time) at s, divided by the
 * rate at 0, minus 1. Of a LATENCY point: 1 minus the mean time from begin to end at s, divided by
 * that at 0. In both cases more is better. Virtual time is wall_ns - held_ns.
 *
 * Each experiment is compared with experiments at 0 before and after it, so that drift cancels:
 * half of all experiments are at 0. Intervals are by bootstrap over experiments. They also contain
 * an error common to all experiments: a tick costs the target some 15 us that cannot be
 * distinguished from work. Only WHOLE experiments count.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H
#define WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H

#include "wallsample/causal/causal.h"

/* Number of experiments with progress that a gain needs, at its speed-up and at 0 each. */
#define CAUSAL_EXPERIMENTS_LEAST 3

struct causal_gain {
	double speedup;
	size_t experiments;     /* number of experiments at this speed-up */
	double events;          /* sum of the point's events in these experiments */
	bool known;             /* there are enough experiments; else gain, low and high are 0 */
	double gain, low, high; /* 0.18: 18 % more; low and high end of the 95 % interval */
};

/* X(NAME, word) */
#define CAUSAL_VERDICTS(X)                                                                         \
	X(HELPS, "helps")     /* the interval of the slope is above 0 */                           \
	X(NOTHING, "nothing") /* that interval contains 0, no gain exceeds the precision */        \
	X(HURTS, "hurts")     /* the interval of the slope is below 0: contention */               \
	X(UNSURE, "unsure")   /* not enough data: the candidate is not ranked */

enum causal_verdict {
#define X(name, word) CAUSAL_##name,
	CAUSAL_VERDICTS(X)
#undef X
};

const char *causal_verdict_word(enum causal_verdict verdict);

/* The curve of one candidate for one progress point. */
struct causal_curve {
	uint32_t candidate;
	uint32_t point;
	struct causal_gain gain[CAUSAL_SPEEDUPS_MOST]; /* one for each speed-up of the result */
	size_t gain_count;
	double slope, slope_low, slope_high; /* gain per speed-up of 1: weighted least squares
					      * through the origin, and its 95 % interval */
	enum causal_verdict verdict;
	/* Index in gain[] of the gain that a one-line summary shows: that of the largest known
	 * speed-up up to 0.5, or else of the smallest known one; 0: none is known. */
	size_t shown;
};

struct causal_curves {
	struct causal_curve *curve; /* sorted by point, then UNSURE last, then by descending slope,
				     * then by candidate */
	size_t count;
	double rate[CAUSAL_POINTS_MOST];       /* events per second of each point at speed-up 0 */
	double latency_ns[CAUSAL_POINTS_MOST]; /* mean time of LATENCY points at speed-up 0 */
};

/* Makes all curves of the result; to be released. `seed` starts the bootstrap's random numbers: a
 * result and a seed always give the same curves. */
void causal_curves_make(const struct causal_result *result, uint64_t seed,
			struct causal_curves *out);
void causal_curves_release(struct causal_curves *curves);

/*
 * Returns half the width of the 95 % interval of one gain, or INFINITY when the gain is not known.
 * `speedup` is an index of the result. Used to plan the next experiment: cheaper than
 * causal_curves_make, because it uses the delta method in place of the bootstrap, and without the
 * error that more experiments do not reduce.
 */
double causal_margin(const struct causal_result *result, uint32_t candidate, size_t speedup,
		     uint32_t point);

#endif
