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
	uint32_t *next;  /* the holder, or RINGS_NONE: filled in by the caller */
	uint32_t *ring;  /* number of the ring that the path of the thread ends in; or RINGS_NONE */
	bool *in_ring;   /* the thread is part of that ring */
	uint32_t *first; /* of each ring, one of its threads */
	uint32_t rings;
	size_t count, first_capacity;
};

/* No thread waits. */
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
