/* SPDX-License-Identifier: MIT */
/* command_causal.c - wallsample causal: checks its options, runs the phases, writes the report. */
#include <stdlib.h>
#include <string.h>

#include "cli/causal_command_internal.h"
#include "wallsample/cli/guard.h"
#include "wallsample/causal/progress_coz.h"

/* --- options ----------------------------------------------------------------------------------- */

static int
check_unit(struct causal_command *command, struct error *err)
{
	switch (command->run.request.options->by) {
	case VIEW_BY_FUNCTION:
		command->result.unit = CAUSAL_BY_FUNCTION;
		return 0;
	case VIEW_BY_LINE:
		command->result.unit = CAUSAL_BY_LINE;
		return 0;
	case VIEW_BY_MODULE:
		command->result.unit = CAUSAL_BY_MODULE;
		return 0;
	default:
		return error_set(err, ERROR_USAGE,
				 "--by: a candidate is a function, a line or a module");
	}
}

static int
check_progress(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.request.options;
	int rc = progress_check(options->progress.text, options->progress.count, &command->counted,
				err);

	if (rc == 0 && command->counted > 0 && !options->intrusive)
		rc = error_set(err, ERROR_USAGE,
			       "--progress: to count how often code is run takes "
			       "hardware breakpoints in all threads; --intrusive permits it, and "
			       "wallsample-causal(1) says what the risk is");
	return rc;
}

static int
check_output(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.request.options;
	struct strbuf name = STRBUF_INIT;
	int rc = 0;

	command->run.records = output_is_recording(options->format, options->output);
	if (!command->run.records)
		rc = output_format_choose(options, &command->run.request.exporter, err);
	else if (options->output == NULL || strcmp(options->output, "-") == 0)
		rc = error_set(err, ERROR_USAGE,
			       "-o: a recording is a file, not a stream: name one, such as x.wsdb");
	if (rc == 0 && options->output != NULL)
		rc = output_name_expand(options->output, 0, &name, err);
	strbuf_release(&name);
	return rc;
}

/* A recording holds finished experiments: options about experiments are refused. */
static int
check_file(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.request.options;
	const struct option_row *wrong = option_given_beyond(options, FOR_CAUSAL_FILE);

	if (options->files.count > 1)
		return error_set(err, ERROR_USAGE, "causal reports on one recording at a time");
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE,
				 "--%s is about experiments, and those of a "
				 "recording have been made",
				 wrong->name);
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE,
				 "-f: a recording can be turned into a report, "
				 "not into another recording");
	return output_format_choose(options, &command->run.request.exporter, err);
}

int
causal_check_words(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.request.options;
	int rc;

	if (options->files.count > 0)
		return check_file(command, err);
	rc = target_check_usage(options, err);
	if (rc == 0)
		rc = check_unit(command, err);
	if (rc == 0)
		rc = check_progress(command, err);
	if (rc == 0 && options->duration_ns != 0 && options->duration_ns <= options->profile_ns)
		rc = error_set(err, ERROR_USAGE,
			       "-d: nothing is left for experiments after the "
			       "profile; --profile-time makes that shorter");
	if (rc == 0)
		rc = check_output(command, err);
	return rc;
}

/* --- the report -------------------------------------------------------------------------------- */

/* Seed of the bootstrap, constant: the same experiments always give the same report. */
#define CURVES_SEED 1

#define REPORT_ROWS 20

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

/* SAMPLE_NOTHING without experiments; SAMPLE_PARTIAL if a result is unknown. */
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
causal_write_report(struct causal_command *command, const char *note, bool snapshot,
		    struct error *err)
{
	const struct run *run = &command->run;
	const struct options *options = run->request.options;
	struct causal_curves curves;
	struct causal_input input = {
		.result = &command->result,
		.curves = &curves,
		.columns = output_columns(&run->request.output),
		.limit = options->limit > 0 ? options->limit : REPORT_ROWS,
		.snapshot = snapshot,
		.note = note,
	};
	struct causal_writing writing = { .exporter = run->request.exporter, .input = &input };
	int rc = 0;

	causal_curves_make(&command->result, CURVES_SEED, &curves);
	command->status = status_of(&command->result, &curves);
	if (run->request.exporter != NULL)
		rc = output_write(&run->request.output, write_causal, &writing, err);
	causal_curves_release(&curves);
	return rc;
}

/* --- the run --------------------------------------------------------------------- */

/* Preloads the counters of coz.h into a program that was built with it. */
static void
preload_counters(const struct options *options)
{
	const char *before = getenv("LD_PRELOAD");
	struct strbuf list = STRBUF_INIT;
	char *path;

	if (options->command == NULL || !progress_wants_preload(options->command[0]))
		return;
	path = progress_preload_path();
	if (path == NULL)
		return;
	strbuf_add_text(&list, path);
	if (before != NULL && before[0] != '\0')
		strbuf_add_format(&list, ":%s", before);
	setenv("LD_PRELOAD", list.data, 1);
	strbuf_release(&list);
	free(path);
}

static int
causal_prepare(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct options *options = run->request.options;
	int rc;

	preload_counters(options);
	rc = target_find(&run->target, options, err);

	if (rc != 0)
		return rc;
	signals_install();
	rc = target_open(&run->target, true, err);
	if (rc != 0)
		return rc;
	run_raise_descriptor_limit();
	run->source.modules = modules_create();
	run->source.profile = profile_create();
	rc = run->records ? record_begin(run, err) :
			    request_open_output(&run->request, run->target.pid, err);
	if (rc == 0)
		rc = target_begin(&run->target, err);
	if (rc != 0)
		return rc;
	if (run->records)
		recorder_set_process(run->recorder, run->target.process);
	run_open_names(run);
	return 0;
}

static int
open_progress(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct text_list *progress = &run->request.options->progress;

	return progress_open(progress->text, progress->count, run->target.process, run->maps,
			     run->source.symbols, &command->progress, err);
}

static int
measure(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	int rc = causal_prepare(command, err);

	/* A command before its exec has no libraries and has reached no progress point of coz.h. */
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
		rc = causal_write_report(command, NULL, false, err);
	if (rc == 0 && run->records)
		rc = recorder_put_causal(run->recorder, &command->result, err);
	if (rc == 0 && run->records)
		rc = record_end(run, true, err);
	return rc;
}

static int
report_file(struct causal_command *command, struct error *err)
{
	struct request *request = &command->run.request;
	struct loaded loaded;
	int rc = loaded_init(&loaded, request, request->options->files.text, 1, err);

	if (rc == 0)
		rc = recording_read_causal(loaded.recording[0], &command->result, err);
	if (rc == 0)
		rc = request_open_output(request, command->result.pid, err);
	if (rc == 0)
		rc = causal_write_report(command, loaded.note.data, false, err);
	loaded_release(&loaded);
	return rc;
}

static void
causal_release(struct causal_command *command)
{
	causal_run_free(command->experiments);
	progress_free(command->progress);
	run_release(&command->run);
	profile_free(command->profile);
	causal_result_release(&command->result);
}

/* Runs after the options are checked; with breakpoints, in a child of guard_run. */
static int
run_command(void *context)
{
	struct causal_command *command = context;
	struct error err;
	int rc, status;

	if (command->run.request.options->files.count > 0)
		rc = report_file(command, &err);
	else
		rc = measure(command, &err);
	status = (int)command->status;
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	/* In the child of guard_run: the parent does not release what the child has opened. */
	if (command->counted > 0)
		causal_release(command);
	return status;
}

int
command_causal(const struct options *options)
{
	struct causal_command command = { .counted = 0 };
	struct error err;
	int status;

	run_init(&command.run, options);
	causal_result_init(&command.result);
	if (causal_check_words(&command, &err) != 0)
		status = -(int)err.kind;
	else if (command.counted > 0)
		status = guard_run(run_command, &command, &err);
	else
		status = run_command(&command);
	causal_release(&command);
	if (status < 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
