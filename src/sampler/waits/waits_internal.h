/* SPDX-License-Identifier: MIT */
/*
 * waits_internal.h - threads that wait for one another in a ring, and those that are stuck
 * behind it.
 */
#ifndef WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H
#define WALLSAMPLE_SAMPLER_WAITS_WAITS_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct sampler;

/* One of a ring, as it was seen last. */
struct ring_thread {
	pid_t tid;
	uint64_t object, switches;
};

struct deadlocks {
	uint64_t next_ns;          /* when to look again */
	struct ring_thread *seen;  /* those of all rings, by thread id */
	size_t seen_count, seen_capacity;
	/* Of the last look: rings that were others the time before, and holders of something that
	 * may wait for an interpreter's lock, but were awake. */
	uint32_t unsure, awake;
};

void deadlocks_release(struct deadlocks *deadlocks);

/* Everybody was looked at: now and then looks for rings. A ring that was there the last time, too,
 * and whose threads have not run since, goes to the profile. */
void deadlocks_tick(struct sampler *sampler);
/* There is no tick any more: what looks like a ring is looked at again, some moments later. */
void deadlocks_last(struct sampler *sampler);

#endif
