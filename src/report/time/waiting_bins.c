/* SPDX-License-Identifier: MIT */
/* waiting_bins.c - sums the waits for each object over time, from recordings. */
#include <math.h>
#include <stdlib.h>

#include "report/report_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/report/timeline.h"

/*
 * The number of threads that waited at once is the mean over a fine bin. Fine bins have about
 * BIN_TICKS ticks, so that threads which take turns within a tick do not count as waiting at once.
 */
#define BIN_TICKS 10
/* Most fine bins of all rows together, which bounds the memory. */
#define FINE_MOST ((size_t)1 << 22)
/* A mean that is less than this below a whole number counts as that number. */
#define ROUNDING 0.05

/* The context of add_slice(), which sums the time of waits over all slices of a group. */
struct filling {
	const struct export_input *input; /* its recordings are those of one group */
	const struct waiting *waiting;
	uint64_t start_ns, end_ns; /* the selected time, on the clock of slices */
	size_t fine;               /* number of fine bins of a row, a multiple of WAITING_BINS */
	double fine_ns;            /* length of a fine bin */
	/* time of waiters in ns; index: row of `waiting` * fine + number of the bin */
	double *bin;
};

/* Adds the time that the slice has in each bin to the bins of the object that its thread awaits. */
static bool
add_slice(void *context, const struct timeline_slice *slice)
{
	struct filling *filling = context;
	const double from = ((double)slice->start_ns - (double)filling->start_ns) /
			    filling->fine_ns;
	const double to = ((double)slice->end_ns - (double)filling->start_ns) / filling->fine_ns;
	size_t row;

	if (slice->wait == 0)
		return true;
	row = waiting_find(filling->waiting, filling->input->view, slice->wait, slice->function,
			   slice->depth);
	for (size_t i = from > 0 ? (size_t)from : 0;
	     row < filling->waiting->count && i < filling->fine && (double)i < to; i++) {
		const double begin = from > (double)i ? from : (double)i;
		const double end = to < (double)(i + 1) ? to : (double)(i + 1);

		filling->bin[row * filling->fine + i] += (end - begin) * filling->fine_ns;
	}
	return true;
}

/* Finds the time from the first to the last selected tick, and the length of the bins. Returns
 * false if no tick is selected. */
static bool
place_bins(struct filling *filling)
{
	const struct export_input *input = filling->input;
	uint64_t most_ticks = 0;
	size_t each = FINE_MOST / (filling->waiting->count + 1) / WAITING_BINS;

	filling->start_ns = UINT64_MAX;
	for (size_t i = 0; i < input->recording_count; i++) {
		const struct recording *recording = input->recordings[i];
		const uint64_t ticks = recording_info(recording)->ticks;
		const uint64_t base_ns = timeline_base(input, i);
		uint64_t selected = 0;

		for (uint64_t n = 0; n < ticks; n++) {
			const struct recording_tick *tick = recording_tick(recording, n);
			const uint64_t start_ns = base_ns + tick->start_ns;

			if (!recording_tick_wanted(recording, n))
				continue;
			selected++;
			if (start_ns < filling->start_ns)
				filling->start_ns = start_ns;
			if (start_ns + tick->span_ns > filling->end_ns)
				filling->end_ns = start_ns + tick->span_ns;
		}
		most_ticks = selected > most_ticks ? selected : most_ticks;
	}
	if (each > most_ticks / BIN_TICKS / WAITING_BINS)
		each = most_ticks / BIN_TICKS / WAITING_BINS;
	filling->fine = (each > 0 ? each : 1) * WAITING_BINS;
	filling->fine_ns = (double)(filling->end_ns - filling->start_ns) / (double)filling->fine;
	return filling->start_ns < filling->end_ns;
}

/* Raises `most` of each row to the largest number of waiters in a fine bin. */
static void
raise_most(const struct filling *filling)
{
	for (size_t r = 0; r < filling->waiting->count; r++) {
		struct waiting_row *row = &filling->waiting->row[r];
		double most_ns = 0;
		uint32_t most;

		for (size_t i = 0; i < filling->fine; i++)
			most_ns = fmax(most_ns, filling->bin[r * filling->fine + i]);
		most = (uint32_t)fmin(most_ns / filling->fine_ns + ROUNDING, row->threads);
		if (row->most < most)
			row->most = most;
	}
}

/* Returns the sums of the fine bins in WAITING_BINS bins for each row. */
static double *
sum_bins(const struct filling *filling)
{
	const size_t each = filling->fine / WAITING_BINS;
	double *bin = xcalloc(filling->waiting->count * WAITING_BINS + 1, sizeof(*bin));

	for (size_t i = 0; each > 0 && i < filling->waiting->count * filling->fine; i++)
		bin[i / each] += filling->bin[i];
	return bin;
}

/*
 * Sums the waits of the recordings of input->recordings[first]'s group. Returns the bins, or NULL
 * if the group lacks one of the recordings, or no tick is selected.
 */
static double *
add_group(const struct export_input *input, size_t first, const struct waiting *waiting)
{
	struct recording **member = xcalloc(input->recording_count, sizeof(struct recording *));
	struct export_input group = *input;
	struct filling filling = { .input = &group, .waiting = waiting };
	double *bin = NULL;

	group.recordings = member;
	group.recording_count = 0;
	for (size_t i = first; i < input->recording_count; i++)
		if (recording_group(input->recordings[i]) ==
		    recording_group(input->recordings[first]))
			member[group.recording_count++] = input->recordings[i];
	if (place_bins(&filling)) {
		filling.bin = xcalloc(waiting->count * filling.fine + 1, sizeof(*filling.bin));
		timeline_each(&group, RECORDING_AS_WRITTEN, add_slice, &filling);
		raise_most(&filling);
		if (group.recording_count == input->recording_count)
			bin = sum_bins(&filling);
		free(filling.bin);
	}
	free(member);
	return bin;
}

double *
waiting_bins_make(const struct export_input *input, const struct waiting *waiting)
{
	double *bin = NULL;

	if (input->recordings == NULL || waiting->count == 0)
		return NULL;
	for (size_t i = 0; bin == NULL && i < input->recording_count; i++) {
		bool earlier = false;

		for (size_t k = 0; k < i && !earlier; k++)
			earlier = recording_group(input->recordings[k]) ==
				  recording_group(input->recordings[i]);
		if (!earlier)
			bin = add_group(input, i, waiting);
	}
	return bin;
}
