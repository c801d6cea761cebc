/* SPDX-License-Identifier: MIT */
/*
 * parallelism_split.h - the rows of a view, shared out by how many threads were on a CPU meanwhile.
 *
 * A profile sums over ticks, so a row alone does not say. The recordings that it was made of do:
 * what a thread was seen doing at which ticks. A row is shared out in proportion to those, so the
 * parts are estimates where a thread was looked at less than once a tick, but sum to the row.
 */
#ifndef WALLSAMPLE_REPORT_PARALLELISM_SPLIT_H
#define WALLSAMPLE_REPORT_PARALLELISM_SPLIT_H

#include "wallsample/report/export.h"

struct parallelism_part {
	uint32_t parallelism;
	int64_t ns[WEIGHT_COUNT];
};

struct parallelism_split;

/* Goes through the input's recordings; what is wrong with them goes to the input's error. */
struct parallelism_split *parallelism_split_create(const struct export_input *input);
void parallelism_split_free(struct parallelism_split *split);

/*
 * The parts of a row of the view, by parallelism, of which each weighs something: valid until the
 * next call. None if its ticks are not known, as without recordings.
 */
const struct parallelism_part *parallelism_split_row(struct parallelism_split *split,
						     const struct view_row *row, size_t *count);

#endif
