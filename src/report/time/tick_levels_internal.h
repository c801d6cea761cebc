/* SPDX-License-Identifier: MIT */
/*
 * tick_levels_internal.h - the ticks of a recording by how many threads were on a CPU, so that
 * the sums over many ticks need no walk through them: thousands of threads may sleep through all
 * of a recording.
 */
#ifndef WALLSAMPLE_REPORT_TIME_TICK_LEVELS_INTERNAL_H
#define WALLSAMPLE_REPORT_TIME_TICK_LEVELS_INTERNAL_H

#include <stdint.h>

#include "wallsample/recording/recording_read.h"

struct tick_levels;

/* The recording is loaded, and outlives it. */
struct tick_levels *tick_levels_create(const struct recording *recording);
void tick_levels_free(struct tick_levels *levels);

/*
 * Gives `add` what the `ticks` ticks from `first` on span, all of which the recording has: by
 * parallelism, in no order, and one parallelism maybe in several calls. `real_ns` is the same time,
 * each tick's shared among the threads that could run.
 */
void tick_levels_sum(const struct tick_levels *levels, uint64_t first, uint64_t ticks,
		     void (*add)(void *context, uint32_t parallelism, double time_ns,
				 double real_ns),
		     void *context);

#endif
