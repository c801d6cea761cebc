/* SPDX-License-Identifier: MIT */
/*
 * progress_internal.h - a target's progress points, as the files progress_*.c share them.
 */
#ifndef WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H
#define WALLSAMPLE_CAUSAL_PROGRESS_INTERNAL_H

#include "causal/progress_coz_points_internal.h"
#include "causal/progress_place_internal.h"
#include "causal/progress_words_internal.h"
#include "wallsample/tracer/memory.h"
#include "wallsample/causal/progress.h"

/* One thing that counts, in the target. */
struct progress_counter {
	const struct progress_source *source;
	struct progress_place place;  /* VAR, FUNC, LINE */
	struct progress_coz_places coz; /* COZ: where it is counted, as far as is known */
	unsigned size;      /* bytes: differences are modulo this */
	bool known;         /* `now` was read */
	uint64_t now;       /* what it reads */
	uint64_t total;     /* events since progress_open */
	uint64_t back;      /* times that it went back */
};

struct progress_entry {
	struct progress_words words;
	struct progress_counter counter[2];
	bool exact;         /* LATENCY: begun - ended is how many are in progress */
	int64_t least;      /* LATENCY, not exact: of begun - ended since progress_open */
};

struct progress {
	const struct process *process;
	struct maps *maps;
	struct symbols *symbols;
	pid_t reader;       /* a thread by which memory can be read */
	int io_fd;          /* /proc/PID/io; -1: not wanted */
	struct progress_coz coz;
	struct progress_entry entry[CAUSAL_POINTS_MOST];
	size_t count;
	size_t left_out;    /* points of coz.h for which there was no room */
	struct progress_counted counted[PROGRESS_COUNTED_MOST];
	struct progress_counter *counted_counter[PROGRESS_COUNTED_MOST];
	uint64_t counted_total[PROGRESS_COUNTED_MOST];
	size_t counted_count;
};

/*
 * A new reading of a counter: events are added to its total. Four bytes and more that jump by more
 * than half of all values are taken to have been set back, and nothing is added.
 */
void progress_counter_step(struct progress_counter *counter, uint64_t now);

/* Reads all counters; false: the target has gone, or memory of it cannot be read any more. */
bool progress_read_counters(struct progress *progress);

/* To be called once, after all counters were read for the first time. */
void progress_entry_start(struct progress_entry *entry);
/* The value of a point, all counters being read. */
struct progress_value progress_entry_value(struct progress_entry *entry);

/* The number behind "FIELD: " in the text of /proc/PID/io. */
bool progress_io_parse(const char *text, enum progress_io_field field, uint64_t *value);

/*
 * Finds a counter of coz.h. No error when the program has not come by it yet: then it is looked for
 * with each reading. A latency by one name shows as soon as both its counters are there.
 */
int progress_coz_open(struct progress *progress, const struct progress_images *images,
		      struct progress_counter *counter, struct error *err);
/* Makes points of all that there are, up to CAUSAL_POINTS_MOST. */
int progress_coz_open_all(struct progress *progress, const struct progress_images *images,
			  struct error *err);
/* Reads the table again, and finds in it what there is by now. */
bool progress_coz_settle(struct progress *progress);

/* Opens /proc/PID/io. ERROR_NOT_PERMITTED says why it may be refused. */
int progress_io_open(const struct process *process, int *fd, struct error *err);
/* Reads all fields; false: the process has gone, or one may not any more. */
bool progress_io_read(int fd, uint64_t value[PROGRESS_IO_FIELD_COUNT]);

#endif
