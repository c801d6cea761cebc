/* SPDX-License-Identifier: MIT */
/* command_diff.c - the command that compares two recordings. */
#include <string.h>

#include "cli/loaded_internal.h"
#include "cli/sample_run_internal.h"

#define TABLE_ROWS 20 /* unless -n says how many */

/* Both recordings, and what is made of them. The run has the filter and the output. */
struct comparison {
	struct sample_run run;
	struct loaded loaded[DIFF_SIDES];
	struct view *view[DIFF_SIDES];
	struct strbuf part[DIFF_SIDES];
	struct diff diff;
};

static int
check_words(struct comparison *comparison, struct error *err)
{
	struct sample_run *run = &comparison->run;
	const struct options *options = run->options;

	if (options->files.count != DIFF_SIDES)
		return error_set(err, ERROR_USAGE, "two recordings are compared, not %zu: "
				 "wallsample diff BEFORE.wsdb AFTER.wsdb", options->files.count);
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a comparison is not a recording: wallsample "
				 "record makes one");
	return sample_check_report(run, err);
}

/* Reads one of the two, and says whether it is whole. */
static int
load(struct comparison *comparison, enum diff_side side, int *status, struct error *err)
{
	struct sample_run *run = &comparison->run;
	const struct options *options = run->options;
	struct loaded *loaded = &comparison->loaded[side];
	struct strbuf why;
	int rc = loaded_init(loaded, options, &options->files.text[side], 1, &run->log, err);

	if (rc != 0)
		return rc;
	strbuf_init(&why);
	if (part_is_wanted(options))
		part_describe(options, loaded->selected_ns, loaded->all_ns,
			      &comparison->part[side]);
	if (sample_exit_status(&loaded->stats, &why) != SAMPLE_WHOLE)
		*status = SAMPLE_PARTIAL;
	if (why.length > 0) {
		strbuf_add_format(&loaded->note, ", %s", why.data);
		log_say(&run->log, LOG_NORMAL, "%s: %s", side == DIFF_BEFORE ? "before" : "after",
			why.data);
	}
	comparison->view[side] = view_create(loaded->profile, loaded->symbols, &options->filter,
					     options->lines ? VIEW_BY_LINE :
							      options->by);
	strbuf_release(&why);
	return 0;
}

static int
write_diff(void *context, FILE *out, struct error *err)
{
	const struct comparison *comparison = context;
	const struct sample_run *run = &comparison->run;
	const struct options *options = run->options;
	struct diff_input input = {
		.diff = &comparison->diff,
		.limit = options->limit != 0 ? options->limit : TABLE_ROWS,
		.columns = output_columns(&run->output),
		.filtered = options_are_filtered(options),
	};

	(void)err;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct loaded *loaded = &comparison->loaded[side];
		const struct recording_info *info = recording_info(loaded->recording[0]);
		const struct strbuf *part = &comparison->part[side];

		input.run[side] = (struct export_input){
			.view = comparison->view[side],
			.process = loaded->process,
			.modules = loaded->modules,
			.stats = &loaded->stats,
			.began_ns = (uint64_t)info->began * NS_PER_SEC,
			.note = loaded->note.data,
			.part = part->length > 0 ? part->data : NULL,
			.sort = comparison->diff.weight,
		};
	}
	run->exporter->write_diff(&input, out);
	return 0;
}

static void
say_written(const struct comparison *comparison)
{
	const struct diff *diff = &comparison->diff;
	const struct sample_run *run = &comparison->run;
	char flat[SAY_TEXT_SIZE], cum[SAY_TEXT_SIZE];
	struct strbuf path;

	if (run->output.path == NULL)
		return;
	strbuf_init(&path);
	strbuf_add_foreign(&path, run->output.path);
	log_say(&run->log, LOG_NORMAL, "wrote %s of the comparison to %s: changed are %s in "
		"themselves, %s with what they called", run->exporter->name, path.data,
		say_count(diff->flat_found, flat), say_count(diff->cum_found, cum));
	strbuf_release(&path);
}

static int
compare(struct comparison *comparison, int *status, struct error *err)
{
	struct diff_run runs[DIFF_SIDES];
	int rc = 0;

	for (int side = 0; rc == 0 && side < DIFF_SIDES; side++)
		rc = load(comparison, (enum diff_side)side, status, err);
	if (rc == 0)
		rc = sample_open_output(&comparison->run,
					comparison->loaded[DIFF_AFTER].process->pid, err);
	if (rc != 0)
		return rc;
	for (int side = 0; side < DIFF_SIDES; side++)
		runs[side] = (struct diff_run){
			.view = comparison->view[side],
			.threads_most = comparison->loaded[side].stats.threads_most,
		};
	diff_make(runs, (enum weight)comparison->run.options->sort, &comparison->diff);
	rc = output_write(&comparison->run.output, write_diff, comparison, err);
	if (rc == 0)
		say_written(comparison);
	return rc;
}

static void
release(struct comparison *comparison)
{
	diff_release(&comparison->diff);
	for (int side = 0; side < DIFF_SIDES; side++) {
		view_free(comparison->view[side]);
		loaded_release(&comparison->loaded[side]);
		strbuf_release(&comparison->part[side]);
	}
	sample_run_release(&comparison->run);
}

int
command_diff(const struct options *options)
{
	struct comparison comparison = { .diff = { .row = NULL } };
	struct error err;
	int rc, status = SAMPLE_WHOLE;

	sample_run_init(&comparison.run, options);
	rc = check_words(&comparison, &err);
	if (rc == 0)
		rc = compare(&comparison, &status, &err);
	release(&comparison);
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
