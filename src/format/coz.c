/* SPDX-License-Identifier: MIT */
/*
 * coz.c - writes the profile of the causal profiler coz, which `coz plot` opens: each experiment
 * with its progress points, in lines of tab-separated fields.
 *
 * The format is that of coz 0.2 (libcoz/profiler.cpp, progress_point.h) and its viewer
 * (viewer/ts/profile.ts): durations exclude the time in which other threads were held, and all
 * numbers but speed-ups are integers.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "wallsample/format/exporters.h"
#include "wallsample/base/base.h"

/*
 * The viewer truncates the mean number of operations in progress to an integer, and shows only
 * ratios of these numbers. The mean is therefore written in thousandths: a mean below 1 would be 0.
 */
#define IN_PROGRESS_UNIT 1000.0

/* Writes a value as an integer; 0 if it is negative or not finite. */
static void
write_whole(FILE *out, const char *field, double value)
{
	fprintf(out, "\t%s=%.0f", field, isfinite(value) && value > 0 ? value : 0.0);
}

/*
 * Writes the candidate: a line as FILE:LINE, as coz does; a function with its module, because
 * several functions may have the same name; a module by its name.
 */
static void
write_selected(const struct causal_result *result, uint32_t at, FILE *out)
{
	const struct causal_candidate *candidate = &result->candidate[at];
	struct strbuf text = STRBUF_INIT;

	if (result->unit == CAUSAL_BY_LINE && candidate->file != NULL && candidate->line > 0) {
		strbuf_add_ordered_line(&text, candidate->file);
		strbuf_add_format(&text, ":%" PRIu32, candidate->line);
	} else {
		strbuf_add_ordered_line(&text, candidate->name);
		if (candidate->module[0] != '\0' && result->unit != CAUSAL_BY_MODULE) {
			strbuf_add_text(&text, " (");
			strbuf_add_ordered_line(&text, candidate->module);
			strbuf_add_text(&text, ")");
		}
	}
	fputs(text.length > 0 ? text.data : "?", out);
	strbuf_release(&text);
}

static void
write_reading(const struct causal_point *point, const struct causal_reading *reading,
	      double read_ns, FILE *out)
{
	struct strbuf name = STRBUF_INIT;

	strbuf_add_ordered_line(&name, point->name);
	fprintf(out, "%s-point\tname=%s", causal_point_kind_word(point->kind),
		name.length > 0 ? name.data : "?");
	strbuf_release(&name);
	if (point->kind == CAUSAL_LATENCY) {
		write_whole(out, "arrivals", reading->count);
		write_whole(out, "departures", reading->count);
		write_whole(out, "difference",
			    IN_PROGRESS_UNIT * reading->in_progress_ns / read_ns);
	} else {
		write_whole(out, "delta", reading->count);
	}
	fputc('\n', out);
}

static void
write_experiment(const struct causal_result *result, const struct causal_experiment *experiment,
		 FILE *out)
{
	const double duration_ns = causal_virtual_ns(experiment);
	/* Numbers in progress were read over the time of ticks, too. */
	const double read_ns = (double)(experiment->wall_ns - experiment->held_ns);

	fputs("experiment\tselected=", out);
	write_selected(result, experiment->candidate, out);
	fprintf(out, "\tspeedup=%.4g", experiment->speedup);
	write_whole(out, "duration", duration_ns);
	fprintf(out, "\tselected-samples=%" PRIu64 "\n", experiment->chosen);
	for (size_t i = 0; i < result->point_count; i++)
		write_reading(&result->point[i], &experiment->reading[i], read_ns, out);
}

static void
write_samples(const struct causal_result *result, FILE *out)
{
	for (uint32_t c = 0; c < result->candidate_count; c++) {
		uint64_t samples = 0;

		for (size_t i = 0; i < result->experiment_count; i++)
			if (result->experiment[i].candidate == c)
				samples += result->experiment[i].chosen;
		if (samples == 0)
			continue;
		fputs("samples\tlocation=", out);
		write_selected(result, c, out);
		fprintf(out, "\tcount=%" PRIu64 "\n", samples);
	}
}

static void
coz_write_causal(const struct causal_input *input, FILE *out)
{
	const struct causal_result *result = input->result;

	fprintf(out, "startup\ttime=%" PRIu64 "\n", result->started_ns);
	for (size_t i = 0; i < result->experiment_count; i++) {
		const struct causal_experiment *experiment = &result->experiment[i];

		if (experiment->end == CAUSAL_WHOLE && experiment->held_ns < experiment->wall_ns &&
		    experiment->candidate < result->candidate_count)
			write_experiment(result, experiment, out);
	}
	fprintf(out, "runtime\ttime=%" PRIu64 "\n", result->wall_ns);
	write_samples(result, out);
}

const struct exporter exporter_coz = {
	.name = "coz",
	.help = "experiments for the viewer of coz, another causal profiler",
	.endings = "coz",
	.noun = "profile",
	.write_causal = coz_write_causal,
};
