/* SPDX-License-Identifier: MIT */
/*
 * curve_fit_internal.h - observed values of experiments, compared with the values expected from the
 * experiments at speed-up 0 around them.
 *
 * For a THROUGHPUT point `value` is the number of events and `exposure` the virtual time; for a
 * LATENCY point they are the time in progress and the number of ends. value / exposure is a rate,
 * or the mean time from begin to end. Its level without a speed-up at the time of an experiment is
 * estimated from the nearest experiments at 0 by local linear regression (weighted least squares,
 * triangular kernel; Fan and Gijbels, Local Polynomial Modelling and Its Applications, 1996), so
 * that linear drift cancels.
 *
 * A cell is all experiments of one candidate at one speed-up. Its ratio is the ratio estimator
 * (Cochran, Sampling Techniques, 1977, chapter 6): the sum of values divided by the sum of expected
 * values. Long experiments weigh more, and experiments with few events do no harm; a mean of ratios
 * would be biased upwards.
 */
#ifndef WALLSAMPLE_CAUSAL_CURVE_FIT_INTERNAL_H
#define WALLSAMPLE_CAUSAL_CURVE_FIT_INTERNAL_H

#include "wallsample/causal/causal_curve.h"

/* An experiment at speed-up 0. */
struct fit_zero {
	double at; /* its middle, ns */
	double value, exposure;
};

/* The same as a neighbour of another: value and exposure times the kernel weight; `when` is the
 * distance in time as a part of the kernel width. */
struct fit_near {
	double value, exposure, when;
};

/* An experiment at a speed-up above 0. */
struct fit_run {
	double at;
	double value, exposure;
	double expected;     /* expected value at speed-up 0 */
	size_t first, count; /* its neighbours in zero[] */
	size_t near;         /* index of the first of `count` in near[] */
};

struct fit_cell {
	size_t first, count; /* in run[] */
	size_t progressed;   /* how many of them had events */
	double events;
	double value, expected, ratio;
	double ticks, virtual_ns; /* in all of them */
	bool known;
	double noise;   /* dispersion: variance of value per unit expected, divided by the
			      * square of scatter_of(); 1 for independent events (Poisson) */
	double freedom; /* degrees of freedom of that estimate */
};

struct fit {
	enum causal_point_kind kind;
	size_t speedup_count;
	struct fit_cell *cell; /* [candidate * speedup_count + speedup]; empty at speed-up 0 */
	size_t cell_count;
	struct fit_run *run; /* cell by cell */
	size_t run_count;
	struct fit_near *near;
	size_t near_count;
	/* common to all candidates: */
	struct fit_zero *zero; /* by time */
	size_t zero_count;
	struct fit_cell at_zero; /* all experiments at 0; `expected` is their value */
	double zero_exposure;    /* sum of their exposures */
};

/* Fits the experiments for one progress point; to be released. */
void fit_init(struct fit *fit, const struct causal_result *result, uint32_t point);
void fit_release(struct fit *fit);

/* The gain of a ratio: more events, or a shorter time. */
double fit_gain(const struct fit *fit, double ratio);

/* The expected value of a run with experiment i at 0 counted times[i] times, as in a resample;
 * NULL: each once. */
double fit_expected(const struct fit *fit, const struct fit_run *run, const double *times);

/*
 * The standard deviation of the sum of weight[speedup] * ratio over the known cells of a candidate,
 * by the delta method, and its degrees of freedom (Satterthwaite, An Approximate Distribution of
 * Estimates of Variance Components, 1946; Welch 1947).
 */
double fit_deviation(const struct fit *fit, uint32_t candidate, const double *weight,
		     double *freedom);

/*
 * The standard deviation of the same sum from the unknown cost of each tick, which more experiments
 * do not reduce. It is 0 where there are as many ticks per unit of virtual time as at 0.
 */
double fit_tick_deviation(const struct fit *fit, uint32_t candidate, const double *weight);

/* The 97.5 % quantile of Student's t distribution: half a 95 % interval in standard deviations. */
double fit_student(double freedom);

#endif
