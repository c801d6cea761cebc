/* SPDX-License-Identifier: MIT */
/* sample_part.c - reports of a part of the time (--from, --to, --parallelism) of a live run. */
#include "cli/run_internal.h"

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

/* Appends ", from 10 s before the end"; nothing if the option was not given. */
static void
add_moment(struct strbuf *text, const char *word, const struct option_moment *moment)
{
	if (moment->given)
		strbuf_add_format(text, "%s%s %s%s", text->length > 0 ? ", " : "", word,
				  say_duration(
					  (uint64_t)(moment->ns < 0 ? -moment->ns : moment->ns))
					  .text,
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

/* True if the output cannot be made without the recording. */
static bool
part_is_needed(const struct run *run)
{
	return part_is_wanted(run->request.options) || run->request.exporter->time == EXPORT_TIME;
}

/*
 * Takes the result `rc` of a call that writes the recording. If the output needs the recording,
 * returns `rc`. Otherwise prints the error, if any, clears it, and returns 0.
 */
static int
part_pass_error(struct run *run, int rc, struct error *err)
{
	if (rc == 0 || part_is_needed(run))
		return rc;
	log_say(&run->request.log, LOG_NORMAL, "the report has no times of samples: %s", err->text);
	err->kind = ERROR_NONE;
	return 0;
}

int
part_begin(struct run *run, struct error *err)
{
	const struct recording_config config = {
		.modules = run->source.modules,
		.rate_hz = run->request.options->rate_hz,
	};
	int rc;

	/* A report by lock shows waits over time, which only a recording has. */
	if (run->request.exporter->time == EXPORT_TIMELESS &&
	    run->request.options->by != VIEW_BY_LOCK && !part_is_wanted(run->request.options))
		return 0;
	rc = recorder_create(&config, run->source.profile, &run->recorder, err);
	return part_pass_error(run, rc, err);
}

void
part_fail(struct run *run)
{
	recorder_discard(run->recorder);
	run->recorder = NULL;
	/* Ends sampling, because later samples would be lost. */
	if (part_pass_error(run, -(int)run->record_error.kind, &run->record_error) != 0)
		signals_stop = SIGTERM;
}

/* A part of the time of a live run. */
struct live_part {
	struct part part;            /* borrows the members below */
	struct profile *profile;     /* owned */
	struct recording *recording; /* owned */
};

static void
part_release(struct live_part *live)
{
	strbuf_release(&live->part.text);
	recording_close(live->recording);
	profile_free(live->profile);
	*live = (struct live_part){ .profile = NULL };
}

/* Loads from the recorder the selected part of the run up to now. */
static int
part_load(struct run *run, struct live_part *live, struct error *err)
{
	const struct options *options = run->request.options;
	const struct recording_selection selection = part_selection(options);
	const bool wanted = part_is_wanted(options);
	struct recording_load load = {
		.selection = wanted ? &selection : NULL,
		.threads_only = options->green_use == GREEN_USE_OFF,
	};
	int rc = recorder_commit(run->recorder, &run->source.stats, err);

	if (rc == 0)
		rc = recording_of(run->recorder, &live->recording, err);
	if (rc != 0)
		return rc;
	load.profile = live->profile = profile_create();
	rc = recording_load(live->recording, &load, err);
	if (rc == 0 && wanted)
		part_describe(options, load.selected_ns, recording_info(live->recording)->span_ns,
			      &live->part.text);
	live->part.profile = live->profile;
	live->part.recording = &live->recording;
	live->part.recording_count = 1;
	return rc;
}

int
sample_write(struct run *run, bool snapshot, struct error *err)
{
	struct live_part live = { .profile = NULL };
	int rc = 0;

	if (snapshot)
		target_refresh_code(&run->target);
	if (run->record_error.kind != ERROR_NONE) {
		*err = run->record_error;
		return -(int)err->kind;
	}
	if (run->recorder != NULL)
		rc = part_load(run, &live, err);
	if (rc != 0)
		part_release(&live);
	rc = part_pass_error(run, rc, err);
	if (rc == 0)
		rc = source_write(&run->request, &run->source, &live.part, snapshot, err);
	part_release(&live);
	return rc;
}
