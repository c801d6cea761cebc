/* SPDX-License-Identifier: MIT */
/*
 * progress_read.c - reads all counters of a target: its memory in one call, without a stop.
 */
#include <stdlib.h>
#include <string.h>

#include "causal/progress_internal.h"

/* Threads that are tried when the first one has ended. */
#define READERS_MOST 16
/* One more for the number of points in use of coz.h. */
#define PIECES_MOST (2 * CAUSAL_POINTS_MOST * PROGRESS_COZ_PLACES_MOST + 1)

/* The pieces of memory to be read, and the counters that they belong to. */
struct reading {
	struct memory_piece piece[PIECES_MOST];
	struct progress_counter *counter[PIECES_MOST]; /* NULL: not a counter */
	uint64_t value[PIECES_MOST];                   /* packed, without padding */
	size_t count;
	uint32_t coz_used;
};

static void
add_piece(struct reading *reading, struct progress_counter *counter, uint64_t address, size_t size)
{
	reading->piece[reading->count] = (struct memory_piece){ address, size };
	reading->counter[reading->count++] = counter;
}

static void
add_counter(struct reading *reading, struct progress_counter *counter)
{
	if (counter->source->kind == PROGRESS_VAR)
		add_piece(reading, counter, counter->place.address, counter->size);
	else if (counter->source->kind == PROGRESS_COZ)
		for (size_t i = 0; i < counter->coz.count; i++)
			add_piece(reading, counter, counter->coz.address[i], counter->size);
}

/*
 * Collects the pieces, ends before their begins, because memory is read in this order: an event
 * that begins and ends during the read must not make the number in progress negative.
 */
static void
collect(struct progress *progress, struct reading *reading)
{
	for (size_t i = 0; i < progress->count; i++) {
		struct progress_entry *entry = &progress->entry[i];

		for (size_t s = entry->words.source_count; s-- > 0;)
			add_counter(reading, &entry->counter[s]);
	}
	if (progress->coz.table != 0)
		add_piece(reading, NULL,
			  progress->coz.table + offsetof(struct progress_coz_table, used),
			  sizeof(reading->coz_used));
}

/* Reads by the id of the previous thread, or of another one if that has ended. */
static bool
read_pieces(struct progress *progress, struct reading *reading)
{
	pid_t *tids = NULL;
	size_t capacity = 0, count;
	bool done = memory_read_pieces(progress->reader, reading->piece, reading->count,
				       reading->value) == reading->count;

	if (done)
		return true;
	count = process_list_threads(progress->process, &tids, &capacity);
	for (size_t i = 0; i < count && i < READERS_MOST && !done; i++) {
		done = memory_read_pieces(tids[i], reading->piece, reading->count,
					  reading->value) == reading->count;
		if (done)
			progress->reader = tids[i];
	}
	free(tids);
	return done;
}

/* Parses the values; those of consecutive pieces of one counter are added up. */
static void
take_pieces(struct reading *reading)
{
	const uint8_t *at = (const uint8_t *)reading->value;
	uint64_t sum = 0;

	for (size_t i = 0; i < reading->count; i++) {
		struct progress_counter *counter = reading->counter[i];
		uint64_t value = 0;

		/* Every target is little-endian. */
		memcpy(&value, at, reading->piece[i].size);
		at += reading->piece[i].size;
		sum += value;
		if (counter == NULL)
			reading->coz_used = (uint32_t)value;
		else if (i + 1 == reading->count || reading->counter[i + 1] != counter)
			progress_counter_step(counter, sum);
		else
			continue;
		sum = 0;
	}
}

static bool
read_memory(struct progress *progress)
{
	/* The second pass is for points of coz.h that are new. */
	for (int i = 0; i < 2; i++) {
		struct reading reading = { .count = 0 };

		collect(progress, &reading);
		if (reading.count == 0)
			return true;
		if (!read_pieces(progress, &reading))
			return false;
		take_pieces(&reading);
		if (progress->coz.table == 0 ||
		    (reading.coz_used == progress->coz.used && !progress->coz.waiting))
			return true;
		/* The table has become invalid: no new points. */
		if (!progress_coz_settle(progress))
			return true;
	}
	return true;
}

static bool
read_io(struct progress *progress)
{
	uint64_t value[PROGRESS_IO_FIELD_COUNT];

	if (progress->io_fd < 0)
		return true;
	if (!progress_io_read(progress->io_fd, value))
		return false;
	for (size_t i = 0; i < progress->count; i++) {
		struct progress_entry *entry = &progress->entry[i];

		for (size_t s = 0; s < entry->words.source_count; s++)
			if (entry->counter[s].source->kind == PROGRESS_IO)
				progress_counter_step(&entry->counter[s],
						      value[entry->counter[s].source->number]);
	}
	return true;
}

static void
take_counted(struct progress *progress)
{
	for (size_t i = 0; i < progress->counted_count; i++)
		progress_counter_step(progress->counted_counter[i], progress->counted_total[i]);
}

bool
progress_read_counters(struct progress *progress)
{
	take_counted(progress);
	return read_memory(progress) && read_io(progress);
}

bool
progress_read(struct progress *progress, struct progress_value *value)
{
	if (!progress_read_counters(progress))
		return false;
	for (size_t i = 0; i < progress->count; i++)
		value[i] = progress_entry_value(&progress->entry[i]);
	return true;
}

void
progress_set_counted(struct progress *progress, const uint64_t *total, size_t count)
{
	for (size_t i = 0; i < count && i < progress->counted_count; i++)
		progress->counted_total[i] = total[i];
}
