/* SPDX-License-Identifier: MIT */
/*
 * curve_fit_internal.h - what experiments found, beside what the ones at 0 around them lead one
 * to expect.
 *
 * Of a point of THROUGHPUT `much` is the number of events and `base` the virtual time, of LATENCY
 * the time in progress and the number of ends: much / base is a rate, or a mean time from begin to
 * end. An experiment at 0 says what it is without a speed-up. A straight line through the nearest
 * ones, by weighted least squares, says what it was at the moment of an experiment with one. So
 * drift cancels: whatever is about straight for as long as these last.
 *
 * A cell is all experiments of one candidate at one speed-up. Its ratio is the sum of what was
 * found divided by the sum of what was to be expected: a ratio of sums, in which long experiments
 * weigh more and single ones of few events do no harm; a mean of ratios would be too high.
 */
#ifndef WALLSAMPLE_CAUSAL_CURVE_FIT_INTERNAL_H
#define WALLSAMPLE_CAUSAL_CURVE_FIT_INTERNAL_H

#include "wallsample/causal/causal_curve.h"

/* An experiment at 0. */
struct fit_zero {
	double at;           /* its middle */
	double much, base;
};

/* One as a neighbour: both times its weight; when, as a part of the reach, 0 being now. */
struct fit_near {
	double much, base, when;
};

/* An experiment at a speed-up above 0. */
struct fit_run {
	double at;
	double much, base;
	double expected;     /* of much, at 0 */
	size_t first, count; /* in zero[]: those around it */
	size_t near;         /* in near[], `count` of them */
};

struct fit_cell {
	size_t first, count; /* in run[] */
	size_t progressed;   /* how many of these had events */
	double events;
	double much, expected, ratio;
	double ticks, virtual_ns; /* in all of them */
	bool known;
	double noise;        /* variance of much for each unit that was expected, by the square of
			      * the ratio, or what stands for it; 1 if events are independent */
	double freedom;      /* degrees of freedom of that */
};

struct fit {
	enum causal_point_kind kind;
	size_t speedup_count;
	struct fit_cell *cell;  /* [candidate * speedup_count + speedup]; empty at speed-up 0 */
	size_t cell_count;
	struct fit_run *run;    /* cell by cell */
	size_t run_count;
	struct fit_near *near;
	size_t near_count;
	/* Of all candidates: */
	struct fit_zero *zero;  /* in the order of time */
	size_t zero_count;
	struct fit_cell at_zero; /* the sum of them; `expected` is what was found */
	double zero_base; /* sum of the base */
};

/* Of one progress point. */
void fit_init(struct fit *fit, const struct causal_result *result, uint32_t point);
void fit_release(struct fit *fit);

/* From a ratio to a gain: more events, or a shorter time. */
double fit_gain(const struct fit *fit, double ratio);

/* What was to be expected of a run, if each experiment at 0 had been made so many times (all of the
 * fit; NULL: once). */
double fit_expected(const struct fit *fit, const struct fit_run *run, const double *times);

/*
 * The standard deviation of the sum of weight[speedup] * ratio over the known cells of a candidate,
 * by the delta method, and its degrees of freedom (Welch and Satterthwaite).
 */
double fit_deviation(const struct fit *fit, uint32_t candidate, const double *weight,
		     double *freedom);

/*
 * What more experiments do not make better: the standard deviation of the same sum by what is not
 * known of each tick. It is 0 where there are as many ticks in a unit of virtual time as at 0.
 */
double fit_tick_deviation(const struct fit *fit, uint32_t candidate, const double *weight);

/* Half the 95 % interval in standard deviations, by Student's distribution. */
double fit_student(double freedom);

#endif
