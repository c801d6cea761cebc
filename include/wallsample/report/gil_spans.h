/* SPDX-License-Identifier: MIT */
/*
 * gil_spans.h - who had an interpreter's lock when, as one line of time: at any moment one thread.
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
	struct gil_span *span; /* once settled: by recording, then by time */
	size_t count, capacity;
};

/* Takes in a slice if the thread has the lock in it; slices of a thread come in a row. */
void gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice);
/*
 * Puts them in order. Threads are not looked at at the very same moment, so that two may seem to
 * have it at one tick: who had it before keeps it until his end. (Several interpreters may have
 * a lock each; of what they had at the same time the first is told.)
 */
void gil_spans_settle(struct gil_spans *spans);
void gil_spans_release(struct gil_spans *spans);

#endif
