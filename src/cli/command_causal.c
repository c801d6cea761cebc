/* SPDX-License-Identifier: MIT */
/*
 * command_causal.c - wallsample causal: predicts the effect of a faster function by experiments on
 * a process, or reports on a recording of such experiments.
 */
#include <stdlib.h>

#include "cli/causal_command_internal.h"
#include "wallsample/cli/guard.h"
#include "wallsample/causal/progress_coz.h"

/* --- options -------------------------------------------------------------------- */

static int
check_unit(struct causal_command *command, struct error *err)
{
	const enum view_key by = command->run.request.options->by;

	if (by != VIEW_BY_FUNCTION && by != VIEW_BY_LINE && by != VIEW_BY_MODULE)
		return error_set(err, ERROR_USAGE,
				 "--by: a candidate is a function, a line or a module");
	command->result.unit = by == VIEW_BY_LINE   ? CAUSAL_BY_LINE :
			       by == VIEW_BY_MODULE ? CAUSAL_BY_MODULE :
						      CAUSAL_BY_FUNCTION;
	return 0;
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
	int rc;

	command->run.records = output_is_recording(options);
	if (command->run.records)
		return record_check_name(options->output, err);
	rc = output_format_choose(options, &command->run.request.exporter, err);
	return rc == 0 ? output_name_check(options->output, err) : rc;
}

/*
 * Checks the options of a report on a recording. Its experiments are finished, so options about
 * experiments are refused.
 */
static int
check_file(struct causal_command *command, struct error *err)
{
	const struct options *options = command->run.request.options;
	const struct option_row *wrong = option_given_beyond(options, FOR_CAUSAL_FILE);

	if (options->files.count > 1)
		return error_set(err, ERROR_USAGE, "causal reports on one recording at a time");
	if (wrong != NULL)
		return error_set(err, ERROR_USAGE,
				 "--%s is about experiments, and those of a recording have been "
				 "made",
				 wrong->name);
	if (output_is_recording(options))
		return error_set(err, ERROR_USAGE,
				 "-f: a recording can be turned into a report, not into another "
				 "recording");
	return output_format_choose(options, &command->run.request.exporter, err);
}

/*
 * Checks the options before anything is opened. Returns ERROR_USAGE if options contradict each
 * other.
 */
static int
causal_check_options(struct causal_command *command, struct error *err)
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
			       "-d: nothing is left for experiments after the profile; "
			       "--profile-time makes that shorter");
	return rc == 0 ? check_output(command, err) : rc;
}

/* --- the run --------------------------------------------------------------------- */

/* If the command to start was built with coz.h, adds the library that has the counters of coz.h to
 * LD_PRELOAD of this process, which the command inherits. */
static void
preload_counters(const struct options *options)
{
	const char *before = secure_getenv("LD_PRELOAD");
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
open_progress(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	const struct text_list *progress = &run->request.options->progress;

	return progress_open(progress->text, progress->count, target_first(&run->target),
			     run->target.member[0]->maps, run->source.symbols, &command->progress,
			     err);
}

static int
measure(struct causal_command *command, struct error *err)
{
	struct run *run = &command->run;
	int rc;

	preload_counters(run->request.options);
	rc = run_prepare(run, err);
	/* A command that is not executed yet has loaded no libraries and has reached no progress
	 * point of coz.h. */
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
	if (rc == 0) {
		run_leave_target(run);
		rc = causal_write_report(command, NULL, false, err);
	}
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

/*
 * Runs in the child process of guard_run. Releases everything, because the parent cannot release
 * what the child has opened.
 */
static int
measure_guarded(void *context)
{
	struct causal_command *command = context;
	struct error err;
	const int rc = measure(command, &err);
	const int status = say_end(rc, (int)command->status, &err);

	causal_release(command);
	return status;
}

int
command_causal(const struct options *options, int *status, struct error *err)
{
	struct causal_command command = { .counted = 0 };
	int rc;

	run_init(&command.run, options);
	causal_result_init(&command.result);
	rc = causal_check_options(&command, err);
	if (rc == 0 && command.counted > 0) {
		*status = guard_run(measure_guarded, &command, err);
		rc = *status < 0 ? *status : 0;
	} else if (rc == 0) {
		rc = options->files.count > 0 ? report_file(&command, err) : measure(&command, err);
		*status = (int)command.status;
	}
	causal_release(&command);
	return rc;
}
