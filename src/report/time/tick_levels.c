/* SPDX-License-Identifier: MIT */
/*
 * tick_levels.c - sorts ticks by parallelism, and stores with each tick the sums over all ticks
 * that precede it in the sorted array: a sum over a range of this array is then the difference of
 * two sums.
 */
#include "report/time/tick_levels_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"
#include "wallsample/base/search.h"

/* Two binary searches in a level take about as long as reading this number of ticks. */
#define SEARCHES_COST 32

/* A tick in the sorted array. */
struct place {
	uint32_t parallelism;
	uint64_t tick; /* number of the tick in the recording */
	/* sums over all earlier elements of the array, as tick_levels_sum() passes them to `add` */
	double time_ns, real_ns;
};

/* The part of the sorted array with ticks of one parallelism: from `first` to `end` - 1. */
struct level {
	size_t first, end;
};

struct tick_levels {
	const struct recording *recording;
	/* ordered by parallelism, then by tick; after the last place a sentinel with the total
	 * sums */
	struct place *place;
	struct level *level;
	size_t level_count;
};

/*
 * Returns the tick's duration divided by the number of runnable threads, or undivided if there was
 * none.
 */
static double
real_ns(const struct recording_tick *tick)
{
	return (double)tick->span_ns / (tick->runnable > 0 ? tick->runnable : 1);
}

static int
compare_places(const void *left, const void *right)
{
	const struct place *a = left, *b = right;

	if (a->parallelism != b->parallelism)
		return a->parallelism < b->parallelism ? -1 : 1;
	return (a->tick > b->tick) - (a->tick < b->tick);
}

struct tick_levels *
tick_levels_create(const struct recording *recording)
{
	const uint64_t count = recording_info(recording)->ticks;
	struct tick_levels *levels = xcalloc(1, sizeof(*levels));
	struct place *place = xcalloc(count + 1, sizeof(*place));
	size_t capacity = 0;

	levels->recording = recording;
	levels->place = place;
	for (uint64_t n = 0; n < count; n++)
		place[n] = (struct place){
			.parallelism = recording_joint_tick(recording, n)->parallelism,
			.tick = n,
		};
	if (count > 1)
		qsort(place, count, sizeof(*place), compare_places);
	for (size_t i = 0; i < count; i++) {
		const struct recording_tick *tick = recording_joint_tick(recording, place[i].tick);

		place[i + 1].time_ns = place[i].time_ns + (double)tick->span_ns;
		place[i + 1].real_ns = place[i].real_ns + real_ns(tick);
		if (i == 0 || place[i].parallelism != place[i - 1].parallelism) {
			levels->level = xgrow(levels->level, &capacity, levels->level_count + 1,
					      sizeof(*levels->level));
			levels->level[levels->level_count++].first = i;
		}
		levels->level[levels->level_count - 1].end = i + 1;
	}
	return levels;
}

void
tick_levels_free(struct tick_levels *levels)
{
	free(levels->place);
	free(levels->level);
	free(levels);
}

/*
 * Returns the place of the first tick of the level that is not before `tick`; the place after the
 * level if there is none.
 */
static const struct place *
find(const struct tick_levels *levels, const struct level *level, uint64_t tick)
{
	const struct place *place = &levels->place[level->first];
	size_t index;

	SEARCH_FIRST_NOT(index, level->end - level->first, place[index].tick < tick);
	return &place[index];
}

void
tick_levels_sum(const struct tick_levels *levels, uint64_t first, uint64_t ticks,
		void (*add)(void *context, uint32_t parallelism, double time_ns, double real_ns),
		void *context)
{
	if (ticks / SEARCHES_COST < levels->level_count) {
		for (uint64_t n = first; n < first + ticks; n++) {
			const struct recording_tick *tick = recording_joint_tick(levels->recording,
										 n);

			add(context, tick->parallelism, (double)tick->span_ns, real_ns(tick));
		}
		return;
	}
	for (size_t i = 0; i < levels->level_count; i++) {
		const struct level *level = &levels->level[i];
		const struct place *from = find(levels, level, first);
		const struct place *to = find(levels, level, first + ticks);

		if (from != to)
			add(context, levels->place[level->first].parallelism,
			    to->time_ns - from->time_ns, to->real_ns - from->real_ns);
	}
}
