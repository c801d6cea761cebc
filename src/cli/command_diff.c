/* SPDX-License-Identifier: MIT */
/* command_diff.c - wallsample diff: compares two recordings. */
#include <string.h>

#include "wallsample/format/exporters.h"
#include "cli/run_internal.h"
#include "wallsample/report/quantity.h"

#define TABLE_ROWS 20 /* default number of rows of a table (option -n) */

/* Both recordings and their comparison. */
struct comparison {
	struct request request;
	struct loaded loaded[DIFF_SIDES];
	struct view *view[DIFF_SIDES];
	struct diff diff;
	struct view *by_process[DIFF_SIDES]; /* NULL, unless there are several processes */
	struct diff processes;               /* the comparison of these views */
};

static int
comparison_check_options(struct comparison *comparison, struct error *err)
{
	struct request *request = &comparison->request;
	const struct options *options = request->options;

	if (options->files.count != DIFF_SIDES)
		return error_set(err, ERROR_USAGE,
				 "two recordings are compared, not %zu: "
				 "wallsample diff BEFORE.wsdb AFTER.wsdb",
				 options->files.count);
	return request_check_report(request, err);
}

/* Loads one of the two recordings and makes a view of it. If more than 1 % of its samples failed or
 * its stacks are incomplete, prints the reason and sets *status to SAMPLE_PARTIAL. */
static int
comparison_load(struct comparison *comparison, enum diff_side side, int *status, struct error *err)
{
	struct request *request = &comparison->request;
	const struct options *options = request->options;
	struct loaded *loaded = &comparison->loaded[side];
	struct strbuf why = STRBUF_INIT;
	struct error none;
	int rc = loaded_init(loaded, request, &options->files.text[side], 1, err);

	if (rc != 0)
		return rc;
	if (sample_exit_status(&loaded->source.stats, &why) != SAMPLE_WHOLE)
		*status = SAMPLE_PARTIAL;
	if (why.length > 0) {
		strbuf_add_format(&loaded->note, ", %s", why.data);
		log_say(&request->log, LOG_NORMAL, "%s: %s",
			side == DIFF_BEFORE ? "before" : "after", why.data);
	}
	rc = source_check_processes(request, &loaded->source, NULL, &none);
	if (rc != 0)
		error_set(err, none.kind, "%s: %s", options->files.text[side], none.text);
	if (loaded->source.stats.calibrated)
		profile_calibrate_parallelism(loaded->source.profile);
	comparison->view[side] = view_create(loaded->source.profile, loaded->source.symbols,
					     &options->filter,
					     options->lines ? VIEW_BY_LINE : options->by);
	strbuf_release(&why);
	return rc;
}

static int
write_diff(void *context, FILE *out, struct error *err)
{
	const struct comparison *comparison = context;
	const struct request *request = &comparison->request;
	const struct options *options = request->options;
	struct diff_input input = {
		.diff = &comparison->diff,
		.processes = comparison->by_process[DIFF_AFTER] != NULL ? &comparison->processes :
									  NULL,
		.limit = options->limit != 0 ? options->limit : TABLE_ROWS,
		.columns = output_columns(&request->output),
		.filtered = options_are_filtered(options),
	};

	(void)err;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct loaded *loaded = &comparison->loaded[side];
		const struct source *source = &loaded->source;

		input.run[side] = (struct export_input){
			.view = comparison->view[side],
			.process = source->process,
			.modules = source->modules,
			.stats = &source->stats,
			.began_ns = source->began_ns,
			.note = loaded->note.data,
			.part = loaded->part.text.length > 0 ? loaded->part.text.data : NULL,
			.sort = comparison->diff.weight,
		};
	}
	export_write_diff(request->exporter, &input, out);
	return 0;
}

static void
say_written(const struct comparison *comparison)
{
	const struct diff *diff = &comparison->diff;
	const struct request *request = &comparison->request;

	if (request->output.path == NULL)
		return;
	log_say(&request->log, LOG_NORMAL,
		"wrote %s of the comparison to %s: changed are %s in "
		"themselves, %s with what they called",
		request->exporter->name, request->output.path,
		quantity_count(diff->flat_found).text, quantity_count(diff->cum_found).text);
}

/* Compares the views by the weight. */
static void
compare_views(const struct comparison *comparison, struct view *const view[DIFF_SIDES],
	      enum weight weight, struct diff *out)
{
	struct diff_run runs[DIFF_SIDES];

	for (int side = 0; side < DIFF_SIDES; side++)
		runs[side] = (struct diff_run){
			.view = view[side],
			.threads_most = comparison->loaded[side].source.stats.threads_most,
			.division = &comparison->loaded[side].source.stats.division,
		};
	diff_make(runs, weight, out);
}

/* Compares the processes by their CPU time, if a run has several. */
static void
compare_processes(struct comparison *comparison)
{
	const struct filter *filter = &comparison->request.options->filter;
	bool several = false;

	for (int side = 0; side < DIFF_SIDES; side++)
		several |= profile_process_count(comparison->loaded[side].source.profile) > 1;
	if (!several || view_key(comparison->view[DIFF_AFTER]) == VIEW_BY_PROCESS)
		return;
	for (int side = 0; side < DIFF_SIDES; side++) {
		const struct source *source = &comparison->loaded[side].source;

		comparison->by_process[side] = view_create(source->profile, source->symbols, filter,
							   VIEW_BY_PROCESS);
	}
	compare_views(comparison, comparison->by_process, WEIGHT_CPU, &comparison->processes);
}

static int
comparison_compare(struct comparison *comparison, int *status, struct error *err)
{
	int rc = 0;

	for (int side = 0; rc == 0 && side < DIFF_SIDES; side++)
		rc = comparison_load(comparison, (enum diff_side)side, status, err);
	if (rc == 0)
		rc = request_open_output(&comparison->request,
					 comparison->loaded[DIFF_AFTER].process->pid, err);
	if (rc != 0)
		return rc;
	compare_views(comparison, comparison->view, (enum weight)comparison->request.options->sort,
		      &comparison->diff);
	compare_processes(comparison);
	rc = output_write(&comparison->request.output, true, write_diff, comparison, err);
	if (rc == 0)
		say_written(comparison);
	return rc;
}

static void
comparison_release(struct comparison *comparison)
{
	diff_release(&comparison->diff);
	diff_release(&comparison->processes);
	for (int side = 0; side < DIFF_SIDES; side++) {
		view_free(comparison->view[side]);
		view_free(comparison->by_process[side]);
		loaded_release(&comparison->loaded[side]);
	}
	request_release(&comparison->request);
}

int
command_diff(const struct options *options, int *status, struct error *err)
{
	struct comparison comparison = { .diff = { .row = NULL }, .processes = { .row = NULL } };
	int rc;

	request_init(&comparison.request, options);
	rc = comparison_check_options(&comparison, err);
	if (rc == 0)
		rc = comparison_compare(&comparison, status, err);
	comparison_release(&comparison);
	return rc;
}
