/* SPDX-License-Identifier: MIT */
/*
 * gil_table.h - how long threads held an interpreter's lock, and how long they waited for the lock.
 */
#ifndef WALLSAMPLE_ANALYSIS_GIL_TABLE_H
#define WALLSAMPLE_ANALYSIS_GIL_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/runtime/gil.h"
#include "wallsample/analysis/view.h"

struct gil_row {
	uint32_t thread;       /* id in the profile */
	int64_t ns[GIL_COUNT]; /* wall time by relation to the lock; 0 for GIL_UNKNOWN */
	int64_t total_ns;      /* sum of `ns`: wall time with a known relation to the lock */
};

struct gil_table {
	/*
	 * Threads whose relation to the lock is known, ordered by the time that they held the lock
	 * or waited for it, then by total_ns, both descending, then by tid.
	 */
	struct gil_row *row;
	/* 0 if no interpreter has a lock, or no selected thread has a known relation to it */
	size_t count;
	/* number of threads that held the lock or waited for it; their rows come first */
	size_t concerned;
	int64_t ns[GIL_COUNT], total_ns; /* sums of these members over all rows */
	/*
	 * held_share is the share of elapsed time in which a thread held the lock, at most 1: two
	 * threads may seem to hold the lock at one tick, and interpreters may have a lock each.
	 * wait_average is the mean number of threads that waited for the lock, or for a CPU after
	 * handing the lock over.
	 */
	double held_share, wait_average;
};

/* Fills `out` from the samples that the view selects. The caller frees out->row. */
void gil_table_make(const struct view *view, struct gil_table *out);

/*
 * True if several interpreters have a lock each, and a thread waited for one of the locks. The sums
 * of a gil_table are over all locks.
 */
bool gil_is_several(const struct profile *profile);

/* Returns the sum of the waits for the lock and the waits for a CPU after handing the lock over. */
int64_t gil_waited_ns(const int64_t ns[GIL_COUNT]);

/* The lock limits a program if held_share and wait_average are above these limits. */
#define GIL_HELD_LIMIT 0.9
#define GIL_WAIT_LIMIT 0.5

#endif
