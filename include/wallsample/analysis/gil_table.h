/* SPDX-License-Identifier: MIT */
/*
 * gil_table.h - who had an interpreter's lock, who waited for it, and how long in all.
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
	/* Threads of which anything is known; by the time that they had the lock or waited for
	 * it, then by all their time, then by thread id. */
	struct gil_row *row;
	size_t count;          /* 0: there is no such lock, or nothing selected knows of one */
	size_t concerned;      /* the first of them: they had it, or waited for it, at some time */
	int64_t ns[GIL_COUNT], total_ns; /* of all rows */
	/* Of the time that passed: the part in which a thread had it (never above 1, although two
	 * may seem to have it at one tick, and several interpreters may have a lock each), and how
	 * many threads waited for it on average, or to go on after having handed it over. */
	double held_share, wait_average;
};

/* Of the samples that the view selects. */
void gil_table_make(const struct view *view, struct gil_table *out);
void gil_table_release(struct gil_table *table);

/* Was one of several such locks waited for, one for each interpreter? Then sums are of all. */
bool gil_is_several(const struct profile *profile);

/* Waiting for the lock, or for the CPU after having handed it over. */
int64_t gil_waited_ns(const int64_t ns[GIL_COUNT]);

/* The lock is what limits a program if it is held, and waited for by threads, more than this. */
#define GIL_HELD_LIMIT 0.9
#define GIL_WAIT_LIMIT 0.5

#endif
