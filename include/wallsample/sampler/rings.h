/* SPDX-License-Identifier: MIT */
/* rings.h - who waits for whom: ways from one to the next, and the rings that some end in. */
#ifndef WALLSAMPLE_SAMPLER_RINGS_H
#define WALLSAMPLE_SAMPLER_RINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NOBODY UINT32_MAX

/* Threads by numbers below `count`. */
struct rings {
	uint32_t *next;  /* who has what it waits for, or NOBODY: filled in by the caller */
	uint32_t *ring;  /* the number of the ring that its way ends in; NOBODY: none */
	bool *in_ring;
	uint32_t *first; /* of each ring, one of its threads */
	uint32_t rings;
	size_t count, first_capacity;
};

/* Nobody waits. */
void rings_init(struct rings *rings, size_t count);
void rings_release(struct rings *rings);
/* Fills in all but `next`. Takes as long as there are threads. */
void rings_find(struct rings *rings);
/*
 * Numbers of threads: those of the ring, in its order, then those whose way ends in it. Returns
 * how many; the first *in_ring are the ring. `out` has room for all threads.
 */
size_t rings_list(const struct rings *rings, uint32_t ring, uint32_t *out, size_t *in_ring);

#endif
