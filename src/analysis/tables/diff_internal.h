/* SPDX-License-Identifier: MIT */
/*
 * diff_internal.h - the first step of a comparison: matching the functions of two runs.
 */
#ifndef WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H
#define WALLSAMPLE_ANALYSIS_TABLES_DIFF_INTERNAL_H

#include "wallsample/analysis/diff.h"

/* Matched functions of two views. A function in both views has one row. */
struct diff_pairs {
	struct diff_row *row;
	size_t count, capacity;
	uint32_t *row_of[DIFF_SIDES]; /* indexed by function of the run's view: index in `row` */
};

/*
 * Matches the functions of the two runs, and fills `out`. `texts` gets and owns the names of the
 * rows. The caller frees out->row and both out->row_of.
 */
void diff_pairs_make(const struct diff_run run[DIFF_SIDES], struct strings *texts,
		     struct diff_pairs *out);

#endif
