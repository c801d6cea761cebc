/* SPDX-License-Identifier: MIT */
/*
 * curve_fit_internal.h - compares what experiments have measured with what they would be expected
 * to measure at speed-up 0. The expectation comes from the experiments at speed-up 0 before and
 * after each experiment.
 *
 * For a THROUGHPUT point `value` is the number of events and `exposure` the virtual time; for a
 * LATENCY point they are the time in progress and the number of ends. value / exposure is then a
 * rate, or the mean time from begin to end. The value of this quotient that is expected at the time
 * of an experiment without a speed-up is estimated from the nearest experiments at speed-up 0 by
 * local linear regression (weighted least squares, triangular kernel; Fan and Gijbels, Local
 * Polynomial Modelling and Its Applications, 1996), so that linear drift cancels.
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
	double at; /* time of its middle, in ns since the first experiment began */
	double value, exposure;
};

/* An experiment at speed-up 0 as a neighbour of an experiment at another speed-up. */
struct fit_near {
	/* Value and exposure of the experiment, multiplied by the kernel weight. */
	double value, exposure;
	/* Distance in time from the other experiment, as a multiple of half the width of the
	 * regression kernel: in (-1, 1), negative if it was before the other one. */
	double when;
};

/* An experiment at a speed-up above 0. */
struct fit_run {
	double at; /* time of its middle, in ns since the first experiment began */
	double value, exposure;
	double expected; /* `value` that would be expected at speed-up 0 */
	/* Its neighbours: index of the first one in zero[], and their number. */
	size_t first, count;
	size_t near; /* index of its first neighbour in near[] */
};

struct fit_cell {
	/* Its experiments: index of the first one in run[], and their number. */
	size_t first, count;
	size_t progressed;             /* number of its experiments with events */
	double events;                 /* sum of the events of its experiments */
	double cut;                    /* sum of cut_variance() (curve_fit.c) over them */
	double value, expected, ratio; /* sums over its experiments; ratio = value / expected */
	double ticks, virtual_ns;      /* sums over its experiments */
	/* Enough experiments had events (CAUSAL_EXPERIMENTS_LEAST), here and at speed-up 0, and the
	 * expected value is above 0. Else, above speed-up 0, ratio, noise and freedom are 0. */
	bool known;
	/* Dispersion: the variance of a value, divided by the expected value and by the square of
	 * scatter_of() (curve_fit.c). For independent events (Poisson) of a THROUGHPUT point it is
	 * 1 at a ratio of 1; for a LATENCY point its unit is ns. */
	double noise;
	double freedom; /* degrees of freedom of the estimate `noise` */
};

struct fit {
	enum causal_point_kind kind;
	size_t speedup_count;
	/* tick_ns / burst_ns, at most 1; 0: the length of bursts is not known. */
	double bursts_per_tick;
	/* Indexed by candidate * speedup_count + speed-up; the cells of speed-up 0 stay empty. */
	struct fit_cell *cell;
	size_t cell_count;
	struct fit_run *run; /* experiments above speed-up 0, ordered by cell */
	size_t run_count;
	struct fit_near *near; /* the neighbours of all runs, ordered by run */
	size_t near_count;
	/* The experiments at speed-up 0, which all candidates share. */
	struct fit_zero *zero; /* in chronological order */
	size_t zero_count;
	/* Cell of the experiments at speed-up 0. Its `expected` is equal to its `value`. */
	struct fit_cell at_zero;
	double zero_exposure; /* sum of the exposures of zero[] */
};

/* Fills in `fit` from the experiments of the result, for one progress point. The caller releases it
 * with fit_release. */
void fit_init(struct fit *fit, const struct causal_result *result, uint32_t point);
void fit_release(struct fit *fit);

/* Converts a ratio to a gain: ratio - 1 for THROUGHPUT, 1 - ratio for LATENCY. */
double fit_gain(const struct fit *fit, double ratio);

/* Returns the value that the run would be expected to have at speed-up 0. times[i] says how often
 * experiment i of zero[] counts, in a resample of the bootstrap (curve.c); if `times` is NULL, each
 * counts once. If no neighbour counts, returns run->expected, or 0 if `times` is NULL. */
double fit_expected(const struct fit *fit, const struct fit_run *run, const double *times);

/*
 * Returns the standard deviation of the sum of weight[speedup] * ratio over the known cells of a
 * candidate, by the delta method. Stores in *freedom the degrees of freedom of this estimate
 * (Satterthwaite, An Approximate Distribution of Estimates of Variance Components, 1946; Welch
 * 1947).
 */
double fit_deviation(const struct fit *fit, uint32_t candidate, const double *weight,
		     double *freedom);

/*
 * Returns the standard deviation of the same sum that two errors cause: the unknown cost of a tick
 * (TICK_DEVIATION_NS, curve_fit.c) and the length of ticks (BURST_DEVIATION). fit_deviation()
 * contains neither, and more experiments do not reduce them. The first is 0 if there are as many
 * ticks per unit of virtual time as at speed-up 0, the second if the length of bursts is not known.
 */
double fit_shared_deviation(const struct fit *fit, uint32_t candidate, const double *weight);

/* Returns the 97.5 % quantile of Student's t distribution: the half width of a 95 % interval in
 * standard deviations. */
double fit_student(double freedom);

#endif
