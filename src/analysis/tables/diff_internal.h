/* SPDX-License-Identifier: MIT */
/*
 * diff_internal.h - the parts of a comparison among themselves.
 */
#ifndef WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H

#include "wallsample/analysis/diff.h"

/* What functions of two views are one: rows with names, and the row of each function. */
struct diff_pairs {
	struct diff_row *row;
	size_t count, capacity;
	uint32_t *row_of[DIFF_SIDES]; /* by function of the view */
};

/* Names that no view has go to `texts`. The caller frees row and row_of. */
void diff_pairs_make(const struct diff_run run[DIFF_SIDES], struct strings *texts,
		     struct diff_pairs *out);

/* What a row has of a run: its sum, and the most that one look at it can deviate. */
struct diff_sum {
	int64_t ns;
	double deviation;
};
struct diff_sums {
	struct diff_sum *flat, *cum; /* by row */
	bool *seen;
	struct diff_sum total[WEIGHT_COUNT];
};

/* `row_of` and `rows` are those of the pairs. */
void diff_sums_make(const struct diff_run *run, enum weight weight, const uint32_t *row_of,
		    size_t rows, struct diff_sums *out);
void diff_sums_release(struct diff_sums *sums);

#endif
