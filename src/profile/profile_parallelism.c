/* SPDX-License-Identifier: MIT */
/* profile_parallelism.c - makes the distribution of the parallelism agree with the CPU time. */
#include <math.h>
#include <stdint.h>

#include "profile/profile_internal.h"

/* Bisection steps for the exponent: the result is exact to 40 / 2^STEPS. */
#define STEPS 60

/* Larger means are those of hostile recordings: each number of threads up to it has a row. */
#define PARALLELISM_MOST 65536

/* Sums over the rows, with the time of row k multiplied by exp(tilt * (k - last row)). */
struct tilted {
	double time, cpu;
};

static double
factor_of(const struct profile_sums *sums, size_t row, double tilt)
{
	return exp(tilt * ((double)row - (tilt > 0 ? (double)sums->parallelism_count - 1 : 0)));
}

static struct tilted
sum_tilted(const struct profile_sums *sums, double tilt)
{
	struct tilted sum = { 0, 0 };

	for (size_t k = 0; k < sums->parallelism_count; k++) {
		const double ns = (double)sums->parallelism[k].sampled_ns *
				  factor_of(sums, k, tilt);

		sum.time += ns;
		sum.cpu += ns * (double)k;
	}
	return sum;
}

static void
set_time(struct profile_parallelism *row, size_t parallelism, double ns)
{
	const double alone = row->time_ns > 0 ? (double)row->alone_ns / (double)row->time_ns :
						(parallelism <= 1 ? 1 : 0);

	row->time_ns = (uint64_t)llround(ns);
	row->cpu_ns = row->time_ns * parallelism;
	row->alone_ns = (uint64_t)llround(alone * ns);
}

/* Sets all rows to times whose mean parallelism is `mean`, between 0 and the last row. */
static void
set_mean(struct profile_sums *sums, double mean, double all_ns)
{
	double low = -20, high = 20;
	struct tilted sum;

	for (int i = 0; i < STEPS; i++) {
		const double middle = (low + high) / 2;

		sum = sum_tilted(sums, middle);
		if (sum.cpu < mean * sum.time)
			low = middle;
		else
			high = middle;
	}
	sum = sum_tilted(sums, low);
	for (size_t k = 0; k < sums->parallelism_count; k++)
		set_time(&sums->parallelism[k], k,
			 (double)sums->parallelism[k].sampled_ns * factor_of(sums, k, low) *
				 all_ns / sum.time);
}

/* Sets only the two rows next to `mean`: for a mean that no distribution over the rows has. */
static void
set_two(struct profile_sums *sums, double mean, double all_ns)
{
	const size_t below = (size_t)mean;
	const double part = mean - (double)below;

	(void)sums_parallelism(sums, below + 1);
	for (size_t k = 0; k < sums->parallelism_count; k++)
		set_time(&sums->parallelism[k], k,
			 k == below     ? (1 - part) * all_ns :
			 k == below + 1 ? part * all_ns :
					  0);
}

void
profile_calibrate_parallelism(struct profile *profile)
{
	struct profile_sums *sums = &profile->sums;
	double cpu_ns = 0, mean;
	size_t last = 0, first = SIZE_MAX;

	for (size_t i = 0; i < sums->entry_count; i++)
		cpu_ns += (double)sums->entry[i].ns[WEIGHT_CPU];
	for (size_t k = 0; k < sums->parallelism_count; k++) {
		if (sums->parallelism[k].sampled_ns == 0)
			continue;
		last = k;
		if (first == SIZE_MAX)
			first = k;
	}
	if (sums->wall_ns == 0 || cpu_ns < 0)
		return;
	mean = cpu_ns / (double)sums->wall_ns;
	if (mean > PARALLELISM_MOST)
		return;
	if (first != SIZE_MAX && mean > (double)first && mean < (double)last)
		set_mean(sums, mean, (double)sums->wall_ns);
	else if (mean != (double)last || first != last)
		set_two(sums, mean, (double)sums->wall_ns);
}
