/* SPDX-License-Identifier: MIT */
/*
 * timeline.c - yields the slices that a view selects, and collects the times in which threads held
 * an interpreter's lock.
 */
#include "wallsample/report/timeline.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

bool
timeline_is_monotonic(const struct export_input *input)
{
	for (size_t i = 0; i < input->recording_count; i++)
		if (!recording_shares_clock(input->recordings[i], input->recordings[0]))
			return false;
	return true;
}

uint64_t
timeline_base(const struct export_input *input, size_t recording)
{
	const struct recording_info *info = recording_info(input->recordings[recording]);

	return timeline_is_monotonic(input) ? info->clock_ns : (uint64_t)info->began * NS_PER_SEC;
}

int64_t
timeline_pid(const struct export_input *input, const struct recording *recording, uint32_t thread)
{
	const struct profile *profile = view_profile(input->view);
	const uint32_t process = process_of_record(profile, thread);

	/* PROCESS_NONE is above all ids, and a profile may have no process. */
	return process < profile_process_count(profile) ? profile_process(profile, process)->pid :
							  recording_info(recording)->pid;
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

/* --- holders of the lock --------------------------------------------------------------------- */

void
gil_spans_add(struct gil_spans *spans, const struct timeline_slice *slice, uint32_t process)
{
	struct gil_span *last = spans->count > 0 ? &spans->span[spans->count - 1] : NULL;

	if (slice->gil != GIL_HAS)
		return;
	if (last != NULL && last->recording == slice->recording && last->thread == slice->thread &&
	    last->end_ns == slice->start_ns) {
		last->end_ns = slice->end_ns;
		return;
	}
	spans->span = xgrow(spans->span, &spans->capacity, spans->count + 1, sizeof(*spans->span));
	spans->span[spans->count++] = (struct gil_span){
		.recording = slice->recording,
		.thread = slice->thread,
		.process = process,
		.start_ns = slice->start_ns,
		.end_ns = slice->end_ns,
	};
}

static int
compare_spans(const void *left, const void *right)
{
	const struct gil_span *a = left, *b = right;

	if (a->recording != b->recording)
		return a->recording < b->recording ? -1 : 1;
	if (a->process != b->process)
		return a->process < b->process ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

void
gil_spans_settle(struct gil_spans *spans)
{
	size_t kept = 0;

	if (spans->count > 1)
		qsort(spans->span, spans->count, sizeof(*spans->span), compare_spans);
	for (size_t i = 0; i < spans->count; i++) {
		struct gil_span span = spans->span[i];
		const struct gil_span *before = kept > 0 ? &spans->span[kept - 1] : NULL;

		if (before != NULL && before->recording == span.recording &&
		    before->process == span.process && before->end_ns > span.start_ns)
			span.start_ns = before->end_ns;
		if (span.start_ns < span.end_ns)
			spans->span[kept++] = span;
	}
	spans->count = kept;
}

void
gil_spans_release(struct gil_spans *spans)
{
	free(spans->span);
	*spans = (struct gil_spans){ .span = NULL };
}
