/* SPDX-License-Identifier: MIT */
/*
 * perf_data_weights.c - makes the periods of a perf.data file add up to the times of the report.
 *
 * A tick of a recording has a time, but the sampler corrects the weights of samples later by what
 * the kernel has counted (profile_correct). The corrections have no place in time: the sum of the
 * ticks of a stack is not its time in the report. So the samples of a thread with one stack in one
 * state divide the time that the report has for them.
 */
#include <stdlib.h>

#include "format/perf_data_internal.h"
#include "format/tick_records_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/table.h"

/* The samples of a thread with one stack, of one event; times in ns. */
struct share {
	uint64_t time;  /* in the report */
	uint64_t ticks; /* the sum of all ticks */
	uint64_t done;  /* the sum of the ticks so far, in the second pass */
	uint64_t given; /* the sum of the periods so far */
};

struct perf_data_weights {
	const struct export_input *input;
	struct table index; /* (the functions of the stack, thread and event) -> index of share */
	struct share *share;
	size_t capacity;
	bool counted;
};

enum perf_data_event
perf_data_event_of(enum run_state state)
{
	if (state == RUN_RUNNING)
		return PERF_DATA_CPU;
	return state == RUN_QUEUED || state == RUN_READY ? PERF_DATA_CPU_WAIT : PERF_DATA_WAIT;
}

/* Stores the key of a stack: the view has one array of functions for equal stacks. */
static void
make_key(uint64_t key[2], const uint32_t *function, uint32_t thread, enum run_state state)
{
	key[0] = (uint64_t)(uintptr_t)function;
	key[1] = (uint64_t)thread * PERF_DATA_EVENT_COUNT + perf_data_event_of(state);
}

/* Returns the time of a row in the report that belongs to samples, in ns. */
static uint64_t
time_of(const struct perf_data_weights *weights, const struct view_row *row)
{
	const int64_t ns = row->ns[weights->input->sort];

	return ns > 0 && tick_records_has(weights->input->sort, row->state) ? (uint64_t)ns : 0;
}

struct perf_data_weights *
perf_data_weights_create(const struct export_input *input)
{
	struct perf_data_weights *weights = xcalloc(1, sizeof(*weights));
	const size_t rows = view_row_count(input->view);

	weights->input = input;
	for (size_t i = 0; i < rows; i++) {
		const struct view_row *row = view_row(input->view, i);
		uint64_t key[2];
		uint32_t index;

		make_key(key, row->function, row->thread, row->state);
		weights->share = table_row(&weights->index, key, weights->share, &weights->capacity,
					   sizeof(*weights->share), &index);
		weights->share[index].time += time_of(weights, row);
	}
	return weights;
}

void
perf_data_weights_free(struct perf_data_weights *weights)
{
	table_release(&weights->index);
	free(weights->share);
	free(weights);
}

void
perf_data_weights_settle(struct perf_data_weights *weights)
{
	weights->counted = true;
	for (size_t i = 0; i < weights->index.count; i++)
		weights->share[i].done = weights->share[i].given = 0;
}

static struct share *
share_of(const struct perf_data_weights *weights, const uint32_t *function, uint32_t thread,
	 enum run_state state)
{
	uint64_t key[2];
	uint32_t index;

	make_key(key, function, thread, state);
	return table_find(&weights->index, key[0], key[1], &index) ? &weights->share[index] : NULL;
}

bool
perf_data_weigh(struct perf_data_weights *weights, const struct timeline_slice *slice,
		uint64_t *period)
{
	struct share *share = share_of(weights, slice->function, slice->thread, slice->state);
	uint64_t given;

	if (share == NULL || share->time == 0)
		return false;
	if (!weights->counted) {
		share->ticks += *period;
		return true;
	}
	share->done += *period;
	given = share->done >= share->ticks ?
			share->time :
			(uint64_t)((double)share->time *
				   ((double)share->done / (double)share->ticks));
	*period = given > share->given ? given - share->given : 0;
	share->given += *period;
	return true;
}

uint64_t
perf_data_weights_rest(const struct perf_data_weights *weights, size_t row)
{
	const struct view_row *of = view_row(weights->input->view, row);
	const struct share *share = share_of(weights, of->function, of->thread, of->state);

	return share == NULL || share->ticks == 0 ? time_of(weights, of) : 0;
}
