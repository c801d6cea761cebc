/* SPDX-License-Identifier: MIT */
/* profile_wait.c - of a profile: waits, who is to blame for them, and deadlocks. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "wallsample/base/base.h"

uint32_t
profile_nobody(struct profile *profile)
{
	/* No thread has the id 0, and those that share it have no start time. */
	return profile_add_thread(profile, 0, 1, "[nobody]");
}

uint32_t
profile_add_wait(struct profile *profile, const struct profile_wait *wait)
{
	const uint64_t kind = (uint64_t)wait->kind << 1 | wait->timed;
	const uint32_t fresh = (uint32_t)profile->wait_count;
	bool added;
	const uint32_t id = *table_place(&profile->wait_table, kind, wait->object, fresh, &added);

	if (added) {
		profile->wait = xgrow(profile->wait, &profile->wait_capacity,
				      profile->wait_count + 1, sizeof(*profile->wait));
		profile->wait[profile->wait_count++] = *wait;
	} else if (wait->most > profile->wait[id].most) {
		profile->wait[id].most = wait->most;
	}
	return id;
}

void
profile_raise_most(struct profile *profile, uint32_t wait, uint32_t most)
{
	if (most > profile->wait[wait].most)
		profile->wait[wait].most = most;
}

void
profile_add_blame(struct profile *profile, const struct profile_blame *blame)
{
	const uint32_t fresh = (uint32_t)profile->blame_count;
	bool added;
	const uint32_t id = *table_place(&profile->blame_table,
					 (uint64_t)blame->wait << 32 | blame->thread,
					 (uint64_t)blame->stack << 32 | (uint32_t)blame->state,
					 fresh, &added);

	if (profile->recorder != NULL && profile->recorder->blame != NULL)
		profile->recorder->blame(profile->recorder->context, blame);
	if (!added) {
		profile->blame[id].samples += blame->samples;
		profile->blame[id].ns += blame->ns;
		return;
	}
	profile->blame = xgrow(profile->blame, &profile->blame_capacity,
			       profile->blame_count + 1, sizeof(*profile->blame));
	profile->blame[profile->blame_count++] = *blame;
}

/* Two of one ring may begin with another of its threads: the same whatever their order. */
static uint64_t
sum_of_ring(const struct profile_stuck *stuck, size_t ring)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ring; i++)
		sum += hash_u64((uint64_t)stuck[i].thread << 32 | stuck[i].wait);
	return sum;
}

void
profile_add_deadlock(struct profile *profile, const struct profile_stuck *stuck, size_t count,
		     size_t ring)
{
	struct profile_deadlock *deadlock;
	bool added;
	const uint32_t at = *table_place(&profile->deadlock_table, sum_of_ring(stuck, ring), ring,
					 (uint32_t)profile->deadlock_count, &added);

	if (added) {
		profile->deadlock = xgrow(profile->deadlock, &profile->deadlock_capacity,
					  profile->deadlock_count + 1, sizeof(*profile->deadlock));
		profile->deadlock[profile->deadlock_count++] =
			(struct profile_deadlock){ .count = 0 };
	}
	deadlock = &profile->deadlock[at];
	deadlock->stuck = xrealloc(deadlock->stuck, count * sizeof(*stuck));
	memcpy(deadlock->stuck, stuck, count * sizeof(*stuck));
	deadlock->count = count;
	deadlock->ring = ring;
}

size_t
profile_wait_count(const struct profile *profile)
{
	return profile->wait_count;
}

size_t
profile_blame_count(const struct profile *profile)
{
	return profile->blame_count;
}

size_t
profile_deadlock_count(const struct profile *profile)
{
	return profile->deadlock_count;
}

const struct profile_wait *
profile_wait(const struct profile *profile, uint32_t id)
{
	return &profile->wait[id];
}

const struct profile_blame *
profile_blame(const struct profile *profile, size_t index)
{
	return &profile->blame[index];
}

const struct profile_deadlock *
profile_deadlock(const struct profile *profile, size_t index)
{
	return &profile->deadlock[index];
}
