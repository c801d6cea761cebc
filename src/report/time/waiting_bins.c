/* SPDX-License-Identifier: MIT */
/* waiting_bins.c - sums the waits of a recording by parts of its time. */
#include "report/report_internal.h"

#include <stdlib.h>

#include "wallsample/report/timeline.h"

struct filling {
	const struct export_input *input;
	const struct waiting *waiting;
	uint64_t base_ns;
	double span_ns; /* of one part */
	double *bin;
};

/* Adds the overlap of the slice with each part. */
static bool
add_slice(void *context, const struct timeline_slice *slice)
{
	struct filling *filling = context;
	const double from = (double)(slice->start_ns - filling->base_ns) / filling->span_ns;
	const double to = (double)(slice->end_ns - filling->base_ns) / filling->span_ns;
	size_t row;

	if (slice->wait == 0)
		return true;
	row = waiting_find(filling->waiting, filling->input->view, slice->wait, slice->function,
			   slice->depth);
	for (size_t i = from > 0 ? (size_t)from : 0;
	     row < filling->waiting->count && i < WAITING_BINS && (double)i < to; i++) {
		const double begin = from > (double)i ? from : (double)i;
		const double end = to < (double)(i + 1) ? to : (double)(i + 1);

		filling->bin[row * WAITING_BINS + i] += (end - begin) * filling->span_ns;
	}
	return true;
}

double *
waiting_bins_make(const struct export_input *input, const struct waiting *waiting)
{
	struct filling filling = { .input = input, .waiting = waiting };
	uint64_t span_ns;

	if (input->recordings == NULL || input->recording_count != 1)
		return NULL;
	span_ns = recording_info(input->recordings[0])->span_ns;
	if (span_ns == 0)
		return NULL;
	filling.base_ns = timeline_base(input, 0);
	filling.span_ns = (double)span_ns / WAITING_BINS;
	filling.bin = xcalloc(waiting->count * WAITING_BINS + 1, sizeof(*filling.bin));
	timeline_each(input, RECORDING_AS_WRITTEN, add_slice, &filling);
	return filling.bin;
}

void
waiting_bins_add(const double *bin, struct strbuf *out)
{
	static const char *const bars[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
	double most = 0;

	for (size_t i = 0; i < WAITING_BINS; i++)
		most = bin[i] > most ? bin[i] : most;
	for (size_t i = 0; i < WAITING_BINS; i++) {
		const double share = most > 0 ? bin[i] / most : 0;
		/* A time above 0 has a visible bar. */
		const size_t level = share > 0 ? 1 + (size_t)(share * 7 + 0.5) : 0;

		strbuf_add_text(out, bars[level]);
	}
}
