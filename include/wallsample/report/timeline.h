/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - reads the recordings of a view, and yields the activity of the threads that the view
 * selects. For exporters that show time.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_H
#define WALLSAMPLE_REPORT_TIMELINE_H

#include "wallsample/report/export.h"

/* A half-open range of time in which all samples of a thread are equal. */
struct timeline_slice {
	size_t recording; /* index in input->recordings */
	uint32_t thread;  /* index in the profile */
	enum run_state state;
	int32_t syscall;
	uint32_t wait; /* index in the profile */
	enum gil gil;
	const uint32_t *function;   /* innermost first: indices of view_function() */
	size_t depth;               /* number of functions */
	uint64_t first_tick, ticks; /* index in the recording, and number, of its ticks */
	uint64_t settled_tick;      /* as in struct recording_span */
	uint64_t start_ns, end_ns;  /* on the clock of all recordings: see timeline_base() */
};

/*
 * Returns the number of ns that is added to times of input->recordings[recording]. The sum is
 * CLOCK_MONOTONIC if all recordings come from one boot of one machine and have that clock; else
 * CLOCK_REALTIME, which is less exact.
 */
uint64_t timeline_base(const struct export_input *input, size_t recording);

/*
 * Calls `each` with all slices until `each` returns false: recording by recording, and within a
 * recording in the given order. A slice is valid during the call. An error of a recording is stored
 * in input->error and ends the iteration.
 */
void timeline_each(const struct export_input *input, enum recording_order order,
		   bool (*each)(void *context, const struct timeline_slice *slice), void *context);

#endif
