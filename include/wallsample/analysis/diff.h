/* SPDX-License-Identifier: MIT */
/*
 * diff.h - two runs compared: what changed, by how much, and whether that can be chance.
 *
 * Runs are of different length, so everything is a rate: seconds of the weight for each second
 * that passed. 1.0 of Wall is one thread that was in a function all the time, 2.0 are two.
 * A share of the total says something else: it also changes when others do.
 *
 * What is one function in two runs. Its name and the base name of its module, wherever that lies;
 * but when there is no such pair, the name alone, if only one function of it is left on each
 * side and the module of neither is in the other run: a program whose new build is called
 * otherwise, or a library of the next version. Code without a name is one with all code of its
 * module that has none: the addresses that stand for its names are of one build, and each of
 * them is rarely met twice.
 *
 * How sure a change is. Let a run have n independent looks (margin_ticks of Wall: a rate is of
 * the time that passed, not of the weight). A thread t that was in the function for the part r of
 * its time adds at most the standard deviation sqrt(r (1 - r)) to one look. What threads do may
 * hang together, so the sum of these is taken, which is the most that it can be; unless what can
 * be at once is less (all of Latency together is 1, Overhead the parallelism, Wall the threads),
 * as then sqrt(R (most - R)) is. From that the margin of the change follows, see margin.h.
 *
 * With many functions some will always seem to differ: at 95 % for each, 5 in 100. So the margins
 * are as wide as it takes for all of them together: of two runs that do not differ, 95 in 100
 * have no finding at all. Each function is asked twice, for itself (flat) and with what it called
 * (cum), threads and states once. Those that both runs together met less than DIFF_LOOKS_LEAST
 * times are not asked, because no answer could be a finding.
 *
 * What it is not: the margin is about chance in sampling. A program that does not do the same
 * each time has runs that truly differ.
 */
#ifndef WALLSAMPLE_ANALYSIS_DIFF_H
#define WALLSAMPLE_ANALYSIS_DIFF_H

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

#define DIFF_LOOKS_LEAST 8

struct diff_change {
	int64_t ns[DIFF_SIDES];   /* of the weight */
	double rate[DIFF_SIDES];  /* ns for each ns that passed */
	double share[DIFF_SIDES]; /* of the run's total of the weight, from 0 to 1 */
	double change, margin;    /* of the rate: after - before */
	double points, points_margin; /* of the share, from -1 to 1 */
	bool asked;               /* was there enough of it for a question? */
	bool found;               /* asked, and the change of the rate is beyond its margin */
};

struct diff_row {
	const char *name;   /* as in struct view_function; of nameless code "[libfoo.so]" */
	const char *module; /* that of the later run, if it is there; "" for a named frame */
	bool needs_module;
	bool seen[DIFF_SIDES]; /* is in a stack that was selected, whatever that weighs */
	struct diff_change flat, cum;
};

/* Something of the run as a whole; its margin is for this one question, at 95 %. */
struct diff_total {
	double rate[DIFF_SIDES];
	double change, margin;
};

struct diff {
	enum weight weight;
	uint64_t wall_ns[DIFF_SIDES];      /* that passed; 0: there is no tick, and nothing to
					    * compare */
	double ticks[DIFF_SIDES];          /* what they are worth */
	struct diff_total total[WEIGHT_COUNT];
	struct diff_total parallelism;     /* of all threads, whatever was selected */
	struct diff_row *row;              /* all that weigh something in either run */
	size_t count;
	/* Places of rows by flat and by cum: findings first, then by size of the change. */
	uint32_t *by_flat, *by_cum;
	size_t flat_found, cum_found;
	size_t questions;
	double deviations;                 /* that a margin spans because of them */
	struct strings *texts;             /* of the names that no view has */
};

/* A run, for the comparison. */
struct diff_run {
	const struct view *view;
	uint32_t threads_most; /* at once; 0: not known */
};

/* The views must be by the same key, and outlive what is made. */
void diff_make(const struct diff_run run[DIFF_SIDES], enum weight weight, struct diff *out);
void diff_release(struct diff *diff);

/*
 * The name that a function of the view has in a comparison: its own, or one for all nameless code
 * of its module, which is put into `scratch` then.
 */
const char *diff_name(const struct view *view, uint32_t function, struct strbuf *scratch);

#endif
