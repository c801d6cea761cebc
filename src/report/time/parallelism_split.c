/* SPDX-License-Identifier: MIT */
/* parallelism_split.c - sums the time of each row's ticks by parallelism, and splits the row. */
#include "wallsample/report/parallelism_split.h"

#include <math.h>
#include <stdlib.h>

#include "report/time/tick_levels_internal.h"
#include "wallsample/report/timeline.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* The time of a row's ticks at which `parallelism` threads were on a CPU. */
struct level {
	uint32_t parallelism;
	uint32_t next;  /* index + 1 of the row's next level; 0: this level is the last */
	double time_ns; /* duration of the ticks */
	double real_ns; /* sum over the ticks: duration divided by the number of runnable threads */
};

struct parallelism_split {
	const struct export_input *input;
	/* by recording: index of its ticks; NULL after parallelism_split_create() */
	struct tick_levels **ticks;
	/*
	 * A table has keys of two integers, but a row is identified by more: by its stack, thread,
	 * state, GIL state and system call. `places` numbers the combinations of all but the system
	 * call. (address of the array of functions; thread, state and GIL state) -> place
	 */
	struct table places;
	struct table rows;     /* (place, system call) -> row */
	struct table of_level; /* (row, parallelism) -> level */
	uint32_t *first;       /* by row: index + 1 of the level that was last added to the row */
	size_t row_capacity;
	struct level *level;
	size_t level_count, level_capacity;
	/* levels of the row that was last passed to parallelism_split_row() */
	struct level *sorted;
	/* result of the last call of parallelism_split_row() */
	struct parallelism_part *part;
	size_t sorted_capacity, part_capacity;
};

static uint64_t
thread_and_state(uint32_t thread, enum run_state state, enum gil gil)
{
	return (uint64_t)thread << 32 | (uint32_t)gil << 8 | (uint32_t)state;
}

/*
 * Returns the number of the slice's row; adds the row if there is none. Slices with the same stack
 * have the same array of functions: its address identifies the stack.
 */
static uint32_t
place_row(struct parallelism_split *split, const struct timeline_slice *slice)
{
	const uint32_t place = *table_insert(&split->places, (uintptr_t)slice->function,
					     thread_and_state(slice->thread, slice->state,
							      slice->gil),
					     (uint32_t)split->places.count, NULL);
	bool added;
	const uint32_t row = *table_insert(&split->rows, place, (uint32_t)slice->syscall,
					   (uint32_t)split->rows.count, &added);

	if (added) {
		split->first = xgrow(split->first, &split->row_capacity, (size_t)row + 1,
				     sizeof(*split->first));
		split->first[row] = 0;
	}
	return row;
}

static struct level *
place_level(struct parallelism_split *split, uint32_t row, uint32_t parallelism)
{
	bool added;
	const uint32_t id = *table_insert(&split->of_level, row, parallelism,
					  (uint32_t)split->level_count, &added);

	if (added) {
		split->level = xgrow(split->level, &split->level_capacity, split->level_count + 1,
				     sizeof(*split->level));
		split->level[split->level_count++] = (struct level){
			.parallelism = parallelism,
			.next = split->first[row],
		};
		split->first[row] = id + 1;
	}
	return &split->level[id];
}

/*
 * The context of add_ticks(): a row, and the level of the previous call, which saves a look-up in
 * split->of_level if the next ticks have the same parallelism.
 */
struct adding {
	struct parallelism_split *split;
	uint32_t row;
	struct level *level;
};

static void
add_ticks(void *context, uint32_t parallelism, double time_ns, double real_ns)
{
	struct adding *adding = context;

	if (adding->level == NULL || adding->level->parallelism != parallelism)
		adding->level = place_level(adding->split, adding->row, parallelism);
	adding->level->time_ns += time_ns;
	adding->level->real_ns += real_ns;
}

static bool
on_slice(void *context, const struct timeline_slice *slice)
{
	struct parallelism_split *split = context;
	struct adding adding = { .split = split, .row = place_row(split, slice) };

	tick_levels_sum(split->ticks[slice->recording], slice->first_tick, slice->ticks, add_ticks,
			&adding);
	return true;
}

struct parallelism_split *
parallelism_split_create(const struct export_input *input)
{
	const size_t count = input->recording_count;
	struct parallelism_split *split = xcalloc(1, sizeof(*split));

	split->input = input;
	split->ticks = xcalloc(count + 1, sizeof(struct tick_levels *));
	for (size_t i = 0; i < count; i++)
		split->ticks[i] = tick_levels_create(input->recordings[i]);
	table_init(&split->places);
	table_init(&split->rows);
	table_init(&split->of_level);
	timeline_each(input, RECORDING_BY_THREAD, on_slice, split);
	for (size_t i = 0; i < count; i++)
		tick_levels_free(split->ticks[i]);
	free(split->ticks);
	split->ticks = NULL;
	return split;
}

void
parallelism_split_free(struct parallelism_split *split)
{
	table_release(&split->places);
	table_release(&split->rows);
	table_release(&split->of_level);
	free(split->first);
	free(split->level);
	free(split->sorted);
	free(split->part);
	free(split);
}

static int
compare_levels(const void *left, const void *right)
{
	const struct level *a = left, *b = right;

	return (a->parallelism > b->parallelism) - (a->parallelism < b->parallelism);
}

/* Copies the levels of the row to split->sorted, ordered by parallelism. Returns their number. */
static size_t
sort_levels(struct parallelism_split *split, const struct view_row *row)
{
	uint32_t place, found;
	size_t count = 0;

	if (!table_find(&split->places, (uintptr_t)row->function,
			thread_and_state(row->thread, row->state, row->gil), &place) ||
	    !table_find(&split->rows, place, (uint32_t)row->syscall, &found))
		return 0;
	for (uint32_t at = split->first[found]; at != 0; at = split->level[at - 1].next) {
		split->sorted = xgrow(split->sorted, &split->sorted_capacity, count + 1,
				      sizeof(*split->sorted));
		split->sorted[count++] = split->level[at - 1];
	}
	qsort(split->sorted, count, sizeof(*split->sorted), compare_levels);
	return count;
}

/* True for a row of real time in which no thread could run. No slice belongs to such a row. */
static bool
is_waiting(const struct view *view, const struct view_row *row)
{
	return row->depth > 0 && view_is_gap(view_function(view, row->function[row->depth - 1]));
}

/*
 * Fills split->sorted with the levels of the row, and returns their number. A row of time in which
 * no thread could run gets a single level, with parallelism 0.
 */
static size_t
find_levels(struct parallelism_split *split, const struct view_row *row)
{
	const size_t count = sort_levels(split, row);

	if (count > 0 || split->input->recording_count == 0 || !is_waiting(split->input->view, row))
		return count;
	split->sorted = xgrow(split->sorted, &split->sorted_capacity, 1, sizeof(*split->sorted));
	split->sorted[0] = (struct level){ .time_ns = 1, .real_ns = 1 };
	return 1;
}

static bool
weighs(const struct parallelism_part *part)
{
	for (int w = 0; w < WEIGHT_COUNT; w++)
		if (part->ns[w] > 0)
			return true;
	return false;
}

const struct parallelism_part *
parallelism_split_row(struct parallelism_split *split, const struct view_row *row, size_t *count)
{
	const size_t levels = find_levels(split, row);
	size_t parts = 0;
	double time_ns = 0, real_ns = 0, time_so_far = 0, real_so_far = 0;
	int64_t given[WEIGHT_COUNT] = { 0 };

	for (size_t i = 0; i < levels; i++) {
		time_ns += split->sorted[i].time_ns;
		real_ns += split->sorted[i].real_ns;
	}
	split->part = xgrow(split->part, &split->part_capacity, levels + 1, sizeof(*split->part));
	for (size_t i = 0; i < levels && time_ns > 0; i++) {
		struct parallelism_part *part = &split->part[parts];

		part->parallelism = split->sorted[i].parallelism;
		time_so_far += split->sorted[i].time_ns;
		real_so_far += split->sorted[i].real_ns;
		for (int w = 0; w < WEIGHT_COUNT; w++) {
			const double share = w == WEIGHT_LATENCY ? real_so_far / real_ns :
								   time_so_far / time_ns;
			/*
			 * The sum of the parts up to this one is rounded, instead of this part: all
			 * parts then sum exactly to the row.
			 */
			const int64_t sum = i + 1 == levels ? row->ns[w] :
							      llround((double)row->ns[w] * share);

			part->ns[w] = sum - given[w];
			given[w] = sum;
		}
		parts += weighs(part);
	}
	*count = parts;
	return split->part;
}
