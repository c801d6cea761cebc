/* SPDX-License-Identifier: MIT */
/* timeline.c - iterates over the slices of all recordings that a view selects. */
#include "wallsample/report/timeline.h"

#include <math.h>
#include <string.h>

#include "wallsample/base/base.h"

/* Tolerance of two clocks of one machine: dates have a resolution of one second. */
#define CLOCKS_APART_NS (2 * NS_PER_SEC)

/* True if the recording is of the same machine, and of the same boot, as the first. */
static bool
has_clock_of(const struct recording_info *info, const struct recording_info *first)
{
	const double dates = (double)(info->began - first->began) * (double)NS_PER_SEC;
	const double clocks = (double)(int64_t)(info->clock_ns - first->clock_ns);

	return info->clock_ns > 0 && first->clock_ns > 0 && strcmp(info->host, first->host) == 0 &&
	       fabs(dates - clocks) < (double)CLOCKS_APART_NS;
}

uint64_t
timeline_base(const struct export_input *input, size_t recording)
{
	const struct recording_info *first = recording_info(input->recordings[0]);
	const struct recording_info *info = recording_info(input->recordings[recording]);

	for (size_t i = 0; i < input->recording_count; i++)
		if (!has_clock_of(recording_info(input->recordings[i]), first))
			return (uint64_t)info->began * NS_PER_SEC;
	return info->clock_ns;
}

struct walk {
	const struct export_input *input;
	size_t recording;
	uint64_t base_ns;
	bool (*each)(void *context, const struct timeline_slice *slice);
	void *context;
	bool ended;
};

static bool
on_span(void *context, const struct recording_span *span)
{
	struct walk *walk = context;
	struct timeline_slice slice = {
		.recording = walk->recording,
		.thread = span->thread,
		.state = span->state,
		.wait = span->wait,
		.gil = span->gil,
		.first_tick = span->first_tick,
		.ticks = span->ticks,
		.settled_tick = span->settled_tick,
		.start_ns = walk->base_ns + span->start_ns,
		.end_ns = walk->base_ns + span->end_ns,
	};
	const struct profile_entry sample = {
		.thread = span->thread,
		.carrier = span->carrier,
		.state = span->state,
		.syscall = span->syscall,
		.gil = span->gil,
		.stack = span->stack,
	};

	if (!view_sample(walk->input->view, &sample, &slice.function, &slice.depth))
		return true;
	slice.syscall = view_syscall(walk->input->view, &sample);
	walk->ended = !walk->each(walk->context, &slice);
	return !walk->ended;
}

void
timeline_each(const struct export_input *input, enum recording_order order,
	      bool (*each)(void *context, const struct timeline_slice *slice), void *context)
{
	struct walk walk = { .input = input, .each = each, .context = context };

	for (size_t i = 0; i < input->recording_count && !walk.ended; i++) {
		walk.recording = i;
		walk.base_ns = timeline_base(input, i);
		if (recording_each_span(input->recordings[i], order, on_span, &walk,
					input->error) != 0)
			return;
	}
}
