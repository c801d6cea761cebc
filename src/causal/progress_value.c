/* SPDX-License-Identifier: MIT */
/*
 * progress_value.c - converts readings of counters into events and the number in progress.
 */
#include "causal/progress_internal.h"

/* The largest value of a counter of `size` bytes. */
static uint64_t
mask_of(unsigned size)
{
	return size >= 8 ? UINT64_MAX : (UINT64_C(1) << (8 * size)) - 1;
}

void
progress_counter_step(struct progress_counter *counter, uint64_t now)
{
	const uint64_t mask = mask_of(counter->size);
	const uint64_t step = (now - counter->now) & mask;

	now &= mask;
	if (!counter->known || (counter->size >= 4 && step > mask / 2)) {
		counter->back += counter->known;
	} else {
		counter->total += step;
	}
	counter->known = true;
	counter->now = now;
}

/* begin - end as read, modulo the smaller size; the highest bit is the sign. */
static int64_t
plain_difference(const struct progress_counter *begin, const struct progress_counter *end)
{
	const unsigned size = begin->size < end->size ? begin->size : end->size;
	const uint64_t mask = mask_of(size), difference = (begin->now - end->now) & mask;

	return difference > mask / 2 ? -(int64_t)(mask - difference) - 1 : (int64_t)difference;
}

/* True when both counters are in memory, and counted from the start of the program. */
static bool
may_be_exact(const struct progress_entry *entry)
{
	for (size_t i = 0; i < 2; i++) {
		const enum progress_source_kind kind = entry->words.source[i].kind;

		if (kind != PROGRESS_VAR && kind != PROGRESS_COZ)
			return false;
	}
	return true;
}

void
progress_entry_start(struct progress_entry *entry)
{
	/* With more ends than begins the difference is not the number in progress. */
	entry->exact = entry->words.kind == CAUSAL_LATENCY && may_be_exact(entry) &&
		       plain_difference(&entry->counter[0], &entry->counter[1]) >= 0;
	entry->least = 0;
}

struct progress_value
progress_entry_value(struct progress_entry *entry)
{
	const struct progress_counter *begin = &entry->counter[0], *end = &entry->counter[1];
	struct progress_value value = { .count = begin->total };
	int64_t between;

	if (entry->words.kind != CAUSAL_LATENCY)
		return value;
	value.count = end->total;
	if (entry->exact) {
		between = plain_difference(begin, end);
		value.in_progress = between > 0 ? between : 0;
		return value;
	}
	/* The number in progress at the open is not known. Its minimum since then is taken as 0. */
	between = (int64_t)(begin->total - end->total);
	if (between < entry->least)
		entry->least = between;
	value.in_progress = between - entry->least;
	return value;
}
