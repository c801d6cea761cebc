/* SPDX-License-Identifier: MIT */
/* spans.c - sums up consecutive equal samples of a thread in a span (recorder_internal.h). In this
 * file "task" means a green task (green_task.h). */
#include "recording/recorder_internal.h"

#include <stdlib.h>

#include "wallsample/base/base.h"

/*
 * Number of closed spans, from the latest back, that are searched for the one to charge latency to.
 */
#define LOOK_BACK 64
/*
 * Number of closed spans, from the latest back, among which move_back() looks for the spans of a
 * new thread.
 */
#define MOVE_BACK 1024

void
spans_release(struct spans *spans)
{
	free(spans->open);
	free(spans->side);
	table_release(&spans->doings);
	table_release(&spans->sides);
	free(spans->closed);
	free(spans->tick);
	free(spans->blame);
	table_release(&spans->blame_table);
	*spans = (struct spans){ 0 };
}

/* True if the sample belongs to a shared record of threads or tasks (profile.h). */
static bool
is_shared(const struct spans *spans, const struct profile_entry *sample)
{
	const struct profile_thread *thread = profile_thread(spans->profile, sample->thread);

	return thread->is_green ? thread->green_id == 0 : thread->tid == 0;
}

static struct open_span *
side_of(struct spans *spans, const struct profile_entry *sample)
{
	bool added;
	const uint32_t at = profile_find_entry(&spans->doings, &spans->sides, sample, &added);

	if (added) {
		spans->side = xgrow(spans->side, &spans->side_capacity, spans->side_count + 1,
				    sizeof(*spans->side));
		spans->side[spans->side_count++] = (struct open_span){ .next = 0 };
	}
	return &spans->side[at];
}

static struct open_span *
open_of_thread(struct spans *spans, uint32_t thread)
{
	spans->open = xgrow(spans->open, &spans->open_capacity, (size_t)thread + 1,
			    sizeof(*spans->open));
	while (spans->open_count <= thread)
		spans->open[spans->open_count++] = (struct open_span){ .next = UINT64_MAX };
	return &spans->open[thread];
}

static struct open_span *
open_of(struct spans *spans, const struct profile_entry *sample)
{
	return is_shared(spans, sample) ? side_of(spans, sample) :
					  open_of_thread(spans, sample->thread);
}

static bool
samples_are_equal(const struct profile_entry *a, const struct profile_entry *b)
{
	return a->thread == b->thread && a->stack == b->stack && a->state == b->state &&
	       a->syscall == b->syscall && a->wait == b->wait && a->gil == b->gil &&
	       a->carrier == b->carrier;
}

static void
add_closed(struct spans *spans, const struct span *span)
{
	spans->closed = xgrow(spans->closed, &spans->closed_capacity, spans->closed_count + 1,
			      sizeof(*spans->closed));
	spans->closed[spans->closed_count++] = *span;
}

/*
 * Adds a span for a gap: time without a runnable thread, whose latency belongs to the thread whose
 * wait ended it. Such a span has no samples and no wall time. Its ticks are [gap_first, gap_end),
 * or the tick in progress if this range is empty.
 */
static void
add_gap(struct spans *spans, const struct profile_entry *sample)
{
	struct span span = {
		.id = spans->next_id++,
		.sum = *sample,
		.first = spans->ticks,
		.ticks = 1,
	};

	if (spans->gap_end > spans->gap_first) {
		span.first = spans->gap_first;
		span.ticks = spans->gap_end - spans->gap_first;
		spans->gap_first = spans->gap_end = 0;
	}
	add_closed(spans, &span);
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * Moves the spans of a new thread back by `ticks` ticks. The first samples of a thread are added
 * late, when the thread can be stopped. If the thread then has more samples than there are ticks
 * since its first sample was added, the excess samples belong to earlier ticks.
 */
static void
move_back(struct spans *spans, struct open_span *open, uint64_t ticks)
{
	for (size_t i = 0; i < MOVE_BACK && i < spans->closed_count; i++) {
		struct span *closed = &spans->closed[spans->closed_count - 1 - i];

		if (closed->sum.thread == open->span.sum.thread)
			closed->first -= least(ticks, closed->first);
	}
	open->span.first -= least(ticks, open->span.first);
}

/*
 * Returns the first tick after the last sample of the thread that ran the task; 0 if no thread ran
 * the task, or if that thread has no samples.
 */
static uint64_t
carried_up_to(const struct spans *spans, const struct profile_entry *sample)
{
	const uint32_t thread = sample->carrier - 1;

	if (sample->carrier == 0 || thread >= spans->open_count ||
	    spans->open[thread].next == UINT64_MAX)
		return 0;
	return spans->open[thread].next;
}

/*
 * Sets the ticks of a sample, [*first, *first + *ticks): from the thread's previous sample up to
 * the tick in progress. A parked task, one that no thread runs, may have no samples for some ticks;
 * its samples therefore get the last ticks. The samples of a task that a thread ran begin, at the
 * earliest, after the last sample of this thread.
 */
static void
place_samples(struct spans *spans, struct open_span *open, const struct profile_entry *sample,
	      uint64_t *first, uint64_t *ticks)
{
	const bool parked = sample->carrier == 0 &&
			    profile_thread(spans->profile, sample->thread)->is_green;
	const uint64_t carried = carried_up_to(spans, sample);
	const int64_t samples = sample->samples;
	const uint64_t end = spans->ticks + 1, count = samples > 0 ? (uint64_t)samples : 0;

	if (open->next == UINT64_MAX)
		open->first_added = spans->ticks;
	open->extra += samples;
	*first = open->next;
	if (parked && *first < end && end - *first > count)
		*first = end - count;
	if (*first < carried && carried < end)
		*first = carried;
	*ticks = *first < end ? least(count, end - *first) : least(count, end);
	if (*first >= end) {
		if (open->is_open && open->first_added >= spans->written && open->extra > 0)
			move_back(spans, open, least(count, (uint64_t)open->extra));
		/*
		 * The thread already has samples up to the tick in progress. Further samples, such
		 * as those of a correction, get the last *ticks ticks.
		 */
		*first = end - *ticks;
	}
	open->extra -= (int64_t)*ticks;
}

static void
span_extend(struct span *span, const struct profile_entry *sample)
{
	span->sum.samples += sample->samples;
	weights_add(span->sum.ns, sample->ns);
}

static void
span_begin(struct spans *spans, struct open_span *open, const struct profile_entry *sample,
	   uint64_t first, uint64_t ticks)
{
	if (open->is_open && open->changed)
		add_closed(spans, &open->span);
	open->span = (struct span){
		.id = spans->next_id++,
		.sum = *sample,
		.first = first,
		.ticks = ticks,
	};
	open->is_open = true;
}

/*
 * Adds a sample of a shared record, which may have several samples at one tick. The span lasts as
 * long as any thread or task of the record has this stack and state. The record has one span for
 * each stack, because in a single span each sample with another stack would begin a new row.
 */
static void
add_shared(struct spans *spans, struct open_span *open, const struct profile_entry *sample)
{
	const uint64_t end = spans->ticks + 1;
	const uint64_t count = sample->samples > 0 ? (uint64_t)sample->samples : 0;

	if (open->is_open && (count == 0 || end - open->next <= count)) {
		span_extend(&open->span, sample);
		if (count > 0)
			open->span.ticks += end - open->next;
	} else {
		span_begin(spans, open, sample, end - least(count, end), least(count, end));
	}
	open->changed = true;
	if (count > 0 || open->next == 0)
		open->next = end;
}

/*
 * Ends the span of a thread that ran a task: up to the tick `end` the thread's samples are stored
 * as samples of the task.
 */
static void
pass_carrier(struct spans *spans, uint32_t thread, uint64_t end)
{
	struct open_span *open = open_of_thread(spans, thread);

	if (open->is_open && open->changed)
		add_closed(spans, &open->span);
	open->is_open = open->changed = false;
	if (open->next == UINT64_MAX)
		open->first_added = spans->ticks;
	if (open->next == UINT64_MAX || open->next < end)
		open->next = end;
}

void
spans_sample(void *context, const struct profile_entry *sample)
{
	struct spans *spans = context;
	struct open_span *open;
	uint64_t first, ticks;

	if (sample->samples == 0 && sample->ns[WEIGHT_WALL] == 0) {
		add_gap(spans, sample);
		return;
	}
	open = open_of(spans, sample);
	if (is_shared(spans, sample)) {
		add_shared(spans, open, sample);
		if (sample->carrier != 0)
			pass_carrier(spans, sample->carrier - 1, spans->ticks + 1);
		return;
	}
	place_samples(spans, open, sample, &first, &ticks);
	if (open->is_open && first <= open->next && samples_are_equal(&open->span.sum, sample)) {
		span_extend(&open->span, sample);
		open->span.ticks += ticks;
	} else {
		span_begin(spans, open, sample, first, ticks);
	}
	open->changed = true;
	open->next = first + ticks;
	if (sample->carrier != 0 && ticks > 0)
		pass_carrier(spans, sample->carrier - 1, first + ticks);
}

void
spans_correct(void *context, const struct profile_entry *correction, uint64_t first_tick,
	      uint64_t ticks)
{
	struct spans *spans = context;
	const struct span span = {
		.id = spans->next_id++,
		.sum = *correction,
		.first = first_tick,
		.ticks = ticks,
		.correction = true,
	};

	add_closed(spans, &span);
}

void
spans_charge(void *context, const struct profile_entry *entry, int64_t latency_ns)
{
	struct spans *spans = context;
	struct open_span *open = open_of(spans, entry);
	struct span span = { .sum = *entry, .first = spans->ticks, .ticks = 1 };

	if (open->is_open && samples_are_equal(&open->span.sum, entry)) {
		open->span.sum.ns[WEIGHT_LATENCY] += latency_ns;
		open->changed = true;
		return;
	}
	for (size_t i = 0; i < LOOK_BACK && i < spans->closed_count; i++) {
		struct span *closed = &spans->closed[spans->closed_count - 1 - i];

		if (!closed->correction && samples_are_equal(&closed->sum, entry)) {
			closed->sum.ns[WEIGHT_LATENCY] += latency_ns;
			return;
		}
	}
	span.id = spans->next_id++;
	span.sum.samples = 0;
	for (int w = 0; w < WEIGHT_COUNT; w++)
		span.sum.ns[w] = w == WEIGHT_LATENCY ? latency_ns : 0;
	add_closed(spans, &span);
}

void
spans_blame(void *context, const struct profile_blame *blame)
{
	struct spans *spans = context;
	bool added;
	const uint32_t at = profile_find_blame(&spans->blame_table, blame, &added);

	if (added) {
		spans->blame = xgrow(spans->blame, &spans->blame_capacity, spans->blame_count + 1,
				     sizeof(*spans->blame));
		spans->blame[spans->blame_count++] = (struct blame_span){ .sum = *blame,
									  .first = spans->ticks };
	} else {
		spans->blame[at].sum.samples += blame->samples;
		spans->blame[at].sum.ns += blame->ns;
	}
	spans->blame[at].end = spans->ticks + 1;
}

void
spans_tick(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable, uint32_t ready)
{
	struct spans *spans = context;

	if (spans->ticks == 0) {
		spans->clock_ns = clock_now_ns() - span_ns;
		spans->date_ns = clock_date_ns() - span_ns;
	}
	spans->tick = xgrow(spans->tick, &spans->tick_capacity, spans->tick_count + 1,
			    sizeof(*spans->tick));
	spans->tick[spans->tick_count++] = (struct recording_tick){
		.start_ns = spans->wall_ns,
		.span_ns = span_ns,
		.parallelism = parallelism,
		.runnable = runnable,
		.ready = ready,
	};
	if (runnable == 0) {
		if (spans->gap_end == spans->gap_first)
			spans->gap_first = spans->ticks;
		spans->gap_end = spans->ticks + 1;
	}
	spans->wall_ns += span_ns;
	spans->ticks++;
}

void
spans_written(struct spans *spans)
{
	spans->closed_count = spans->tick_count = 0;
	spans->blame_written += spans->blame_count;
	spans->blame_count = 0;
	table_clear(&spans->blame_table);
	spans->written = spans->ticks;
	for (size_t i = 0; i < spans->open_count; i++)
		spans->open[i].changed = false;
	for (size_t i = 0; i < spans->side_count; i++)
		spans->side[i].changed = false;
}
