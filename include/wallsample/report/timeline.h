/* SPDX-License-Identifier: MIT */
/*
 * timeline.h - what threads did, in the order of time, as the exporters that show time want it.
 *
 * It goes through the recordings that a view was made of, and gives what the view selects.
 */
#ifndef WALLSAMPLE_REPORT_TIMELINE_H
#define WALLSAMPLE_REPORT_TIMELINE_H

#include "wallsample/report/export.h"

/* A stretch of time in which a thread was seen in one place. */
struct timeline_slice {
	size_t recording; /* of the input */
	uint32_t thread;  /* of the profile */
	enum run_state state;
	int32_t syscall;
	uint32_t wait;    /* of the profile */
	enum gil gil;
	const uint32_t *function; /* as of struct view_row */
	size_t depth;
	uint64_t first_tick, ticks; /* of the recording */
	uint64_t settled_tick;      /* as of struct recording_span */
	uint64_t start_ns, end_ns;  /* see timeline_base */
};

/*
 * What has to be added to a time of the recording: then it is CLOCK_MONOTONIC of the machine if
 * all recordings are of one, and have its clock; else CLOCK_REALTIME, which is less exact.
 */
uint64_t timeline_base(const struct export_input *input, size_t recording);

/*
 * Calls `each` with all slices until it returns false: recording by recording, each in the order
 * asked for. What is wrong with a recording goes to the input's error and ends it.
 */
void timeline_each(const struct export_input *input, enum recording_order order,
		   bool (*each)(void *context, const struct timeline_slice *slice),
		   void *context);

#endif
