/* SPDX-License-Identifier: MIT */
/* command_causal.c - the command that predicts the effect of a faster function. */
#include <stdlib.h>

#include "cli/causal_command_internal.h"
#include "wallsample/cli/guard.h"
#include "wallsample/causal/progress_coz.h"

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
