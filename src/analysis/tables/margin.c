/* SPDX-License-Identifier: MIT */
/* margin.c - computes sampling errors. */
#include "wallsample/analysis/margin.h"

#include <math.h>

#include "wallsample/base/base.h"

/* 95 % of a normal distribution lie within Z standard deviations of its mean. */
#define Z 1.959964
/* Probability of a value further than Z standard deviations from the mean, on either side. */
#define OUTSIDE 0.05

/* Returns the number of independent ticks that a share of `whole_ns` has. */
static double
ticks_of(const struct profile *profile, enum weight weight, int64_t whole_ns)
{
	const double whole = (double)whole_ns;
	double sum = 0, squares = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(profile, p);
		const double factor = weight == WEIGHT_CPU ? (double)p : 1;

		sum += factor * (double)at->sampled_ns;
		squares += factor * factor * at->time_squares;
	}
	if (squares <= 0)
		return 0;
	return (whole < sum ? whole / sum : 1) * sum * sum / squares;
}

/* Returns the number of independent samples that have divided the CPU time of the profile; 0: not
 * known. */
static double
dividing_samples(const struct profile *profile, const struct run_division *division, double cpu_ns)
{
	const double deviation = sqrt(division->squares * (double)NS_PER_SEC) + division->borrowed;
	const double ns = (double)division->ns, scale = ns > 0 ? cpu_ns / ns : 0;
	const double ticks = ticks_of(profile, WEIGHT_CPU, INT64_MAX);
	const double samples = scale * (double)division->samples;

	if (scale <= 0 || deviation <= 0)
		return 0;
	return scale * ns * ns / deviation / deviation * (samples > ticks ? ticks / samples : 1);
}

double
margin_ticks(const struct profile *profile, const struct run_division *division, enum weight weight,
	     int64_t whole_ns)
{
	const double ticks = ticks_of(profile, weight, whole_ns);
	double running = 0, cpu = 0, samples;

	if (division == NULL)
		return ticks;
	for (size_t i = 0; i < profile_entry_count(profile); i++) {
		const struct profile_entry *entry = profile_entry(profile, i);

		if (entry->state != RUN_RUNNING)
			continue;
		running += (double)entry->ns[weight];
		cpu += (double)entry->ns[WEIGHT_CPU];
	}
	samples = dividing_samples(profile, division, cpu);
	if (samples <= 0 || running <= 0)
		return ticks;
	if (running < (double)whole_ns)
		samples = fmax(samples, 1);
	return fmin(ticks, (double)whole_ns / running * samples);
}

double
margin_deviations(double questions)
{
	const double outside = OUTSIDE / (questions > 1 ? questions : 1);
	double low = 0, high = 40;

	/* Bisection for the value at which erfc(value / sqrt(2)), which decreases, is `outside`. */
	for (int i = 0; i < 60; i++) {
		const double middle = (low + high) / 2;

		if (erfc(middle / M_SQRT2) > outside)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/*
 * Returns the distance from the mean to one end of its confidence interval: to the upper end if
 * `direction` is 1, to the lower end if it is -1. `z` is half the interval's width in standard
 * deviations.
 */
static double
distance(const struct margin_mean *of, double z, int direction)
{
	const double n = of->ticks, one = of->mean < 1 ? of->mean : 1;
	const double half = z * sqrt(of->deviation * of->deviation / n + z * z / (4 * n * n));
	/* The middle of Wilson's interval is nearer to 0.5 than the mean. */
	const double shift = direction * z * z / n * (0.5 - one);

	return (half + shift) / (1 + z * z / n);
}

double
margin_of_share(double share, double ticks)
{
	const double part = fmin(fmax(share, 0), 1);
	const struct margin_mean of = { part, sqrt(part * (1 - part)), ticks };

	return ticks > 0 ? distance(&of, Z, part <= 0.5 ? 1 : -1) : 1;
}

double
margin_of_change(const struct margin_mean *before, const struct margin_mean *after,
		 double deviations)
{
	const int direction = after->mean >= before->mean ? 1 : -1;

	if (before->ticks <= 0 || after->ticks <= 0)
		return HUGE_VAL;
	return hypot(distance(before, deviations, direction),
		     distance(after, deviations, -direction));
}
