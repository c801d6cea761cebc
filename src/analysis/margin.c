/* SPDX-License-Identifier: MIT */
/* margin.c - the sampling error of a share. */
#include "wallsample/margin.h"

#include <math.h>

#define Z 1.959964 /* 95 % of a normal distribution lie within so many standard deviations */

double
margin_ticks(const struct profile *profile, enum weight weight, int64_t whole_ns)
{
	const double whole = (double)whole_ns;
	double sum = 0, squares = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(profile, p);
		const double factor = weight == WEIGHT_OVERHEAD ? (double)p : 1;

		sum += factor * (double)at->time_ns;
		squares += factor * factor * at->time_squares;
	}
	if (squares <= 0)
		return 0;
	return (whole < sum ? whole / sum : 1) * sum * sum / squares;
}

double
margin_of_share(double share, double ticks)
{
	if (ticks <= 0)
		return 1;
	if (share < 0 || share > 1)
		share = share < 0 ? 0 : 1;
	return Z / (1 + Z * Z / ticks) *
	       sqrt(share * (1 - share) / ticks + Z * Z / (4 * ticks * ticks));
}
