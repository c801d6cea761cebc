/* SPDX-License-Identifier: MIT */
/* profile_sums.c - sums up samples, blame and ticks, and keeps deadlocks. */
#include <stdlib.h>
#include <string.h>

#include "profile/profile_internal.h"
#include "wallsample/base/base.h"

void
sums_release(struct profile_sums *sums)
{
	table_release(&sums->entry_table);
	table_release(&sums->blame_table);
	table_release(&sums->deadlock_table);
	free(sums->entry);
	free(sums->blame);
	free(sums->parallelism);
	for (size_t i = 0; i < sums->deadlock_count; i++)
		free(sums->deadlock[i].stuck);
	free(sums->deadlock);
}

void
weights_add(int64_t to[WEIGHT_COUNT], const int64_t ns[WEIGHT_COUNT])
{
	for (int w = 0; w < WEIGHT_COUNT; w++)
		to[w] += ns[w];
}

uint32_t
profile_find_entry(struct table *doings, struct table *entries, const struct profile_entry *sample,
		   bool *added)
{
	const uint32_t doing = *table_insert(doings,
					     (uint64_t)sample->gil << 40 |
						     (uint64_t)sample->state << 32 |
						     (uint32_t)sample->syscall,
					     (uint64_t)sample->carrier << 32 | sample->wait,
					     (uint32_t)doings->count, NULL);

	return *table_insert(entries, (uint64_t)sample->thread << 32 | sample->stack, doing,
			     (uint32_t)entries->count, added);
}

uint32_t
profile_find_blame(struct table *blames, const struct profile_blame *blame, bool *added)
{
	return *table_insert(blames, (uint64_t)blame->wait << 32 | blame->thread,
			     (uint64_t)blame->stack << 32 | (uint32_t)blame->state,
			     (uint32_t)blames->count, added);
}

uint32_t
sums_add_entry(struct profile_sums *sums, struct profile_names *names,
	       const struct profile_entry *sample)
{
	bool added;
	const uint32_t id = profile_find_entry(&names->table[NAMES_DOING], &sums->entry_table,
					       sample, &added);

	sums->latency_ns += sample->ns[WEIGHT_LATENCY];
	if (!added) {
		sums->entry[id].samples += sample->samples;
		weights_add(sums->entry[id].ns, sample->ns);
		return id;
	}
	sums->entry = xgrow(sums->entry, &sums->entry_capacity, sums->entry_count + 1,
			    sizeof(*sums->entry));
	sums->entry[sums->entry_count++] = *sample;
	return id;
}

void
sums_add_blame(struct profile_sums *sums, const struct profile_blame *blame)
{
	bool added;
	const uint32_t id = profile_find_blame(&sums->blame_table, blame, &added);

	if (!added) {
		sums->blame[id].samples += blame->samples;
		sums->blame[id].ns += blame->ns;
		return;
	}
	sums->blame = xgrow(sums->blame, &sums->blame_capacity, sums->blame_count + 1,
			    sizeof(*sums->blame));
	sums->blame[sums->blame_count++] = *blame;
}

struct profile_parallelism *
sums_parallelism(struct profile_sums *sums, size_t parallelism)
{
	while (sums->parallelism_count <= parallelism) {
		sums->parallelism = xgrow(sums->parallelism, &sums->parallelism_capacity,
					  sums->parallelism_count + 1, sizeof(*sums->parallelism));
		sums->parallelism[sums->parallelism_count++] = (struct profile_parallelism){
			.ticks = 0
		};
	}
	return &sums->parallelism[parallelism];
}

void
sums_add_tick(struct profile_sums *sums, const struct profile_tick *tick)
{
	struct profile_parallelism *row = sums_parallelism(sums, tick->parallelism);
	const uint64_t ns = tick->span_ns;

	row->ticks++;
	row->time_ns += ns;
	row->sampled_ns += ns;
	row->cpu_ns += ns * tick->parallelism;
	row->alone_ns += tick->runnable <= 1 ? ns : 0;
	row->time_squares += (double)ns * (double)ns;
	sums->ticks++;
	sums->wall_ns += ns;
	sums->ready_ns += (double)tick->ready * (double)ns;
	if (tick->ready > sums->ready_most)
		sums->ready_most = tick->ready;
}

/*
 * Returns a key of a ring of threads. The key is the same whichever thread of the ring comes first.
 */
static uint64_t
sum_of_ring(const struct profile_stuck *stuck, size_t ring)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < ring; i++)
		sum += hash_u64((uint64_t)stuck[i].thread << 32 | stuck[i].wait);
	return sum;
}

void
sums_add_deadlock(struct profile_sums *sums, const struct profile_stuck *stuck, size_t count,
		  size_t ring)
{
	struct profile_deadlock *deadlock;
	bool added;
	const uint32_t at = *table_insert(&sums->deadlock_table, sum_of_ring(stuck, ring), ring,
					  (uint32_t)sums->deadlock_count, &added);

	if (added) {
		sums->deadlock = xgrow(sums->deadlock, &sums->deadlock_capacity,
				       sums->deadlock_count + 1, sizeof(*sums->deadlock));
		sums->deadlock[sums->deadlock_count++] = (struct profile_deadlock){ .count = 0 };
	}
	deadlock = &sums->deadlock[at];
	deadlock->stuck = xrealloc(deadlock->stuck, count * sizeof(*stuck));
	memcpy(deadlock->stuck, stuck, count * sizeof(*stuck));
	deadlock->count = count;
	deadlock->ring = ring;
}

void
sums_merge(struct profile_sums *sums, struct profile_names *names, const struct profile_sums *more)
{
	for (size_t i = 0; i < more->entry_count; i++)
		sums_add_entry(sums, names, &more->entry[i]);
	for (size_t i = 0; i < more->blame_count; i++)
		sums_add_blame(sums, &more->blame[i]);
	for (size_t i = 0; i < more->deadlock_count; i++)
		sums_add_deadlock(sums, more->deadlock[i].stuck, more->deadlock[i].count,
				  more->deadlock[i].ring);
	for (size_t i = 0; i < more->parallelism_count; i++) {
		const struct profile_parallelism *from = &more->parallelism[i];
		struct profile_parallelism *to = sums_parallelism(sums, i);

		to->ticks += from->ticks;
		to->time_ns += from->time_ns;
		to->sampled_ns += from->sampled_ns;
		to->cpu_ns += from->cpu_ns;
		to->alone_ns += from->alone_ns;
		to->time_squares += from->time_squares;
	}
	sums->ticks += more->ticks;
	sums->wall_ns += more->wall_ns;
	sums->ready_ns += more->ready_ns;
	if (more->ready_most > sums->ready_most)
		sums->ready_most = more->ready_most;
}
