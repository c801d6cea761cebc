/* SPDX-License-Identifier: MIT */
/*
 * rings.h - the graph of waiters and lock holders: each thread points to the holder of the lock
 * that it waits for. Finds the rings, which are deadlocks.
 */
#ifndef WALLSAMPLE_SAMPLER_RINGS_H
#define WALLSAMPLE_SAMPLER_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RINGS_NONE UINT32_MAX /* no thread, no ring */

/* Threads have numbers below `count`. */
struct rings {
	/* By thread: the holder of the lock that it waits for, set by the caller; RINGS_NONE:
	 * none. */
	uint32_t *next;
	/* By thread: number of the ring in which its path ends; RINGS_NONE: none. */
	uint32_t *ring;
	bool *in_ring;   /* by thread: it is part of that ring */
	uint32_t *first; /* by ring: one of its threads */
	uint32_t rings;
	size_t count, first_capacity;
};

/* Initialises the graph of `count` threads, none of which waits; to be freed with rings_release. */
void rings_init(struct rings *rings, size_t count);
void rings_release(struct rings *rings);
/* Fills in all but `next`, in time proportional to `count`. */
void rings_find(struct rings *rings);
/*
 * Fills `out`, which has room for all threads, with the threads of the ring in its order, then
 * those whose path ends in it. Returns their number; the first *in_ring are the ring.
 */
size_t rings_list(const struct rings *rings, uint32_t ring, uint32_t *out, size_t *in_ring);

#endif
