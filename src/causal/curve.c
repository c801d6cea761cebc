/* SPDX-License-Identifier: MIT */
/*
 * curve.c - gains, slopes and verdicts, with bootstrap percentile intervals (Efron and Tibshirani,
 * An Introduction to the Bootstrap, 1993, chapter 13).
 *
 * A resample draws experiments with replacement: for each candidate and speed-up, and at speed-up
 * 0, as many as there were. It repeats the whole estimate from the drawn experiments, so that the
 * error of the experiments at speed-up 0 is common to all candidates. The interval lies between the
 * 2.5 % and 97.5 % percentiles of the resamples (RESAMPLES). With few experiments this interval is
 * too narrow: with n experiments (three, for example) the variance of resamples is too low by the
 * factor (n - 1) / n, and nominal 95 % intervals covered the true value in 75 to 88 % of cases.
 * Therefore each side is stretched until the interval is as wide as that of Student's t
 * distribution, with the standard deviation and the degrees of freedom of the delta method
 * (curve_fit.c). From some 20 experiments on, stretching has hardly any effect. An interval is
 * never made narrower than that of the percentiles.
 *
 * Resamples do not show errors that all experiments share (fit_shared_deviation, curve_fit.c). Each
 * interval is therefore widened by their standard deviation, as if they were independent of the
 * other errors.
 */
#include "wallsample/causal/causal_curve.h"

#include <math.h>
#include <string.h>

#include "causal/curve_fit_internal.h"
#include "wallsample/base/base.h"

/* Number of resamples, if there are not more than RUNS_AT_ONCE experiments at speed-ups above 0.
 * With more experiments fewer resamples are made, but at least RESAMPLES_LEAST. */
#define RESAMPLES 1000
#define RESAMPLES_LEAST 200
#define RUNS_AT_ONCE 5000
#define OUTSIDE 0.025 /* share of the resamples beyond each end of an interval */
#define NORMAL 1.960  /* the 97.5 % quantile of the normal distribution */
/* The largest speed-up in one-line summaries: a larger one is rarely achieved. */
#define SHOWN_MOST 0.5

static const char *const verdict_words[] = {
#define X(name, word) [CAUSAL_##name] = word,
	CAUSAL_VERDICTS(X)
#undef X
};

const char *
causal_verdict_word(enum causal_verdict verdict)
{
	return verdict_words[verdict];
}

/* --- the bootstrap -------------------------------------------------------------------------- */

struct bootstrap {
	size_t count; /* number of resamples */
	/* Ratio of each cell (curve_fit_internal.h) in each resample: [cell * count + resample]. */
	double *ratio;
	double *sample; /* scratch: the `count` values from which one interval is made */
	double *times;  /* scratch: how often a resample drew each experiment at speed-up 0 */
	/* Scratch: in a resample, expected value of each experiment above speed-up 0. */
	double *expected;
};

static size_t
draw_index(struct rng *rng, size_t below)
{
	return (size_t)((rng_next(rng) >> 32) * (uint64_t)below >> 32);
}

static double
draw_ratio(const struct fit *fit, const struct fit_cell *cell, const double *expected,
	   struct rng *rng)
{
	double value = 0, wanted = 0;

	for (size_t i = 0; i < cell->count; i++) {
		const size_t run = cell->first + draw_index(rng, cell->count);

		value += fit->run[run].value;
		wanted += expected[run];
	}
	return wanted > 0 ? value / wanted : cell->ratio;
}

static void
bootstrap_init(struct bootstrap *boot, const struct fit *fit, struct rng *rng)
{
	boot->count = fit->run_count <= RUNS_AT_ONCE ? RESAMPLES :
						       RESAMPLES * RUNS_AT_ONCE / fit->run_count;
	if (boot->count < RESAMPLES_LEAST)
		boot->count = RESAMPLES_LEAST;
	boot->ratio = xcalloc(fit->cell_count * boot->count + 1, sizeof(*boot->ratio));
	boot->sample = xcalloc(boot->count, sizeof(*boot->sample));
	boot->times = xcalloc(fit->zero_count + 1, sizeof(*boot->times));
	boot->expected = xcalloc(fit->run_count + 1, sizeof(*boot->expected));
	for (size_t b = 0; b < boot->count; b++) {
		memset(boot->times, 0, fit->zero_count * sizeof(*boot->times));
		for (size_t i = 0; i < fit->zero_count; i++)
			boot->times[draw_index(rng, fit->zero_count)]++;
		for (size_t i = 0; i < fit->run_count; i++)
			boot->expected[i] = fit_expected(fit, &fit->run[i], boot->times);
		for (size_t c = 0; c < fit->cell_count; c++) {
			if (fit->cell[c].known)
				boot->ratio[c * boot->count + b] = draw_ratio(fit, &fit->cell[c],
									      boot->expected, rng);
		}
	}
}

static void
bootstrap_release(struct bootstrap *boot)
{
	free(boot->ratio);
	free(boot->sample);
	free(boot->times);
	free(boot->expected);
}

static int
compare_doubles(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Computes the 95 % interval around `middle` from boot->sample, which it sorts. `half` is half the
 * width of the interval by Student's t. */
static void
make_interval(struct bootstrap *boot, double middle, double half, double *low, double *high)
{
	const size_t outside = (size_t)(OUTSIDE * (double)boot->count);
	double sum = 0, squares = 0, deviation, stretch;

	qsort(boot->sample, boot->count, sizeof(*boot->sample), compare_doubles);
	for (size_t b = 0; b < boot->count; b++) {
		sum += boot->sample[b] - middle;
		squares += (boot->sample[b] - middle) * (boot->sample[b] - middle);
	}
	sum /= (double)boot->count;
	deviation = sqrt(fmax(0, squares / (double)boot->count - sum * sum));
	*low = middle - half;
	*high = middle + half;
	/* If all experiments had equal counts, all resamples are equal, and there are no
	 * percentiles to stretch: the interval by Student's t remains. */
	if (NORMAL * deviation < half / 1000)
		return;
	stretch = fmax(1, half / (NORMAL * deviation));
	*low = fmin(middle, middle + stretch * (boot->sample[outside] - middle));
	*high = fmax(middle, middle + stretch * (boot->sample[boot->count - 1 - outside] - middle));
}

/* --- one curve ------------------------------------------------------------------------------ */

static double
student_half(const struct fit *fit, uint32_t candidate, const double *weight)
{
	double freedom;
	const double deviation = fit_deviation(fit, candidate, weight, &freedom);

	return deviation * fit_student(freedom);
}

/* Widens the interval around `middle` by an independent error with this standard deviation. */
static void
widen(double middle, double deviation, double *low, double *high)
{
	*low = middle - hypot(middle - *low, NORMAL * deviation);
	*high = middle + hypot(*high - middle, NORMAL * deviation);
}

static void
make_gain(const struct fit *fit, struct bootstrap *boot, uint32_t candidate, size_t speedup,
	  struct causal_gain *out)
{
	const size_t c = candidate * fit->speedup_count + speedup;
	const struct fit_cell *cell = speedup == 0 ? &fit->at_zero : &fit->cell[c];
	double weight[CAUSAL_SPEEDUPS_MOST] = { 0 };

	out->experiments = cell->count;
	out->events = cell->events;
	out->known = cell->known;
	if (speedup == 0 || !cell->known)
		return;
	weight[speedup] = 1;
	for (size_t b = 0; b < boot->count; b++)
		boot->sample[b] = fit_gain(fit, boot->ratio[c * boot->count + b]);
	out->gain = fit_gain(fit, cell->ratio);
	make_interval(boot, out->gain, student_half(fit, candidate, weight), &out->low, &out->high);
	widen(out->gain, fit_shared_deviation(fit, candidate, weight), &out->low, &out->high);
	/* A rate is not negative, so that a gain of throughput is at least -1; a time is not
	 * negative, so that a gain of latency is at most 1. */
	if (fit->kind == CAUSAL_LATENCY) {
		out->gain = fmin(1, out->gain);
		out->low = fmin(1, out->low);
		out->high = fmin(1, out->high);
	} else {
		out->low = fmax(-1, out->low);
	}
}

/*
 * Weighted least squares through the origin: the slope is the sum of weight * gain over all
 * speed-ups, and this function sets the weights. A speed-up weighs by the time spent on it, not by
 * the variance of its experiments: the variance of three experiments is chance, and would favour
 * experiments that happen to agree. False: no gain is known.
 */
static bool
slope_weights(const struct fit *fit, const struct causal_curve *curve, double *weight)
{
	const struct fit_cell *cell = &fit->cell[curve->candidate * fit->speedup_count];
	double sum = 0;

	for (size_t s = 1; s < curve->gain_count; s++) {
		const double speedup = curve->gain[s].speedup;

		if (!curve->gain[s].known)
			continue;
		weight[s] = cell[s].expected * speedup;
		sum += weight[s] * speedup;
	}
	for (size_t s = 1; s < curve->gain_count && sum > 0; s++)
		weight[s] /= sum;
	return sum > 0;
}

/* Sets the slope and its interval. Returns half the width that the interval has before it is
 * widened for errors that all experiments share. */
static double
make_slope(const struct fit *fit, struct bootstrap *boot, struct causal_curve *curve,
	   const double *weight)
{
	const size_t first = curve->candidate * fit->speedup_count;
	double half;

	memset(boot->sample, 0, boot->count * sizeof(*boot->sample));
	for (size_t s = 1; s < curve->gain_count; s++) {
		const double *ratio = &boot->ratio[(first + s) * boot->count];

		if (!curve->gain[s].known)
			continue;
		curve->slope += weight[s] * fit_gain(fit, fit->cell[first + s].ratio);
		for (size_t b = 0; b < boot->count; b++)
			boot->sample[b] += weight[s] * fit_gain(fit, ratio[b]);
	}
	make_interval(boot, curve->slope, student_half(fit, curve->candidate, weight),
		      &curve->slope_low, &curve->slope_high);
	half = (curve->slope_high - curve->slope_low) / 2;
	widen(curve->slope, fit_shared_deviation(fit, curve->candidate, weight), &curve->slope_low,
	      &curve->slope_high);
	return half;
}

/*
 * Returns the verdict. `half` is half the width of the slope's interval, without errors that all
 * experiments share. If the interval contains 0, the verdict is NOTHING on two conditions,
 * otherwise UNSURE. First, at the largest speed-up of the curve half the width of the fitted line's
 * interval, which is `half` times the speed-up, is at most the precision. Second, no gain has an
 * interval that lies wholly above the precision or wholly below -precision. (A gain may have one
 * although the slope is near 0, if the curve first falls and then rises.)
 */
static enum causal_verdict
curve_verdict(const struct causal_curve *curve, double half, double precision)
{
	double largest = 0;

	if (curve->slope_low > 0)
		return CAUSAL_HELPS;
	if (curve->slope_high < 0)
		return CAUSAL_HURTS;
	for (size_t s = 1; s < curve->gain_count; s++) {
		const struct causal_gain *gain = &curve->gain[s];

		if (!gain->known)
			continue;
		largest = fmax(largest, gain->speedup);
		if (gain->low > precision || gain->high < -precision)
			return CAUSAL_UNSURE;
	}
	return half * largest <= precision ? CAUSAL_NOTHING : CAUSAL_UNSURE;
}

static void
make_curve(const struct causal_result *result, const struct fit *fit, struct bootstrap *boot,
	   struct causal_curve *curve)
{
	double weight[CAUSAL_SPEEDUPS_MOST] = { 0 };

	curve->gain_count = result->speedup_count;
	for (size_t s = 0; s < curve->gain_count; s++) {
		struct causal_gain *gain = &curve->gain[s];

		gain->speedup = result->speedup[s];
		make_gain(fit, boot, curve->candidate, s, gain);
		if (s > 0 && gain->known && (curve->shown == 0 || gain->speedup <= SHOWN_MOST))
			curve->shown = s;
	}
	curve->verdict = CAUSAL_UNSURE;
	if (!slope_weights(fit, curve, weight))
		return;
	curve->verdict = curve_verdict(curve, make_slope(fit, boot, curve, weight),
				       result->precision);
}

/* --- all of them ---------------------------------------------------------------------------- */

static void
measure_zero(const struct fit *fit, uint32_t point, struct causal_curves *out)
{
	const struct fit_cell *zero = &fit->at_zero;

	if (zero->virtual_ns > 0)
		out->rate[point] = zero->events / zero->virtual_ns * (double)NS_PER_SEC;
	if (fit->kind == CAUSAL_LATENCY && fit->zero_exposure > 0)
		out->latency_ns[point] = zero->value / fit->zero_exposure;
}

static int
compare_curves(const void *a, const void *b)
{
	const struct causal_curve *x = a, *y = b;
	const bool x_unsure = x->verdict == CAUSAL_UNSURE, y_unsure = y->verdict == CAUSAL_UNSURE;

	if (x->point != y->point)
		return x->point < y->point ? -1 : 1;
	if (x_unsure != y_unsure)
		return x_unsure - y_unsure;
	if (x->slope != y->slope)
		return x->slope > y->slope ? -1 : 1;
	return (x->candidate > y->candidate) - (x->candidate < y->candidate);
}

void
causal_curves_make(const struct causal_result *result, uint64_t seed, struct causal_curves *out)
{
	struct rng rng;

	memset(out, 0, sizeof(*out));
	out->curve = xcalloc(result->point_count * result->candidate_count + 1,
			     sizeof(*out->curve));
	rng_seed(&rng, seed);
	for (uint32_t point = 0; point < result->point_count; point++) {
		struct bootstrap boot;
		struct fit fit;

		fit_init(&fit, result, point);
		measure_zero(&fit, point, out);
		bootstrap_init(&boot, &fit, &rng);
		for (uint32_t candidate = 0; candidate < result->candidate_count; candidate++) {
			struct causal_curve *curve = &out->curve[out->count++];

			curve->candidate = candidate;
			curve->point = point;
			make_curve(result, &fit, &boot, curve);
		}
		bootstrap_release(&boot);
		fit_release(&fit);
	}
	if (out->count > 0)
		qsort(out->curve, out->count, sizeof(*out->curve), compare_curves);
}

void
causal_curves_release(struct causal_curves *curves)
{
	free(curves->curve);
	memset(curves, 0, sizeof(*curves));
}

double
causal_margin(const struct causal_result *result, uint32_t candidate, size_t speedup,
	      uint32_t point)
{
	double weight[CAUSAL_SPEEDUPS_MOST] = { 0 }, margin = HUGE_VAL;
	struct fit fit;

	if (candidate >= result->candidate_count || speedup >= result->speedup_count ||
	    point >= result->point_count)
		return margin;
	if (speedup == 0)
		return 0;
	fit_init(&fit, result, point);
	weight[speedup] = 1;
	if (fit.cell[candidate * fit.speedup_count + speedup].known)
		margin = student_half(&fit, candidate, weight);
	fit_release(&fit);
	return margin;
}
