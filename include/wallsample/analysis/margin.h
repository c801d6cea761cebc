/* SPDX-License-Identifier: MIT */
/*
 * margin.h - the sampling error of a share.
 *
 * A share p estimated from n independent samples has the standard deviation sqrt(p (1 - p) / n).
 * Ticks have different weights, so n ticks are worth
 *
 *     (sum of w)^2 / (sum of w^2)
 *
 * ticks of equal weight. w is the weight that a tick adds to the whole. The result is n for ticks
 * at even intervals. It is only a little less for ticks at exponential intervals, because their
 * weights vary much less than the intervals (pace_weigh() in pace.c). It is still less if few ticks
 * carry most of the weight, as with CPU time in a program that rarely runs.
 *
 * The CPU time of each thread is known (src/sampler/weights/weights_internal.h), but its division
 * among stacks is a result of the samples of the running thread, of which each gets a part w
 * (struct run_division, run_stats.h). They are fewer than the ticks if the sampler had no CPU, and
 * unequal if only some are exact. A share then has the margin of the part that is known worst: with
 * n samples that divide the CPU time C, a sample is worth C / n, and a time T has at most T n / C
 * independent samples. If T is more than C, n counts as at least 1: even if less than one sample
 * has divided C, the part of T that a function has is wrong by at most C.
 *
 * Limits: samples of several threads at one tick count as one sample. This is exact if the threads
 * do the same at the same time, and makes the error too large otherwise. Bias of the sampler (see
 * wallsample-theory(7)) is not included.
 */
#ifndef WALLSAMPLE_ANALYSIS_MARGIN_H
#define WALLSAMPLE_ANALYSIS_MARGIN_H

#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"

/*
 * Returns the number of independent samples from which a share is estimated. `whole_ns` is the time
 * that is 100 %, a sum of `weight` over samples. The number is that of the formula above for all
 * ticks of the profile; 0 without ticks. If `whole_ns` is less than the elapsed time (for CPU:
 * than the CPU time), the number is reduced in proportion: a share of running time is sampled only
 * by ticks at which a thread ran, a share of filtered time only by ticks with a selected sample.
 * The result is then an upper bound, because one tick may have several of these samples. It is at
 * most the number that follows from `division`, unless that is NULL or its time is 0.
 */
double margin_ticks(const struct profile *profile, const struct run_division *division,
		    enum weight weight, int64_t whole_ns);

/*
 * Returns the distance of a share in [0, 1] from the farther end of its 95 % confidence interval by
 * Wilson's formula: the end on the side of 0.5. `ticks` is the number of independent samples, as
 * from margin_ticks(). For many samples the result is 1.96 standard deviations; it is above 0 even
 * for a share of 0 or 1. It is 1 if `ticks` is 0.
 */
double margin_of_share(double share, double ticks);

/* --- of the difference of two runs ------------------------------------------------------ */

/* The mean of `ticks` samples, and the standard deviation of one sample. */
struct margin_mean {
	double mean; /* a share, or a number of threads */
	double deviation;
	double ticks;
};

/*
 * Returns the number of standard deviations that an interval must span to either side so that the
 * intervals of `questions` simultaneous tests all hold in 95 % of cases, whatever the correlation
 * of the tests (Bonferroni). 1.96 for one test.
 */
double margin_deviations(double questions);

/*
 * Returns the margin of error of the difference of two independent means: sqrt(a^2 + b^2). a and b
 * are the distances from each mean to the end of its interval on the side of the other mean
 * (Newcombe 1998, method 10). The intervals are Wilson's and span `deviations` standard deviations
 * to either side (margin_deviations()). Infinite if either mean has no ticks.
 */
double margin_of_change(const struct margin_mean *before, const struct margin_mean *after,
			double deviations);

#endif
