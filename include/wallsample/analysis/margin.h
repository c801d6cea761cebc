/* SPDX-License-Identifier: MIT */
/*
 * margin.h - how far a share may be from the truth because only some moments were looked at.
 *
 * A share p of what n independent looks saw has the standard deviation sqrt(p (1 - p) / n).
 * Ticks do not all weigh the same, so that n ticks tell as much as
 *
 *     (sum of w)^2 / (sum of w^2)
 *
 * equal ones, w being what a tick adds to the whole: n of them at even intervals, a little less at
 * exponential ones, fewer where few ticks carry most of the weight, as of CPU time in a program
 * that rarely runs.
 *
 * What it is not: looks at several threads at one tick are taken for one look, which is right
 * if they do the same at the same time, and too careful otherwise. Whatever makes the sampler
 * see one thing rather than another (see wallsample-theory(7)) is not in it.
 */
#ifndef WALLSAMPLE_ANALYSIS_MARGIN_H
#define WALLSAMPLE_ANALYSIS_MARGIN_H

#include "wallsample/profile/profile.h"

/*
 * What the ticks of the profile are worth for shares of `whole_ns` of this weight; 0 without any.
 * Of less than the time that passed (for Overhead: the CPU time) that part of them: what a thread
 * does while it runs is told by the ticks at which it ran, what filters leave by those at which
 * something was left. These are never more, and fewer if several of the samples are of one tick.
 */
double margin_ticks(const struct profile *profile, enum weight weight, int64_t whole_ns);

/*
 * Half of the 95 % interval around a share in [0, 1], by Wilson's formula, which is near
 * 1.96 standard deviations and does not become 0 for a share of 0 or 1. 1 without ticks.
 */
double margin_of_share(double share, double ticks);

/* --- of the difference of two runs ------------------------------------------------------ */

/* A mean of so many looks, and the standard deviation of what one look sees. */
struct margin_mean {
	double mean; /* a share, or threads: what never has a deviation of its own, such as 0,
		      * is taken for what one thread does */
	double deviation;
	double ticks;
};

/*
 * How many standard deviations an interval spans to either side if it is to hold in 95 % of all
 * cases for each of so many questions at once, however they hang together (Bonferroni). 1.96
 * for one.
 */
double margin_deviations(double questions);

/*
 * How far the means of two independent runs may be apart by chance: sqrt(a^2 + b^2), a and b
 * being what lies between each mean and the end of its interval on the side of the other mean
 * (Newcombe 1998, method 10; the intervals are Wilson's). Infinite when one has no ticks.
 */
double margin_of_change(const struct margin_mean *before, const struct margin_mean *after,
			double deviations);

#endif
