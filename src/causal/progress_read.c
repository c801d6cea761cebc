/* SPDX-License-Identifier: MIT */
/*
 * progress_read.c - reads all counters of a target: its memory in one call, without a stop.
 */
#include <stdlib.h>
#include <string.h>

#include "progress_parts.h"
#include "wallsample/base.h"

/* Threads that are tried when the first one has ended. */
#define READERS_MOST 16
#define PIECES_MOST (2 * CAUSAL_POINTS_MOST)

/* What is to be read of memory, and whose it is. */
struct reading {
	struct memory_piece piece[PIECES_MOST];
	struct progress_counter *counter[PIECES_MOST];
	uint64_t value[PIECES_MOST]; /* one behind the other, packed */
	size_t count;
};

/*
 * Ends before their begins, as memory is read in this order: an event that both begins and ends
 * meanwhile must not make it fewer than none in progress.
 */
static void
collect(struct progress *progress, struct reading *reading)
{
	for (size_t i = 0; i < progress->count; i++) {
		struct progress_entry *entry = &progress->entry[i];

		for (size_t s = entry->words.source_count; s-- > 0;) {
			struct progress_counter *counter = &entry->counter[s];

			if (counter->source->kind != PROGRESS_VAR)
				continue;
			reading->piece[reading->count] = (struct memory_piece){
				counter->place.address, counter->size };
			reading->counter[reading->count++] = counter;
		}
	}
}

/* By the thread that did it last time; if that has ended, by another one. */
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

static bool
read_memory(struct progress *progress)
{
	struct reading reading = { .count = 0 };
	const uint8_t *at = (const uint8_t *)reading.value;

	collect(progress, &reading);
	if (reading.count == 0)
		return true;
	if (!read_pieces(progress, &reading))
		return false;
	for (size_t i = 0; i < reading.count; i++) {
		uint64_t value = 0;

		/* Little-endian, as every target is. */
		memcpy(&value, at, reading.piece[i].size);
		at += reading.piece[i].size;
		progress_counter_step(reading.counter[i], value);
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
