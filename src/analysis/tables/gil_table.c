/* SPDX-License-Identifier: MIT */
/*
 * gil_table.c - sums up for each thread how long it held an interpreter's lock, and how long it
 * waited for the lock.
 */
#include "wallsample/analysis/gil_table.h"

#include <math.h>
#include <stdlib.h>

#include "wallsample/base/base.h"

bool
gil_is_several(const struct profile *profile)
{
	/* A lock of an interpreter has a name only if there are several locks. */
	for (uint32_t i = 0; i < profile_wait_count(profile); i++)
		if (profile_wait(profile, i)->kind == WAIT_GIL &&
		    profile_wait(profile, i)->object != FRAME_NONE)
			return true;
	return false;
}

int64_t
gil_waited_ns(const int64_t ns[GIL_COUNT])
{
	return ns[GIL_WAIT] + ns[GIL_HANDOVER];
}

static int64_t
concern_ns(const struct gil_row *row)
{
	return row->ns[GIL_HAS] + gil_waited_ns(row->ns);
}

static int
gil_compare_rows(const void *left, const void *right, void *context)
{
	const struct gil_row *a = left, *b = right;
	const int64_t of_a = concern_ns(a), of_b = concern_ns(b);
	const pid_t tid_of_a = profile_thread(context, a->thread)->tid;
	const pid_t tid_of_b = profile_thread(context, b->thread)->tid;

	if (of_a != of_b)
		return of_a > of_b ? -1 : 1;
	if (a->total_ns != b->total_ns)
		return a->total_ns > b->total_ns ? -1 : 1;
	if (tid_of_a != tid_of_b)
		return tid_of_a < tid_of_b ? -1 : 1;
	return (a->thread > b->thread) - (a->thread < b->thread);
}

static void
add_up(struct gil_table *out, double span_ns)
{
	for (size_t i = 0; i < out->count; i++) {
		out->concerned += concern_ns(&out->row[i]) > 0;
		out->total_ns += out->row[i].total_ns;
		for (int gil = 0; gil < GIL_COUNT; gil++)
			out->ns[gil] += out->row[i].ns[gil];
	}
	if (span_ns <= 0)
		return;
	out->held_share = fmin(1, (double)out->ns[GIL_HAS] / span_ns);
	out->wait_average = (double)gil_waited_ns(out->ns) / span_ns;
}

void
gil_table_make(const struct view *view, struct gil_table *out)
{
	const struct profile *profile = view_profile(view);
	const size_t threads = profile_thread_count(profile);

	*out = (struct gil_table){ .row = xcalloc(threads + 1, sizeof(*out->row)) };
	for (size_t i = 0; i < view_row_count(view); i++) {
		const struct view_row *sample = view_row(view, i);

		if (sample->gil == GIL_UNKNOWN)
			continue;
		out->row[sample->thread].ns[sample->gil] += sample->ns[WEIGHT_WALL];
		out->row[sample->thread].total_ns += sample->ns[WEIGHT_WALL];
	}
	for (uint32_t i = 0; i < threads; i++) {
		if (out->row[i].total_ns <= 0)
			continue;
		out->row[out->count] = out->row[i];
		out->row[out->count++].thread = i;
	}
	if (out->count > 1)
		qsort_r(out->row, out->count, sizeof(*out->row), gil_compare_rows, (void *)profile);
	add_up(out, (double)profile_wall_ns(profile));
}
