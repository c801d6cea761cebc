/* SPDX-License-Identifier: MIT */
/* in_progress.c - the mean number of events in progress over the virtual time of an experiment. */
#include "causal/causal_internal.h"

/*
 * Least remaining time (in_progress.left_ns), as a share of the virtual time, for which the mean
 * over the remaining time is used. If the candidate runs nearly always, less time remains, and
 * chance decides which moments belong to it: then the mean over the whole time is used.
 */
#define LEFT_LEAST 0.25

/* Returns the part of the interval, in ns, that is omitted because the candidate would be faster; 0
 * if the tick at its beginning did not find the candidate running. */
static double
left_out(const struct in_progress_time *time)
{
	return time->part * (time->passed - time->stopped - time->standing);
}

void
in_progress_add(struct in_progress *to, size_t point, const struct in_progress_time *time,
		double before, double now)
{
	/* The number in progress is taken as `before` in the first half of the interval, as `now`
	 * in the second. */
	const double sum = 0.5 * (before + now) * time->passed;

	to->wall_sum_ns[point] += sum;
	to->sum_ns[point] += sum - before * (left_out(time) + time->stopped) -
			     now * (time->standing + time->idle);
}

void
in_progress_pass(struct in_progress *to, const struct in_progress_time *time)
{
	to->wall_ns += time->passed;
	to->left_ns += time->passed - left_out(time) - time->stopped - time->standing - time->idle;
}

double
in_progress_sum(const struct in_progress *from, size_t point, double virtual_ns)
{
	double mean = 0;

	if (from->left_ns > LEFT_LEAST * virtual_ns)
		mean = from->sum_ns[point] / from->left_ns;
	else if (from->wall_ns > 0)
		mean = from->wall_sum_ns[point] / from->wall_ns;
	return mean * virtual_ns;
}
