/* SPDX-License-Identifier: MIT */
/* gil_spans.c - merges the spans in which threads held an interpreter's lock. */
#include "wallsample/report/gil_spans.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

void
gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice)
{
	struct gil_span *last = spans->count > 0 ? &spans->span[spans->count - 1] : NULL;

	if (slice->gil != GIL_HAS)
		return;
	if (last != NULL && last->recording == slice->recording && last->thread == slice->thread &&
	    last->end_ns == slice->start_ns) {
		last->end_ns = slice->end_ns;
		return;
	}
	spans->span = xgrow(spans->span, &spans->capacity, spans->count + 1, sizeof(*spans->span));
	spans->span[spans->count++] = (struct gil_span){
		.recording = slice->recording,
		.thread = slice->thread,
		.start_ns = slice->start_ns,
		.end_ns = slice->end_ns,
	};
}

static int
compare_spans(const void *left, const void *right)
{
	const struct gil_span *a = left, *b = right;

	if (a->recording != b->recording)
		return a->recording < b->recording ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

void
gil_spans_settle(struct gil_spans *spans)
{
	size_t kept = 0;

	if (spans->count > 1)
		qsort(spans->span, spans->count, sizeof(*spans->span), compare_spans);
	for (size_t i = 0; i < spans->count; i++) {
		struct gil_span span = spans->span[i];
		const struct gil_span *before = kept > 0 ? &spans->span[kept - 1] : NULL;

		if (before != NULL && before->recording == span.recording &&
		    before->end_ns > span.start_ns)
			span.start_ns = before->end_ns;
		if (span.start_ns < span.end_ns)
			spans->span[kept++] = span;
	}
	spans->count = kept;
}

void
gil_spans_release(struct gil_spans *spans)
{
	free(spans->span);
	*spans = (struct gil_spans){ .span = NULL };
}
