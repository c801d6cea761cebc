/* SPDX-License-Identifier: MIT */
/* deadlock_internal.h - finds deadlocks among the threads of all processes. */
#ifndef WALLSAMPLE_SAMPLER_WAITS_DEADLOCK_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_DEADLOCK_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct run;

/* A thread in a ring of waiters (rings.h), as a search found it. */
struct ring_thread {
	pid_t tid;
	uint64_t object; /* address or, for a lock of a file, number of the lock */
	/* Times scheduled in. 0 if not compared: the thread waits for an interpreter's lock, and so
	 * wakes regularly to request it, and the thread that holds that lock waits for a lock of
	 * another kind. */
	uint64_t switches;
};

/* Deadlocks among the threads of all processes. */
struct deadlocks {
	struct run *run; /* borrowed */
	bool ended;      /* the last tick was made: processes that wait for each other count */

	uint64_t next_ns; /* the next search is not before tick.time_ns reaches this moment */
	/* The threads of all rings that the last search found, in ascending order of their ids;
	 * owned. */
	struct ring_thread *seen;
	size_t seen_count, seen_capacity;
	uint32_t unsure; /* number of rings of the last search that were not certain */
	/* Number of lock holders found by the last search that were awake and may be about to wait
	 * for an interpreter's lock. */
	uint32_t awake;
};

/* Searches for deadlocks if the time of the tick has reached next_ns. To be called when all threads
 * of the tick are observed. A ring that two successive searches found, and whose threads have not
 * run between the two (except to request an interpreter's lock again), is added to the profile. */
void deadlocks_tick(struct deadlocks *deadlocks);
/* At the end of the run, searches for deadlocks up to 5 times, 20 ms apart, until all rings are
 * certain: two successive searches found them, as in deadlocks_tick. Makes at least two searches if
 * a lock holder may be about to wait for an interpreter's lock. Also finds rings of processes that
 * wait for each other (peers_find_sole). Adds the certain rings to the profile. */
void deadlocks_last(struct deadlocks *deadlocks);

#endif
