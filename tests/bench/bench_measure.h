/* SPDX-License-Identifier: MIT */
/*
 * bench_measure.h - what a tool costs its target, as a ratio.
 *
 * The machine is never as quiet as one would like, and its speed drifts. So the target's
 * throughput is taken without a tool, with the first, without, with the second, and so on
 * in short turns of one run, and each turn with a tool is compared with the mean of
 * the two turns beside it that had none. Medians over the turns are what is printed.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include "bench_tool.h"

#define MEASURE_MOST_TURNS 64

struct series {
	double value[MEASURE_MOST_TURNS];
	size_t count;
};

struct summary {
	double median, low, high;
	double error; /* of the median: about two thirds of all runs are nearer to the truth */
	size_t count;
};

void series_add(struct series *series, double value);
struct summary series_summary(const struct series *series);

/* A tool that runs beside the target. */
struct arm {
	const char *name;
	struct words words;
	const char *duration;   /* its option for whole seconds; NULL: -d, and fractions */
	struct series ratio;  /* target's throughput with it / without */
	unsigned failed;      /* turns in which it did not last, or reported an error */
};

struct measure {
	double turn_seconds;   /* length of one reading */
	double settle_seconds; /* that a tool gets to begin */
	unsigned turns;
};

/*
 * Fills in the arms' ratios, and in `rest` (may be NULL) those of the turns without a
 * tool to one another: what the machine's unrest alone does.
 */
void measure_arms(const struct measure *measure, const struct target *target, struct arm *arms,
		  size_t count, struct series *rest);

/* Units of work a second over the next `seconds`. */
double measure_rate(const struct target *target, double seconds);

void measure_sleep(double seconds);

#endif
