/* SPDX-License-Identifier: MIT */
/*
 * gil_spans.h - the holders of an interpreter's lock over time, one thread at each moment.
 */
#ifndef WALLSAMPLE_REPORT_GIL_SPANS_H
#define WALLSAMPLE_REPORT_GIL_SPANS_H

#include "wallsample/report/timeline.h"

struct gil_span {
	size_t recording; /* index in input->recordings */
	uint32_t thread;  /* index in the profile */
	uint64_t start_ns, end_ns;
};

/* A list of spans; empty if all its bytes are zero. */
struct gil_spans {
	struct gil_span *span; /* gil_spans_settle() sorts them by recording, then by time */
	size_t count, capacity;
};

/* Adds the slice if its thread holds the lock. The caller adds the slices of one thread
 * consecutively. */
void gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice);
/*
 * Sorts the spans and removes overlaps: the earlier of two spans is kept to its end, and the later
 * one begins there. Spans overlap because a tick samples its threads one after the other, so that
 * two threads may seem to hold the lock at one tick; and because several interpreters have a lock
 * each.
 */
void gil_spans_settle(struct gil_spans *spans);
void gil_spans_release(struct gil_spans *spans);

#endif
