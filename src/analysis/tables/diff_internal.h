/* SPDX-License-Identifier: MIT */
/*
 * diff_internal.h - the two steps of a comparison: matching functions, and summing a run.
 */
#ifndef WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H

#include "wallsample/analysis/diff.h"

/* Matched functions of two views: rows with names, and the row of each function. */
struct diff_pairs {
	struct diff_row *row;
	size_t count, capacity;
	uint32_t *row_of[DIFF_SIDES]; /* by function of the view */
};

/* Fills `out`. `texts` owns the names that no view has; the caller frees row and row_of. */
void diff_pairs_make(const struct diff_run run[DIFF_SIDES], struct strings *texts,
		     struct diff_pairs *out);

/* A row in one run: its time, and an upper bound of the standard deviation of one sample. */
struct diff_sum {
	int64_t ns;
	double deviation;
};
struct diff_sums {
	struct diff_sum *flat, *cum; /* by row */
	bool *seen;
	struct diff_sum total[WEIGHT_COUNT];
};

/* Fills `out`. `row_of` (of this run) and `rows` (their count) come from struct diff_pairs. */
void diff_sums_make(const struct diff_run *run, enum weight weight, const uint32_t *row_of,
		    size_t rows, struct diff_sums *out);
void diff_sums_release(struct diff_sums *sums);

#endif
