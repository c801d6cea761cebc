/* SPDX-License-Identifier: MIT */
/*
 * parallelism_split.h - splits the rows of a view by parallelism: the number of threads on a CPU at
 * one time.
 *
 * A row of a view sums over many ticks, so it has no single parallelism. The recordings of the
 * profile list the ticks of each row, and the parallelism of each tick. Wall and CPU are split
 * in proportion to the durations of the row's ticks at each parallelism, Latency in proportion to
 * these durations divided by the number of runnable threads. The parts sum to the row; they are
 * estimates if a thread was sampled less than once per tick.
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
 * Sums up the ticks of all rows from input->recordings. If a recording cannot be read, stores the
 * error in input->error and returns what was summed up before. The input must outlive the result,
 * which the caller frees with parallelism_split_free().
 */
struct parallelism_split *parallelism_split_create(const struct export_input *input);
void parallelism_split_free(struct parallelism_split *split);

/*
 * Returns the parts of a row of input->view in ascending order of parallelism; each has a weight
 * above 0. The array is valid until the next call. *count is the number of parts: 0 if the ticks of
 * the row are not known. A row for time in which no thread was runnable (view_is_gap()) has one
 * part, with parallelism 0.
 */
const struct parallelism_part *parallelism_split_row(struct parallelism_split *split,
						     const struct view_row *row, size_t *count);

#endif
