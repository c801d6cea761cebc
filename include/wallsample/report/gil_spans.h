/* SPDX-License-Identifier: MIT */
/*
 * gil_spans.h - the holders of an interpreter's lock over time, one thread at each moment.
 */
#ifndef WALLSAMPLE_REPORT_GIL_SPANS_H
#define WALLSAMPLE_REPORT_GIL_SPANS_H

#include "wallsample/report/timeline.h"

struct gil_span {
	size_t recording; /* of the input */
	uint32_t thread;  /* of the profile */
	uint64_t start_ns, end_ns;
};

/* Zeroed: empty. */
struct gil_spans {
	struct gil_span *span; /* after gil_spans_settle(): by recording, then by time */
	size_t count, capacity;
};

/* Adds a slice if its thread holds the lock. The slices of a thread are added consecutively. */
void gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice);
/*
 * Sorts the spans and removes overlaps. A tick samples its threads one after the other, so two may
 * seem to hold the lock at one tick: the earlier span is kept to its end, and the later one begins
 * there. The same applies to several interpreters, which have a lock each.
 */
void gil_spans_settle(struct gil_spans *spans);
void gil_spans_release(struct gil_spans *spans);

#endif
