/* SPDX-License-Identifier: MIT */
/*
 * diff.h - compares two runs: which functions changed, by how much, and whether the change exceeds
 * the sampling error.
 *
 * Runs differ in length, so each value is a rate: seconds of the weight per second of elapsed time.
 * A Wall rate of 1.0 is one thread that was in the function all the time, 2.0 are two threads. A
 * share of the total is a different value: it also changes when other functions change.
 *
 * Matching. Functions of the two runs are the same if their names and the base names of their
 * modules are equal; the directory of the module does not count. A function with a symbol but
 * without a counterpart by this rule is matched by its name alone, if each run has exactly one
 * function of the name whose module is not in the other run: the file of a new build may have
 * another name, or a library another version. If the views are by function or line, all code
 * without a symbol in one module is one row: the addresses of another build are different, and each
 * address is rarely sampled twice. If the views are by process, processes whose titles differ in
 * numbers only are one row, because process ids differ.
 *
 * Margin of a change. Let a run have n independent samples. For every weight, n is margin_ticks()
 * for WEIGHT_LATENCY and the whole elapsed time: a rate is relative to the elapsed time, so every
 * tick counts. If a thread was in the function for the part r of the elapsed time, one sample of
 * this thread has at most the standard deviation sqrt(r (1 - r)). The deviations of all threads are
 * added, which is an upper bound even if the threads are correlated. If a rate R cannot exceed
 * `most`, a second upper bound of the deviation is sqrt(R (most - R)). `most` is 1 for Latency, the
 * highest parallelism of a tick for CPU, and the largest number of threads for Wall. The
 * smaller bound is used as the deviation from which margin.h computes the margin.
 *
 * Multiple tests. With a margin of 95 % for each function, 5 of 100 unchanged functions would seem
 * to differ. The margins are therefore widened for all tests together: of 100 pairs of runs that do
 * not differ, 95 have no finding at all. Each function is tested twice, for itself (flat) and with
 * its callees (cum). In a comparison by thread, state, lock or GIL each row is tested once, because
 * it has no callees. A row with fewer than DIFF_LOOKS_LEAST samples in both runs together is not
 * tested, because no result could be a finding.
 *
 * The margin covers the sampling error only. Two runs of a program that does not do the same each
 * time may differ by more.
 */
#ifndef WALLSAMPLE_ANALYSIS_DIFF_H
#define WALLSAMPLE_ANALYSIS_DIFF_H

#include "wallsample/base/base.h"
#include "wallsample/base/table.h"
#include "wallsample/analysis/view.h"

enum diff_side { DIFF_BEFORE, DIFF_AFTER, DIFF_SIDES };

/*
 * Minimum number of samples of a row that is tested, summed over both runs. The number in a run is
 * estimated: the rate of the row multiplied by the number of independent samples of the run.
 */
#define DIFF_LOOKS_LEAST 8

struct diff_change {
	int64_t ns[DIFF_SIDES];  /* time in the weight of the comparison */
	double rate[DIFF_SIDES]; /* ns divided by the elapsed time */
	/* ns divided by the run's total of the weight, from 0 to 1; 0 if the total is 0 */
	double share[DIFF_SIDES];
	/* change of the rate (after minus before), and its margin of error */
	double change, margin;
	/* change of the share, from -1 to 1, and its margin of error */
	double points, points_margin;
	bool asked; /* the change of the rate was tested: there are enough samples */
	bool found; /* `asked` is true, and the change of the rate exceeds its margin */
};

struct diff_row {
	const char *name; /* view_function.name, or "[libfoo.so]" for code without a symbol */
	/*
	 * Module of the function; "" for a named frame. If the function's modules differ between
	 * the runs, the module in the later run.
	 */
	const char *module;
	bool needs_module; /* as in struct view_function */
	/* by run: a selected stack has the function, even if its weight is 0 */
	bool seen[DIFF_SIDES];
	struct diff_change flat, cum;
};

/*
 * A rate or parallelism of each run as a whole, its change, and the margin of error of the change:
 * at 95 %, as for a single test.
 */
struct diff_total {
	double rate[DIFF_SIDES];
	double change, margin;
};

struct diff {
	enum weight weight;
	/*
	 * Elapsed time of each run. 0 if the run has no tick: then all margins of rates are
	 * infinite, so that no change is found.
	 */
	uint64_t wall_ns[DIFF_SIDES];
	double ticks[DIFF_SIDES]; /* number of independent samples, see margin.h */
	/* indexed by weight: rates of all selected samples together */
	struct diff_total total[WEIGHT_COUNT];
	/* mean number of threads on a CPU, of all threads, selected or not */
	struct diff_total parallelism;
	/* the functions whose time in `weight`, with callees, is not 0 in at least one run */
	struct diff_row *row;
	size_t count;
	/*
	 * Indices of the rows, ordered by their change of flat (by_flat) or of cum (by_cum): first
	 * the changes with `found`, then the others; in both parts the largest change in either
	 * direction comes first.
	 */
	uint32_t *by_flat, *by_cum;
	size_t flat_found, cum_found; /* number of rows in the first part of by_flat, of by_cum */
	/* number of tests: rows with flat.asked plus rows with cum.asked */
	size_t questions;
	/*
	 * number of standard deviations that the interval of a row's rate spans to either side,
	 * from margin_deviations()
	 */
	double deviations;
	struct strings *texts; /* owns the names of the rows */
};

/* One of the two runs. */
struct diff_run {
	const struct view *view;
	/*
	 * largest number of threads in the run at one time; 0: not known, so that the deviation of
	 * a Wall rate has only the first of the two upper bounds described above
	 */
	uint32_t threads_most;
	const struct run_division *division; /* of the run (run_stats.h); NULL: not known */
};

/*
 * Compares the runs by `weight` and fills `out`, which diff_release() releases. Both views must
 * have the same key and outlive `out`.
 */
void diff_make(const struct diff_run run[DIFF_SIDES], enum weight weight, struct diff *out);
void diff_release(struct diff *diff);

/*
 * Returns the name that a function of the view has in a comparison: the function's own name, or,
 * for code without a symbol, the name of the module in brackets, or, for a process, its title with
 * "…" in place of numbers, both written to `scratch`. The result is borrowed from the view or from
 * `scratch`.
 */
const char *diff_name(const struct view *view, uint32_t function, struct strbuf *scratch);

#endif
