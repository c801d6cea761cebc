/* SPDX-License-Identifier: MIT */
/*
 * causal_curve.h - from experiments to answers: how much further the program gets if a candidate
 * is faster, with 95 % intervals.
 *
 * Gain at s, of THROUGHPUT: (events / virtual time) at s, divided by the same at 0, less 1. Of
 * LATENCY: by how much the mean time from begin to end is shorter, as a part of that at 0. In both
 * more is better. Virtual time is wall_ns - held_ns.
 *
 * Experiments at 0 are compared with those around them, so that drift cancels: half of all are at
 * 0. Intervals are by bootstrap over experiments, and have some room for what is off in all of them
 * alike: a tick costs the target some 15 us that cannot be told from work. Only WHOLE experiments
 * count.
 */
#ifndef WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H
#define WALLSAMPLE_CAUSAL_CAUSAL_CURVE_H

#include "wallsample/causal/causal.h"

/* A gain is known from so many experiments on, each with progress, and as many at 0. */
#define CAUSAL_EXPERIMENTS_LEAST 3

struct causal_gain {
	double speedup;
	size_t experiments;      /* that were made at it */
	double events;           /* of the progress point, in all of them */
	bool known;              /* enough of both: the rest says something */
	double gain, low, high;  /* 0.18: 18 % more; the 95 % interval; 0 at speedup 0 */
};

/* X(NAME, word) */
#define CAUSAL_VERDICTS(X)                                                     \
	X(HELPS, "helps")     /* the interval of the slope is above 0 */       \
	X(NOTHING, "nothing") /* it has 0 in it, and is narrow: no gain is above the precision */ \
	X(HURTS, "hurts")     /* it is below 0: contention */                  \
	X(UNSURE, "unsure")   /* there is not enough data: it is not ranked */

enum causal_verdict {
#define X(name, word) CAUSAL_##name,
	CAUSAL_VERDICTS(X)
#undef X
};

const char *causal_verdict_word(enum causal_verdict verdict);

/* Of one candidate and one progress point. */
struct causal_curve {
	uint32_t candidate;
	uint32_t point;
	struct causal_gain gain[CAUSAL_SPEEDUPS_MOST]; /* one for each speed-up of the result */
	size_t gain_count;
	double slope, slope_low, slope_high; /* gain for a speed-up of 1, by weighted least squares
					      * through 0, and its 95 % interval */
	enum causal_verdict verdict;
	/* The gain to tell of in a sentence: of the largest speed-up up to 0.5 that is known, or
	 * else of the smallest. */
	size_t told;                         /* index in gain; 0: none is known */
};

struct causal_curves {
	struct causal_curve *curve; /* by point, then those that are known before the unsure, then
				     * by slope, the steepest first, then by candidate */
	size_t count;
	double rate[CAUSAL_POINTS_MOST];       /* of each point at speed-up 0: events a second */
	double latency_ns[CAUSAL_POINTS_MOST]; /* of LATENCY points at 0; else 0 */
};

/* `seed` of the bootstrap, so that the same result gives the same curves. */
void causal_curves_make(const struct causal_result *result, uint64_t seed,
			struct causal_curves *out);
void causal_curves_release(struct causal_curves *curves);

/*
 * How wide the interval of this gain still is, half of it, or INFINITY when it is not known: who
 * plans the next experiment asks this of each candidate and speed-up, for the first point. Cheaper
 * than causal_curves_make: no bootstrap but the delta method, for one gain, and nothing of what
 * more experiments do not make better.
 */
double causal_margin(const struct causal_result *result, uint32_t candidate, size_t speedup,
		     uint32_t point);

#endif
