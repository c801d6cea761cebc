/* SPDX-License-Identifier: MIT */
/*
 * parallelism_split.h - splits the rows of a view by the number of threads on a CPU at that time.
 *
 * A profile sums over ticks, so a row has no parallelism. The recordings of the profile have it:
 * they list the ticks of each row. A row is split in proportion to these. The parts sum to the row;
 * they are estimates if a thread was sampled less than once per tick.
 */
#ifndef WALLSAMPLE_REPORT_PARALLELISM_SPLIT_H
#define WALLSAMPLE_REPORT_PARALLELISM_SPLIT_H

#include "wallsample/report/export.h"

struct parallelism_part {
	uint32_t parallelism;
	int64_t ns[WEIGHT_COUNT];
};

struct parallelism_split;

/*
 * Reads the input's recordings; their errors are stored in input->error. The caller frees the
 * result with parallelism_split_free().
 */
struct parallelism_split *parallelism_split_create(const struct export_input *input);
void parallelism_split_free(struct parallelism_split *split);

/*
 * Returns the parts of a row of the view, by parallelism, each with a weight above 0. The array is
 * valid until the next call. *count is 0 if the ticks of the row are not known.
 */
const struct parallelism_part *parallelism_split_row(struct parallelism_split *split,
						     const struct view_row *row, size_t *count);

#endif
