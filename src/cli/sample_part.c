/* SPDX-License-Identifier: MIT */
/* sample_part.c - reports of a part of the time: --from, --to, --parallelism. */
#include <math.h>

#include "sample_run.h"

bool
part_is_wanted(const struct options *options)
{
	return options->from.given || options->to.given || options->parallelism.given;
}

int
part_check_words(const struct options *options, struct error *err)
{
	const struct option_moment *from = &options->from, *to = &options->to;

	if (from->given && to->given && (from->ns < 0) == (to->ns < 0) && from->ns >= to->ns)
		return error_set(err, ERROR_USAGE, "--from must be a time before that of --to");
	return 0;
}

struct recording_selection
part_selection(const struct options *options)
{
	return (struct recording_selection){
		.has_from = options->from.given,
		.from_ns = options->from.ns,
		.has_to = options->to.given,
		.to_ns = options->to.ns,
		.has_parallelism = options->parallelism.given,
		.least = (uint32_t)options->parallelism.least,
		.most = (uint32_t)options->parallelism.most,
	};
}

/* ", from 10 s before the end" */
static void
add_moment(struct strbuf *text, const char *word, const struct option_moment *moment)
{
	char time[SAY_TEXT_SIZE];

	if (!moment->given)
		return;
	say_duration((uint64_t)(moment->ns < 0 ? -moment->ns : moment->ns), time);
	strbuf_add_format(text, "%s%s %s%s", text->length > 0 ? ", " : "", word, time,
			  moment->ns < 0 ? " before the end" : "");
}

void
part_describe(const struct options *options, uint64_t selected_ns, uint64_t all_ns,
	      struct strbuf *text)
{
	const struct option_range *range = &options->parallelism;
	const uint64_t most = range->most;

	strbuf_clear(text);
	if (range->given && range->least == most)
		strbuf_add_format(text, "while %llu thread%s on a CPU", (unsigned long long)most,
				  most == 1 ? " was" : "s were");
	else if (range->given)
		strbuf_add_format(text, "while %llu to %llu threads were on a CPU",
				  (unsigned long long)range->least, (unsigned long long)most);
	add_moment(text, "from", &options->from);
	add_moment(text, "up to", &options->to);
	strbuf_add_format(text, ": %.3g%% of the time",
			  all_ns > 0 ? 100.0 * (double)selected_ns / (double)all_ns : 0);
}

int
part_begin(struct sample_run *run, struct error *err)
{
	const struct recording_config config = {
		.modules = run->modules,
		.rate_hz = run->options->rate_hz,
	};

	return recorder_create(&config, run->profile, &run->recorder, err);
}

int
part_load(struct sample_run *run, const struct sampler_stats *stats, struct profile **out,
	  struct strbuf *text, struct error *err)
{
	const struct recording_selection selection = part_selection(run->options);
	struct recording_load load = { .selection = &selection };
	struct recording *recording = NULL;
	int rc = run->record_error.kind != ERROR_NONE ? -(int)run->record_error.kind : 0;

	*out = NULL;
	if (rc != 0)
		*err = run->record_error;
	if (rc == 0)
		rc = recorder_commit(run->recorder, stats, err);
	if (rc == 0)
		rc = recording_of(run->recorder, &recording, err);
	if (rc != 0)
		return rc;
	load.profile = profile_create();
	rc = recording_load(recording, &load, err);
	if (rc == 0) {
		part_describe(run->options, load.selected_ns, recording_info(recording)->span_ns,
			      text);
		*out = load.profile;
	} else {
		profile_free(load.profile);
	}
	recording_close(recording);
	return rc;
}
