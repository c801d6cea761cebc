/* SPDX-License-Identifier: MIT */
/*
 * pools.h - finds a pool of threads that is too small: all its threads are busy and mostly wait for
 * others, so that more threads could wait for more at once.
 *
 * A pool is two threads or more that lived for the whole run, that have run, and whose stacks begin
 * with the same function of the program. A thread of a pool waits for work, and is not busy, in a
 * wait for a condition variable, a semaphore, an unknown futex, a time-out, any of several
 * descriptors, a pipe, or a connection that was made to the program. It waits for others in a wait
 * for a connection that the program has made, for a file, or for a child process.
 */
#ifndef WALLSAMPLE_ANALYSIS_POOLS_H
#define WALLSAMPLE_ANALYSIS_POOLS_H

#include "wallsample/analysis/own_code.h"
#include "wallsample/analysis/view.h"

struct pool {
	uint32_t function; /* function of the view with which its threads begin */
	uint32_t threads;
	double busy; /* least share of the time in which all its threads were busy; from 0 to 1 */
	/* Function of the view in which other threads wait, without a time-out, for a condition
	 * variable or semaphore for half of their time or more, perhaps for a thread of the pool;
	 * UINT32_MAX: none. */
	uint32_t queue;
};

/* Finds the pool with the most time whose threads were all busy for at least 0.8 of the time, and
 * waited for others for at least half of it. Returns false if there is none. Both views must be by
 * function. */
bool pools_find_busy(const struct view *view, const struct own *own, struct pool *out);

#endif
