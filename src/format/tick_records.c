/* SPDX-License-Identifier: MIT */
/*
 * tick_records.c - divides the slices of a timeline into one record per thread and tick, and puts
 * the records in the order of time.
 */
#include "format/tick_records_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

/* A slice of a thread (timeline.h) whose records for the ticks before `tick` have been yielded. */
struct due {
	uint64_t tick, end_tick;
	uint64_t number; /* number of slices added before this one */
	struct timeline_slice slice;
};

struct ordering {
	const struct export_input *input;
	size_t recording; /* index of the recording that the slices of `due` belong to */
	struct due *due;  /* a heap: the slice with the earliest tick is first */
	size_t count, capacity;
	uint64_t slices;
	bool (*each)(void *context, const struct tick_record *record);
	void *context;
	bool ended; /* each() has returned false */
};

/* --- records ---------------------------------------------------------------------------- */

bool
tick_records_has(enum weight sort, enum run_state state)
{
	return sort == WEIGHT_WALL || state == RUN_RUNNING ||
	       (sort == WEIGHT_LATENCY && run_state_runnable(state));
}

static uint64_t
period_of(const struct ordering *ordering, const struct recording_tick *tick)
{
	if (ordering->input->sort != WEIGHT_LATENCY)
		return tick->span_ns;
	return tick->runnable > 0 ? (tick->span_ns + tick->runnable / 2) / tick->runnable : 0;
}

/* Yields the record of the tick due->tick. Returns false when there shall be no more records. */
static bool
yield_record(const struct ordering *ordering, const struct due *due)
{
	const struct timeline_slice *slice = &due->slice;
	const struct recording *recording = ordering->input->recordings[slice->recording];
	const struct recording_tick *first = recording_tick(recording, slice->first_tick);
	const struct recording_tick *tick = recording_tick(recording, due->tick);
	const struct tick_record record = {
		.slice = slice,
		.recording = recording,
		.ns = slice->start_ns + (tick->start_ns - first->start_ns) + tick->span_ns,
		.period = period_of(ordering, tick),
		.parallelism = tick->parallelism,
	};

	return record.period == 0 || ordering->each(ordering->context, &record);
}

/* --- in the order of time --------------------------------------------------------------- */

static bool
is_before(const struct due *a, const struct due *b)
{
	return a->tick != b->tick ? a->tick < b->tick : a->number < b->number;
}

static void
swap(struct due *a, struct due *b)
{
	const struct due kept = *a;

	*a = *b;
	*b = kept;
}

static void
add_due(struct ordering *ordering, const struct timeline_slice *slice)
{
	size_t at = ordering->count;

	ordering->due = xgrow(ordering->due, &ordering->capacity, ordering->count + 1,
			      sizeof(*ordering->due));
	ordering->due[ordering->count++] = (struct due){
		.tick = slice->first_tick,
		.end_tick = slice->first_tick + slice->ticks,
		.number = ordering->slices++,
		.slice = *slice,
	};
	for (; at > 0 && is_before(&ordering->due[at], &ordering->due[(at - 1) / 2]);
	     at = (at - 1) / 2)
		swap(&ordering->due[at], &ordering->due[(at - 1) / 2]);
}

/*
 * Restores the heap after the tick of its first slice was increased. Removes that slice if it has
 * ended.
 */
static void
settle_earliest(struct ordering *ordering)
{
	struct due *due = ordering->due;
	size_t at = 0, child;

	if (due[0].tick >= due[0].end_tick)
		due[0] = due[--ordering->count];
	while ((child = 2 * at + 1) < ordering->count) {
		if (child + 1 < ordering->count && is_before(&due[child + 1], &due[child]))
			child++;
		if (!is_before(&due[child], &due[at]))
			return;
		swap(&due[at], &due[child]);
		at = child;
	}
}

/* Yields all records of ticks before `tick`. Returns false when there shall be no more records. */
static bool
yield_until(struct ordering *ordering, uint64_t tick)
{
	while (ordering->count > 0 && ordering->due[0].tick < tick) {
		if (!yield_record(ordering, &ordering->due[0]))
			return false;
		ordering->due[0].tick++;
		settle_earliest(ordering);
	}
	return true;
}

static bool
on_slice(void *context, const struct timeline_slice *slice)
{
	struct ordering *ordering = context;
	const bool same = slice->recording == ordering->recording;

	ordering->ended = !yield_until(ordering, same ? slice->settled_tick : UINT64_MAX);
	if (ordering->ended)
		return false;
	ordering->recording = slice->recording;
	if (tick_records_has(ordering->input->sort, slice->state))
		add_due(ordering, slice);
	return true;
}

static int
compare_beginnings(const void *left, const void *right)
{
	const struct recording_info *a = recording_info(*(struct recording *const *)left);
	const struct recording_info *b = recording_info(*(struct recording *const *)right);

	if (a->began != b->began)
		return a->began < b->began ? -1 : 1;
	return (a->clock_ns > b->clock_ns) - (a->clock_ns < b->clock_ns);
}

void
tick_records_each(const struct export_input *input,
		  bool (*each)(void *context, const struct tick_record *record), void *context)
{
	const size_t count = input->recording_count;
	struct recording **sorted = xcalloc(count + 1, sizeof(struct recording *));
	struct export_input in_order = *input;
	struct ordering ordering = { .input = &in_order, .each = each, .context = context };

	for (size_t i = 0; i < count; i++)
		sorted[i] = input->recordings[i];
	if (count > 1)
		qsort(sorted, count, sizeof(struct recording *), compare_beginnings);
	in_order.recordings = sorted;
	timeline_each(&in_order, RECORDING_BY_TIME, on_slice, &ordering);
	if (!ordering.ended)
		(void)yield_until(&ordering, UINT64_MAX);
	free(ordering.due);
	free(sorted);
}
