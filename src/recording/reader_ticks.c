/* SPDX-License-Identifier: MIT */
/* reader_ticks.c - reads ticks, and scales spans to the selected ticks. */
#include <math.h>
#include <stdlib.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

static void
load_tick(struct rows *rows, void *context)
{
	const struct ticks_row *row = &rows->row.ticks;
	struct recording *recording = context;
	struct recording_info *info = &recording->info;

	/*
	 * Ticks are numbered without a gap. Column n is ASCENDING, not KEY, whose values are
	 * below 2^32: a recording may have more ticks.
	 */
	if (row->n != (int64_t)recording->tick_count ||
	    info->span_ns + (uint64_t)row->span_ns > NUMBER_MOST) {
		rows->bad = true;
		return;
	}
	recording->tick = xgrow(recording->tick, &recording->tick_capacity,
				recording->tick_count + 1, sizeof(*recording->tick));
	recording->tick[recording->tick_count++] = (struct recording_tick){
		.start_ns = info->span_ns,
		.span_ns = (uint64_t)row->span_ns,
		.parallelism = (uint32_t)row->parallelism,
		.runnable = (uint32_t)row->runnable,
		.ready = (uint32_t)row->ready,
	};
	info->span_ns += (uint64_t)row->span_ns;
	info->ticks = recording->tick_count;
}

int
reader_load_ticks(struct recording *recording, struct error *err)
{
	static const struct row_reader reader = { TABLE_TICKS, "ticks", load_tick };

	return rows_read(recording, &reader, 1, recording, err);
}

const struct recording_tick *
recording_tick(const struct recording *recording, uint64_t n)
{
	return &recording->tick[n];
}

bool
recording_tick_wanted(const struct recording *recording, uint64_t n)
{
	return recording->wanted == NULL || recording->wanted[n];
}

/*
 * Returns the number on this machine of a system call that has `number` on the machine that made
 * the recording; `number` itself if the recording does not have the name of the call. A negative
 * number gives SYSCALL_NONE or SYSCALL_UNKNOWN.
 */
int32_t
reader_syscall(const struct recording *recording, int32_t number)
{
	uint32_t here;

	if (number < 0)
		return number == SYSCALL_NONE ? SYSCALL_NONE : SYSCALL_UNKNOWN;
	return table_find(&recording->syscalls, (uint32_t)number, 0, &here) ? (int32_t)here :
									      number;
}

/*
 * Returns the time in ns since the beginning of the recording. If `ns` is negative, it is relative
 * to the end of the recording.
 */
static int64_t
moment(const struct recording *recording, int64_t ns)
{
	return ns < 0 ? (int64_t)recording->info.span_ns + ns : ns;
}

static bool
tick_is_selected(const struct recording *recording, const struct recording_selection *selection,
		 const struct recording_tick *tick)
{
	const int64_t end_ns = (int64_t)(tick->start_ns + tick->span_ns);

	if (selection == NULL)
		return true;
	if (selection->has_from && end_ns <= moment(recording, selection->from_ns))
		return false;
	if (selection->has_to && end_ns > moment(recording, selection->to_ns))
		return false;
	return !selection->has_parallelism ||
	       (tick->parallelism >= selection->least && tick->parallelism <= selection->most);
}

/* Sets recording->turn, by which split_span skips over ticks without a loop over each of them. */
static void
find_turns(struct recording *recording)
{
	const size_t count = recording->tick_count;

	if (recording->wanted == NULL)
		return;
	recording->turn = xcalloc(count + 1, sizeof(*recording->turn));
	for (size_t i = count; i-- > 0;)
		recording->turn[i] = i + 1 < count && recording->wanted[i] ==
							      recording->wanted[i + 1] ?
					     recording->turn[i + 1] :
					     i + 1;
}

struct tick_sum *
reader_sum_ticks(struct recording *recording, struct recording_load *load)
{
	struct tick_sum *sums = xcalloc(recording->tick_count + 1, sizeof(*sums));

	free(recording->wanted);
	free(recording->turn);
	recording->wanted = NULL;
	recording->turn = NULL;
	if (load->selection != NULL)
		recording->wanted = xcalloc(recording->tick_count + 1, sizeof(bool));
	load->selected_ns = 0;
	for (size_t i = 0; i < recording->tick_count; i++) {
		const struct recording_tick *tick = &recording->tick[i];
		const bool wanted = tick_is_selected(recording, load->selection, tick);
		const double ns = (double)tick->span_ns;
		struct tick_sum *sum = &sums[i + 1];

		if (recording->wanted != NULL)
			recording->wanted[i] = wanted;
		*sum = sums[i];
		for (int s = 0; s <= wanted; s++) {
			sum->ns[s] += ns;
			if (tick->runnable == 0)
				sum->gap[s] += ns;
			else
				sum->latency[s] += ns / tick->runnable;
		}
		if (!wanted)
			continue;
		load->selected_ns += tick->span_ns;
		profile_set_ready(load->profile, load->threads_only ? 0 : tick->ready);
		profile_add_tick(load->profile, tick->span_ns, tick->parallelism, tick->runnable);
	}
	find_turns(recording);
	return sums;
}

/*
 * `from` and `to` are the same member of struct tick_sum, at the beginning and at the end of a
 * range of ticks. Returns the part of the range's sum that its selected ticks have; `otherwise` if
 * the sum over the range is 0.
 */
static double
part_of(const double from[2], const double to[2], double otherwise)
{
	return to[0] > from[0] ? (to[1] - from[1]) / (to[0] - from[0]) : otherwise;
}

bool
reader_share(const struct recording *recording, const struct tick_sum *sums, uint64_t first,
	     uint64_t ticks, struct profile_entry *entry)
{
	const uint64_t count = recording->tick_count;
	const uint64_t from = first < count ? first : count - (count > 0);
	const uint64_t left = count - from, to = from + (ticks == 0   ? left > 0 :
							 ticks < left ? ticks :
									left);
	const struct tick_sum *a = &sums[from], *b = &sums[to];
	const bool waited = !run_state_runnable(entry->state);
	double time, latency;

	time = part_of(a->ns, b->ns, 0);
	latency = waited ? part_of(a->gap, b->gap, time) : part_of(a->latency, b->latency, time);
	entry->samples = llround((double)entry->samples * time);
	entry->ns[WEIGHT_WALL] = llround((double)entry->ns[WEIGHT_WALL] * time);
	entry->ns[WEIGHT_OVERHEAD] = llround((double)entry->ns[WEIGHT_OVERHEAD] * time);
	entry->ns[WEIGHT_LATENCY] = llround((double)entry->ns[WEIGHT_LATENCY] * latency);
	return time > 0 || latency > 0;
}
