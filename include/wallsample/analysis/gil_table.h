/* SPDX-License-Identifier: MIT */
/*
 * gil_table.h - how long threads held an interpreter's lock and waited for it.
 */
#ifndef WALLSAMPLE_ANALYSIS_GIL_TABLE_H
#define WALLSAMPLE_ANALYSIS_GIL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/runtime/gil.h"
#include "wallsample/analysis/view.h"

struct gil_row {
	uint32_t thread;       /* of the profile */
	int64_t ns[GIL_COUNT]; /* of its wall time; nothing for GIL_UNKNOWN */
	int64_t total_ns;      /* their sum: the time of which it is known */
};

struct gil_table {
	/* Threads whose relation to the lock is known; ordered by the time that they held it or
	 * waited for it, then by all their time, then by thread id. */
	struct gil_row *row;
	size_t count;          /* 0: there is no such lock, or nothing selected knows of one */
	size_t concerned;      /* the first of them: they held it or waited for it at some time */
	int64_t ns[GIL_COUNT], total_ns; /* of all rows */
	/* The part of the time that passed in which a thread held the lock (at most 1, although two
	 * may seem to hold it at one tick, and several interpreters may have a lock each), and the
	 * mean number of threads that waited for it, or to resume after handing it over. */
	double held_share, wait_average;
};

/* Of the samples that the view selects. */
void gil_table_make(const struct view *view, struct gil_table *out);
void gil_table_release(struct gil_table *table);

/* Several interpreters have a lock of their own; sums are over all of them then. */
bool gil_is_several(const struct profile *profile);

/* Time of waits for the lock, and for a CPU after handing it over. */
int64_t gil_waited_ns(const int64_t ns[GIL_COUNT]);

/* The lock limits a program that holds it, and has threads waiting for it, more than this. */
#define GIL_HELD_LIMIT 0.9
#define GIL_WAIT_LIMIT 0.5

#endif
