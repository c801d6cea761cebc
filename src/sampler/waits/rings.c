/* SPDX-License-Identifier: MIT */
/*
 * rings.c - follows, for each thread, the path to the holder of the lock that it waits for, to the
 * holder of the lock that this holder waits for, and so on. Each thread is visited once. A path
 * ends at a thread that does not wait, at a thread that an earlier path visited, or in a ring.
 */
#include "wallsample/sampler/rings.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

void
rings_init(struct rings *rings, size_t count)
{
	*rings = (struct rings){
		.next = xcalloc(count + 1, sizeof(*rings->next)),
		.ring = xcalloc(count + 1, sizeof(*rings->ring)),
		.in_ring = xcalloc(count + 1, sizeof(*rings->in_ring)),
		.count = count,
	};
	for (size_t i = 0; i < count; i++)
		rings->next[i] = rings->ring[i] = RINGS_NONE;
}

void
rings_release(struct rings *rings)
{
	free(rings->next);
	free(rings->ring);
	free(rings->in_ring);
	free(rings->first);
}

void
rings_find(struct rings *rings)
{
	/* For each thread, the number of the path that visited it, counted from 1; 0: no path
	 * yet. */
	uint32_t *walk = xcalloc(rings->count + 1, sizeof(*walk));

	for (uint32_t start = 0; start < rings->count; start++) {
		uint32_t at = start, ring = RINGS_NONE;

		while (at != RINGS_NONE && walk[at] == 0) {
			walk[at] = start + 1;
			at = rings->next[at];
		}
		if (at != RINGS_NONE && walk[at] == start + 1) {
			ring = rings->rings++;
			rings->first = xgrow(rings->first, &rings->first_capacity, rings->rings,
					     sizeof(*rings->first));
			rings->first[ring] = at;
			for (uint32_t i = at; !rings->in_ring[i]; i = rings->next[i])
				rings->in_ring[i] = true;
		} else if (at != RINGS_NONE) {
			ring = rings->ring[at];
		}
		if (ring == RINGS_NONE)
			continue;
		for (uint32_t i = start; walk[i] == start + 1 && rings->ring[i] == RINGS_NONE;
		     i = rings->next[i])
			rings->ring[i] = ring;
	}
	free(walk);
}

size_t
rings_list(const struct rings *rings, uint32_t ring, uint32_t *out, size_t *in_ring)
{
	const uint32_t first = rings->first[ring];
	size_t count = 0;

	for (uint32_t at = first; count == 0 || at != first; at = rings->next[at])
		out[count++] = at;
	*in_ring = count;
	for (uint32_t i = 0; i < rings->count; i++)
		if (rings->ring[i] == ring && !rings->in_ring[i])
			out[count++] = i;
	return count;
}
