/* SPDX-License-Identifier: MIT */
/*
 * tick_levels_internal.h - an index of the ticks of a recording by the number of threads on a CPU,
 * the parallelism. With the index, a sum over many ticks takes no iteration over the ticks. Without
 * the index, each of the thousands of threads that may sleep during a whole recording would take an
 * iteration over all its ticks.
 */
#ifndef WALLSAMPLE_REPORT_TIME_TICK_LEVELS_INTERNAL_H
#define WALLSAMPLE_REPORT_TIME_TICK_LEVELS_INTERNAL_H

#include <stdint.h>

#include "wallsample/recording/recording_read.h"

struct tick_levels;

/* Creates the index of a loaded recording, which must outlive the index. */
struct tick_levels *tick_levels_create(const struct recording *recording);
void tick_levels_free(struct tick_levels *levels);

/*
 * Calls `add` with sums over the ticks from `first` to `first` + `ticks` - 1, which must all exist.
 * Each call covers ticks of one parallelism; several calls may have the same parallelism, and the
 * order of calls is not defined. `time_ns` is the sum of the ticks' durations. `real_ns` is the
 * same sum, with each duration divided by the number of runnable threads, or undivided if there was
 * none.
 */
void tick_levels_sum(const struct tick_levels *levels, uint64_t first, uint64_t ticks,
		     void (*add)(void *context, uint32_t parallelism, double time_ns,
				 double real_ns),
		     void *context);

#endif
