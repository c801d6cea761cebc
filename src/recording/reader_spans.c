/* SPDX-License-Identifier: MIT */
/* reader_spans.c - reads spans for timelines, in one of three orders (recording_order). */
#include <stdlib.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/*
 * Removes from a span the ticks before *next, which belong to an earlier span of the thread, and
 * ticks that are not in the recording. Returns false if no tick is left. Else sets *next to the
 * first tick after the span.
 */
static bool
place_span(const struct recording *recording, struct recording_span *span, uint64_t *next)
{
	const uint64_t count = recording->tick_count;

	if (span->first_tick < *next) {
		if (span->ticks <= *next - span->first_tick)
			return false;
		span->ticks -= *next - span->first_tick;
		span->first_tick = *next;
	}
	if (span->first_tick >= count)
		return false;
	if (span->ticks > count - span->first_tick)
		span->ticks = count - span->first_tick;
	*next = span->first_tick + span->ticks;
	return true;
}

/*
 * Calls `each` with each contiguous range of selected ticks of the span. Returns false if `each`
 * has returned false.
 */
static bool
split_span(const struct recording *recording, const struct recording_span *span,
	   bool (*each)(void *context, const struct recording_span *span), void *context)
{
	const uint64_t end = span->first_tick + span->ticks;
	uint64_t from = span->first_tick;

	while (from < end) {
		struct recording_span part = *span;
		uint64_t to = recording->turn != NULL ? recording->turn[from] : end;
		const struct recording_tick *last;

		if (!recording_tick_wanted(recording, from)) {
			from = to;
			continue;
		}
		if (to > end)
			to = end;
		last = &recording->tick[to - 1];
		part.first_tick = from;
		part.ticks = to - from;
		part.start_ns = recording->tick[from].start_ns;
		part.end_ns = last->start_ns + last->span_ns;
		if (!each(context, &part))
			return false;
		from = to;
	}
	return true;
}

/*
 * Makes a span from the row. Returns false if the row has no place in the timeline. For each thread
 * of the profile, `next` holds the first tick after the thread's last span.
 */
static bool
read_span(const struct rows *rows, uint64_t *next, struct recording_span *span)
{
	const struct recording *recording = rows->recording;

	*span = reader_span_of(recording, &rows->row.spans);
	span->settled_tick = span->first_tick; /* RECORDING_BY_TIME sorts the rows by first_tick */
	if (recording->threads_only &&
	    !reader_is_of_thread(recording->profile, &span->thread, &span->carrier))
		return false;
	return place_span(recording, span, &next[span->thread]);
}

/* SPANS: SQL that selects the spans with a place in time and begins to order them; a row without
 * samples or without ticks has only weights. OF_THREAD: the thread that ran the green task or, for
 * samples of a thread itself, this thread. */
#define SPANS "WHERE samples > 0 AND ticks > 0 ORDER BY "
#define OF_THREAD "CASE WHEN carrier >= 0 THEN carrier ELSE thread END"

/* SQL after the name of table spans; indexed by enum recording_order */
static const char *const tails[] = { SPANS "id", SPANS "first_tick, id",
				     SPANS "thread, first_tick, id" };

int
recording_each_span(struct recording *recording, enum recording_order order,
		    bool (*each)(void *context, const struct recording_span *span), void *context,
		    struct error *err)
{
	uint64_t *next = xcalloc(profile_thread_count(recording->profile) + 1, sizeof(*next));
	/* With threads_only, spans of green tasks belong to the threads that ran the tasks. */
	const bool by_carrier = recording->threads_only && order == RECORDING_BY_THREAD;
	bool more = true;
	struct rows rows;

	rows_begin(&rows, recording, TABLE_SPANS,
		   by_carrier ? SPANS OF_THREAD ", first_tick, id" : tails[order]);
	while (more && rows_next(&rows)) {
		struct recording_span span;

		if (read_span(&rows, next, &span))
			more = split_span(recording, &span, each, context);
	}
	free(next);
	/* If `each` ended the iteration, the unread rows are no error. */
	if (!more)
		rows.rc = SQLITE_DONE;
	return rows_end(&rows, "samples", err);
}
