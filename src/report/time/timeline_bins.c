/* SPDX-License-Identifier: MIT */
/*
 * timeline_bins.c - sums the time of timeline slices and of ticks by the bins that they overlap, in
 * one pass, without a list of the slices.
 */
#include "wallsample/report/timeline_bins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/timeline.h"
#include "wallsample/base/base.h"
#include "wallsample/analysis/result.h"

/* A gap between recordings has no bins if it exceeds this share of the recordings' summed time. */
#define GAP_MOST 0.1
/*
 * In ns: 146 years. A recording whose ticks would be further from the start of the timeline is left
 * out, because the clocks of the recordings cannot agree.
 */
#define TIME_MOST (UINT64_C(1) << 62)

/* --- covered time --------------------------------------------------------------------- */

/* The ticks of a recording that have bins. */
struct cursor {
	const struct recording *recording;
	/* time 0 of the recording, in ns since the start of the timeline */
	uint64_t base_ns;
	uint64_t next, end; /* the ticks from `next` to `end` - 1 */
};

static uint64_t
tick_start(const struct cursor *cursor, uint64_t n)
{
	return cursor->base_ns + recording_tick(cursor->recording, n)->start_ns;
}

static uint64_t
tick_end(const struct cursor *cursor, uint64_t n)
{
	return tick_start(cursor, n) + recording_tick(cursor->recording, n)->span_ns;
}

static uint64_t
cursor_start(const struct cursor *cursor)
{
	return tick_start(cursor, cursor->next);
}

static uint64_t
cursor_end(const struct cursor *cursor)
{
	return tick_end(cursor, cursor->end - 1);
}

/*
 * Returns the ticks from the first to the last selected one. The result is empty if no tick is
 * selected or if a time exceeds TIME_MOST.
 */
static struct cursor
make_cursor(const struct recording *recording, uint64_t base_ns)
{
	struct cursor cursor = {
		.recording = recording,
		.base_ns = base_ns,
		.end = recording_info(recording)->ticks,
	};

	while (cursor.next < cursor.end && !recording_tick_wanted(recording, cursor.next))
		cursor.next++;
	while (cursor.end > cursor.next && !recording_tick_wanted(recording, cursor.end - 1))
		cursor.end--;
	if (cursor.next < cursor.end && (base_ns > TIME_MOST || cursor_end(&cursor) > TIME_MOST))
		cursor.next = cursor.end;
	return cursor;
}

/* Returns the start of the earliest recording, on the clock of timeline_base(). The timeline starts
 * there. */
static uint64_t
find_origin(const struct export_input *input)
{
	uint64_t origin = UINT64_MAX;

	for (size_t i = 0; i < input->recording_count; i++) {
		const uint64_t base = timeline_base(input, i);

		origin = base < origin ? base : origin;
	}
	return origin;
}

static int
compare_cursors(const void *left, const void *right)
{
	const uint64_t a = cursor_start(left), b = cursor_start(right);

	return (a > b) - (a < b);
}

/*
 * Returns a cursor for each recording with a selected tick, in the order of their starts. Stores
 * the number of cursors; the caller frees the array.
 */
static struct cursor *
make_cursors(const struct export_input *input, uint64_t origin, size_t *count)
{
	struct cursor *cursor = xcalloc(input->recording_count + 1, sizeof(*cursor));

	*count = 0;
	for (size_t i = 0; i < input->recording_count; i++) {
		cursor[*count] = make_cursor(input->recordings[i],
					     timeline_base(input, i) - origin);
		*count += cursor[*count].next < cursor[*count].end;
	}
	if (*count > 1)
		qsort(cursor, *count, sizeof(*cursor), compare_cursors);
	return cursor;
}

/* --- parts -------------------------------------------------------------------------------- */

/*
 * Makes the parts: a recording that begins more than `gap_most` ns after the end of the previous
 * part begins another part; any other recording extends the previous part to its end.
 */
static void
make_parts(struct timeline_bins *bins, const struct cursor *cursor, size_t count, double gap_most)
{
	bins->part = xcalloc(count + 1, sizeof(*bins->part));
	for (size_t i = 0; i < count; i++) {
		struct timeline_part *last = &bins->part[bins->part_count - (bins->part_count > 0)];
		const uint64_t start = cursor_start(&cursor[i]), end = cursor_end(&cursor[i]);

		if (bins->part_count == 0 ||
		    (start > last->end_ns && (double)(start - last->end_ns) > gap_most))
			bins->part[bins->part_count++] = (struct timeline_part){ .start_ns = start,
										 .end_ns = end };
		else if (end > last->end_ns)
			last->end_ns = end;
	}
}

static uint64_t
divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static void
place_bins(struct timeline_bins *bins, const struct cursor *cursor, size_t count, size_t wanted)
{
	double ticks = 0, ticks_ns = 0, parts_ns = 0, bin_ns;

	for (size_t i = 0; i < count; i++) {
		ticks += (double)(cursor[i].end - cursor[i].next);
		ticks_ns += (double)(cursor_end(&cursor[i]) - cursor_start(&cursor[i]));
	}
	make_parts(bins, cursor, count, GAP_MOST * ticks_ns);
	for (size_t i = 0; i < bins->part_count; i++)
		parts_ns += (double)(bins->part[i].end_ns - bins->part[i].start_ns);
	if (parts_ns <= 0)
		return;
	bin_ns = ceil(parts_ns / (double)wanted);
	bin_ns = bin_ns < ceil(ticks_ns / ticks) ? ceil(ticks_ns / ticks) : bin_ns;
	bins->bin_ns = (uint64_t)bin_ns;
	for (size_t i = 0; i < bins->part_count; i++) {
		struct timeline_part *part = &bins->part[i];

		part->first = bins->count;
		part->count = divide_up(part->end_ns - part->start_ns, bins->bin_ns);
		bins->count += part->count;
	}
}

/* Calls `add` with each bin that the time range overlaps, and the length of the overlap. */
static void
spread(const struct timeline_bins *bins, uint64_t start_ns, uint64_t end_ns,
       void (*add)(void *context, size_t bin, uint64_t ns), void *context)
{
	for (size_t i = 0; i < bins->part_count; i++) {
		const struct timeline_part *part = &bins->part[i];
		uint64_t from = start_ns > part->start_ns ? start_ns : part->start_ns;
		const uint64_t to = end_ns < part->end_ns ? end_ns : part->end_ns;

		while (from < to) {
			const uint64_t n = (from - part->start_ns) / bins->bin_ns;
			const uint64_t left = (n + 1) * bins->bin_ns - (from - part->start_ns);
			const uint64_t ns = left < to - from ? left : to - from;

			add(context, part->first + n, ns);
			from += ns;
		}
	}
}

/* --- threads -------------------------------------------------------------------------- */

struct filling {
	struct timeline_bins *bins;
	struct timeline_row **row_of; /* by thread of the profile; NULL: not in the view */
	uint64_t origin;              /* start of the timeline: see find_origin() */
	double *ns; /* the array that add_state_time() adds to: ns[bin * step + state] */
	size_t step, state;
};

static void
add_state_time(void *context, size_t bin, uint64_t ns)
{
	struct filling *filling = context;

	filling->ns[bin * filling->step + filling->state] += (double)ns;
}

/* Adds the time of the slice to ns[bin * step + state] of the bins that it overlaps. */
static void
add_slice(struct filling *filling, const struct timeline_slice *slice, double *ns, size_t step,
	  size_t state)
{
	filling->ns = ns;
	filling->step = step;
	filling->state = state;
	spread(filling->bins, slice->start_ns - filling->origin, slice->end_ns - filling->origin,
	       add_state_time, filling);
}

static bool
on_slice(void *context, const struct timeline_slice *slice)
{
	struct filling *filling = context;
	struct timeline_row *row = filling->row_of[slice->thread];
	const bool waits = slice->gil == GIL_WAIT && !run_state_runnable(slice->state);

	if (row == NULL)
		return true;
	add_slice(filling, slice, row->ns, TIMELINE_STATES,
		  waits ? TIMELINE_GIL_WAIT : (size_t)slice->state);
	if (waits || slice->gil == GIL_HAS)
		filling->bins->has_gil = true;
	if (slice->gil != GIL_HAS)
		return true;
	if (row->gil_ns == NULL)
		row->gil_ns = xcalloc(filling->bins->count, sizeof(*row->gil_ns));
	add_slice(filling, slice, row->gil_ns, 1, 0);
	return true;
}

static void
fill_rows(const struct export_input *input, struct timeline_bins *bins, size_t rows,
	  uint64_t origin)
{
	const size_t size = bins->count * TIMELINE_STATES;
	struct filling filling = {
		.bins = bins,
		.row_of = xcalloc(profile_thread_count(view_profile(input->view)) + 1,
				  sizeof(struct timeline_row *)),
		.origin = origin,
	};
	struct thread_table threads;

	thread_table_make(input->view, &threads);
	bins->row_count = threads.count < rows ? threads.count : rows;
	bins->rest_count = threads.count - bins->row_count;
	bins->row = xcalloc(bins->row_count + 1, sizeof(*bins->row));
	if (bins->rest_count > 0)
		bins->rest.ns = xcalloc(size, sizeof(double));
	for (size_t i = 0; i < threads.count; i++) {
		struct timeline_row *row = i < bins->row_count ? &bins->row[i] : &bins->rest;

		row->thread = threads.row[i].thread;
		if (row->ns == NULL)
			row->ns = xcalloc(size, sizeof(double));
		filling.row_of[row->thread] = row;
	}
	thread_table_release(&threads);
	timeline_each(input, RECORDING_AS_WRITTEN, on_slice, &filling);
	free(filling.row_of);
}

/* --- threads on a CPU ------------------------------------------------------------------- */

/* A range of time in which the load of all recordings together is constant. */
struct moment {
	struct timeline_bins *bins;
	uint64_t parallelism; /* number of threads on a CPU */
};

static void
add_load(void *context, size_t bin, uint64_t ns)
{
	const struct moment *moment = context;
	struct timeline_load *load = &moment->bins->load[bin];

	load->wanted_ns += (double)ns;
	load->cpu_ns += (double)ns * (double)moment->parallelism;
	if (load->most < moment->parallelism)
		load->most = moment->parallelism;
}

/*
 * Adds the load from `now` to the next start or end of a tick in any recording, and returns the
 * time of that start or end. Returns `now` after the last tick.
 */
static uint64_t
bins_advance(struct moment *moment, struct cursor *cursor, size_t count, uint64_t now)
{
	uint64_t until = UINT64_MAX;
	bool wanted = false;

	moment->parallelism = 0;
	for (size_t i = 0; i < count; i++) {
		struct cursor *at = &cursor[i];
		uint64_t change;

		while (at->next < at->end && tick_end(at, at->next) <= now)
			at->next++;
		if (at->next == at->end)
			continue;
		change = tick_start(at, at->next);
		if (change <= now) {
			change = tick_end(at, at->next);
			if (recording_tick_wanted(at->recording, at->next)) {
				wanted = true;
				moment->parallelism += recording_tick(at->recording, at->next)
							       ->parallelism;
			}
		}
		until = change < until ? change : until;
	}
	if (until == UINT64_MAX)
		return now;
	if (wanted)
		spread(moment->bins, now, until, add_load, moment);
	return until;
}

static void
fill_load(struct timeline_bins *bins, struct cursor *cursor, size_t count)
{
	struct moment moment = { .bins = bins };
	uint64_t now = bins->part[0].start_ns, next;

	bins->load = xcalloc(bins->count, sizeof(*bins->load));
	while ((next = bins_advance(&moment, cursor, count, now)) != now)
		now = next;
}

/*
 * Returns the number of CPUs that the recorded processes may use: for each machine the largest
 * number in one of its recordings, summed over the machines. Returns 0 if the number is not known
 * for one of them.
 */
static uint64_t
count_cpus(const struct export_input *input)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < input->recording_count; i++) {
		const struct recording_info *info = recording_info(input->recordings[i]);
		uint64_t most = info->cpus;
		bool first = true;

		for (size_t k = 0; k < input->recording_count; k++) {
			const struct recording_info *other = recording_info(input->recordings[k]);

			if (strcmp(info->host, other->host) != 0)
				continue;
			first = first && k >= i;
			most = other->cpus > most ? other->cpus : most;
		}
		if (most == 0)
			return 0;
		sum += first ? most : 0;
	}
	return sum;
}

/* --- the whole ------------------------------------------------------------------------------ */

void
timeline_bins_make(const struct export_input *input, size_t bins, size_t rows,
		   struct timeline_bins *out)
{
	size_t count;
	uint64_t origin;
	struct cursor *cursor;

	*out = (struct timeline_bins){ .cpus = count_cpus(input) };
	if (input->recording_count == 0)
		return;
	origin = find_origin(input);
	cursor = make_cursors(input, origin, &count);
	place_bins(out, cursor, count, bins);
	if (out->count > 0) {
		fill_rows(input, out, rows, origin);
		fill_load(out, cursor, count);
	}
	free(cursor);
}

uint64_t
timeline_bins_length(const struct timeline_bins *bins, size_t bin)
{
	const struct timeline_part *part = bins->part;
	uint64_t left;

	while (bin >= part->first + part->count)
		part++;
	left = part->end_ns - part->start_ns - (bin - part->first) * bins->bin_ns;
	return left < bins->bin_ns ? left : bins->bin_ns;
}

void
timeline_bins_release(struct timeline_bins *bins)
{
	for (size_t i = 0; i < bins->row_count; i++) {
		free(bins->row[i].ns);
		free(bins->row[i].gil_ns);
	}
	free(bins->rest.ns);
	free(bins->rest.gil_ns);
	free(bins->row);
	free(bins->part);
	free(bins->load);
	*bins = (struct timeline_bins){ .count = 0 };
}
