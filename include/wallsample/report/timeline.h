/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - iterates over the activity of threads in the order of time, for exporters that show
 * time.
 *
 * It reads the recordings of a view, and yields the slices that the view selects.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_H
#define WALLSAMPLE_REPORT_TIMELINE_H

#include "wallsample/report/export.h"

/* A half-open range of time in which all samples of a thread are equal. */
struct timeline_slice {
	size_t recording; /* of the input */
	uint32_t thread;  /* of the profile */
	enum run_state state;
	int32_t syscall;
	uint32_t wait; /* of the profile */
	enum gil gil;
	const uint32_t *function; /* as in struct view_row */
	size_t depth;
	uint64_t first_tick, ticks; /* of the recording */
	uint64_t settled_tick;      /* as in struct recording_span */
	uint64_t start_ns, end_ns;  /* of the recording; see timeline_base() */
};

/*
 * Returns the ns to add to times of the recording. The sum is CLOCK_MONOTONIC if all recordings
 * come from one boot of one machine and have that clock; else CLOCK_REALTIME, which is less exact.
 */
uint64_t timeline_base(const struct export_input *input, size_t recording);

/*
 * Calls `each` with all slices until it returns false: recording by recording, each in the given
 * order. The slice is valid during the call. An error of a recording is stored in input->error and
 * ends the iteration.
 */
void timeline_each(const struct export_input *input, enum recording_order order,
		   bool (*each)(void *context, const struct timeline_slice *slice), void *context);

#endif
