/* SPDX-License-Identifier: MIT */
/* command_causal.c - the command that finds out what a faster function would bring. */
#include <stdlib.h>
#include <string.h>

#include "cli/causal_command_internal.h"
#include "cli/loaded_internal.h"
#include "wallsample/cli/guard.h"
#include "wallsample/causal/progress_coz.h"

/* Of the bootstrap: the same experiments always give the same report. */
#define CURVES_SEED 1

#define REPORT_ROWS 20

/* --- the report ------------------------------------------------------------------ */

struct causal_writing {
	const struct exporter *exporter;
	const struct causal_input *input;
};

static int
write_causal(void *context, FILE *out, struct error *err)
{
	const struct causal_writing *writing = context;

	(void)err;
	writing->exporter->write_causal(writing->input, out);
	return 0;
}

/* Nothing, if there was no experiment; partial, if something stayed unknown. */
static enum sample_status
status_of(const struct causal_result *result, const struct causal_curves *curves)
{
	enum sample_status status = SAMPLE_NOTHING;

	for (size_t i = 0; i < result->experiment_count; i++)
		if (result->experiment[i].end == CAUSAL_WHOLE)
			status = SAMPLE_WHOLE;
	for (size_t i = 0; status == SAMPLE_WHOLE && i < curves->count; i++)
		if (curves->curve[i].point == 0 && curves->curve[i].verdict == CAUSAL_UNSURE)
			status = SAMPLE_PARTIAL;
	return status == SAMPLE_WHOLE && result->target_gone ? SAMPLE_PARTIAL : status;
}

int
causal_write_report(struct causal_command *command, bool snapshot, struct error *err)
{
	struct sample_run *run = &command->run;
	struct causal_curves curves;
	struct causal_input input = {
		.result = &command->result,
		.curves = &curves,
		.columns = output_columns(&run->output),
		.limit = run->options->limit > 0 ? run->options->limit : REPORT_ROWS,
		.snapshot = snapshot,
		.note = run->note,
	};
	struct causal_writing writing = { .exporter = run->exporter, .input = &input };
	int rc = 0;

	causal_curves_make(&command->result, CURVES_SEED, &curves);
	command->status = status_of(&command->result, &curves);
	if (run->exporter != NULL)
		rc = output_write(&run->output, write_causal, &writing, err);
	causal_curves_release(&curves);
	return rc;
}

/* --- the run --------------------------------------------------------------------- */

/* A program that was built with coz.h counts its points if somebody lends it the counters. */
static void
lend_counters(const struct options *options)
{
	const char *before = getenv("LD_PRELOAD");
	struct strbuf list;
	char *path;

	if (options->command == NULL || !progress_wants_preload(options->command[0]))
		return;
	path = progress_preload_path();
	if (path == NULL)
		return;
	strbuf_init(&list);
	strbuf_add_text(&list, path);
	if (before != NULL && before[0] != '\0')
		strbuf_add_format(&list, ":%s", before);
	setenv("LD_PRELOAD", list.data, 1);
	strbuf_release(&list);
	free(path);
}

static int
prepare(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	int rc;

	lend_counters(options);
	rc = target_find(&run->target, options, err);

	if (rc != 0)
		return rc;
	signals_install();
	rc = target_open(&run->target, true, err);
	if (rc != 0)
		return rc;
	sample_raise_descriptor_limit();
	run->modules = modules_create();
	run->profile = profile_create();
	rc = run->records ? record_begin(run, err) : sample_open_output(run, run->target.pid, err);
	if (rc == 0)
		rc = target_begin(&run->target, err);
	if (rc != 0)
		return rc;
	if (run->records)
		recorder_set_process(run->recorder, run->target.process);
	sample_open_names(run);
	return 0;
}

static int
open_progress(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;

	return progress_open(run->options->progress.text, run->options->progress.count,
			     run->target.process, run->maps, run->symbols, &command->progress,
			     err);
}

static int
measure(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	int rc = prepare(command, err);

	/* A command has no libraries yet, and has come by no point of coz.h. */
	if (rc == 0 && !run->target.is_command)
		rc = open_progress(command, err);
	if (rc == 0)
		rc = causal_take_profile(command, err);
	if (rc == 0 && run->target.is_command)
		rc = open_progress(command, err);
	if (rc == 0)
		rc = causal_choose_candidates(command, err);
	if (rc == 0 && signals_stop == 0)
		rc = causal_experiment(command, err);
	if (rc == 0)
		rc = causal_write_report(command, false, err);
	if (rc == 0 && run->records)
		rc = recorder_put_causal(run->recorder, &command->result, err);
	if (rc == 0 && run->records)
		rc = record_end(run, true, err);
	return rc;
}

static int
report_file(struct causal_command *command, struct error *err)
{
	struct sample_run *run = &command->run;
	const struct options *options = run->options;
	struct loaded loaded;
	int rc = loaded_init(&loaded, options, options->files.text, 1, &run->log, err);

	if (rc == 0)
		rc = recording_read_causal(loaded.recording[0], &command->result, err);
	if (rc == 0)
		rc = sample_open_output(run, command->result.pid, err);
	if (rc == 0) {
		run->note = loaded.note.data;
		rc = causal_write_report(command, false, err);
	}
	loaded_release(&loaded);
	return rc;
}

static void
release(struct causal_command *command)
{
	causal_run_free(command->experiments);
	progress_free(command->progress);
	sample_run_release(&command->run);
	profile_free(command->profile);
	causal_result_release(&command->result);
}

/* From the words on: of the child, where there are breakpoints. */
static int
run_command(void *context)
{
	struct causal_command *command = context;
	struct error err;
	int rc, status;

	if (command->run.options->files.count > 0)
		rc = report_file(command, &err);
	else
		rc = measure(command, &err);
	status = (int)command->status;
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	/* A child has what its parent knows nothing of. */
	if (command->counted > 0)
		release(command);
	return status;
}

int
command_causal(const struct options *options)
{
	struct causal_command command = { .counted = 0 };
	struct error err;
	int status;

	sample_run_init(&command.run, options);
	causal_result_init(&command.result);
	if (causal_check_words(&command, &err) != 0)
		status = -(int)err.kind;
	else if (command.counted > 0)
		status = guard_run(run_command, &command, &err);
	else
		status = run_command(&command);
	release(&command);
	if (status < 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
