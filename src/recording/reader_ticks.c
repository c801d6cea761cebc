/* SPDX-License-Identifier: MIT */
/* reader_ticks.c - reads ticks, and scales spans to the selected and joint ticks. */
#include <math.h>
#include <stdlib.h>

#include "recording/reader_internal.h"
#include "recording/reader_joint_internal.h"
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

const struct recording *
recording_group(const struct recording *recording)
{
	return recording->group;
}

const struct recording_tick *
recording_joint_tick(const struct recording *recording, uint64_t n)
{
	return recording->joint != NULL ? &recording->joint[n] : &recording->tick[n];
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
reader_share(const struct recording *recording, uint64_t first, uint64_t ticks,
	     struct profile_entry *entry)
{
	const uint64_t count = recording->tick_count;
	const uint64_t from = first < count ? first : count - (count > 0);
	const uint64_t left = count - from, to = from + (ticks == 0   ? left > 0 :
							 ticks < left ? ticks :
									left);
	const struct tick_sum *a = &recording->sums[from], *b = &recording->sums[to];
	const bool waited = !run_state_runnable(entry->state);
	double time, latency;

	time = part_of(a->ns, b->ns, 0);
	latency = waited ? part_of(a->gap, b->gap, time) : part_of(a->latency, b->latency, time);
	entry->samples = llround((double)entry->samples * time);
	entry->ns[WEIGHT_WALL] = llround((double)entry->ns[WEIGHT_WALL] * time);
	entry->ns[WEIGHT_CPU] = llround((double)entry->ns[WEIGHT_CPU] * time);
	entry->ns[WEIGHT_LATENCY] = llround((double)entry->ns[WEIGHT_LATENCY] * latency);
	return time > 0 || latency > 0;
}
