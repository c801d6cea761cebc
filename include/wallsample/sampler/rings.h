/* SPDX-License-Identifier: MIT */
/*
 * rings.h - finds the rings (cycles) in the graph of lock waiters: each thread points to the thread
 * that holds the lock that it waits for. If all these waits exist at the same moment, a ring is a
 * deadlock.
 */
#ifndef WALLSAMPLE_SAMPLER_RINGS_H
#define WALLSAMPLE_SAMPLER_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Used instead of the number of a thread or ring, when there is no such thread or ring. */
#define RINGS_NONE UINT32_MAX

/* Threads have the numbers 0 to count - 1, and rings the numbers 0 to rings - 1. "By thread" and
 * "by ring" mean: an array with this number as its index. */
struct rings {
	/* By thread: number of the thread that holds the lock for which it waits, set by the
	 * caller; RINGS_NONE: it waits for no lock, or the holder is not known. */
	uint32_t *next;
	/* By thread: number of the ring that is reached from the thread by following `next`;
	 * RINGS_NONE: no ring is reached. */
	uint32_t *ring;
	bool *in_ring;   /* by thread: it is part of the ring ring[thread] */
	uint32_t *first; /* by ring: number of one of its threads */
	uint32_t rings;
	size_t count, first_capacity;
};

/* Initialises the graph of `count` threads, none of which waits; to be freed with rings_release. */
void rings_init(struct rings *rings, size_t count);
void rings_release(struct rings *rings);
/* Finds the rings from `next`: sets `ring`, `in_ring`, `first` and `rings`. Takes a time
 * proportional to `count`. May be called once after rings_init. */
void rings_find(struct rings *rings);
/*
 * Stores numbers of threads in `out`, which has room for all threads: first those of the threads in
 * the ring, each followed by the thread that holds the lock for which it waits; then, ascending,
 * those of the threads outside the ring from which `next` leads to the ring. Returns the number of
 * stored threads, and sets *in_ring to the number of those that are in the ring.
 */
size_t rings_list(const struct rings *rings, uint32_t ring, uint32_t *out, size_t *in_ring);

#endif
