/* SPDX-License-Identifier: MIT */
/* causal_check.c - checks the options of wallsample causal. */
#include <string.h>

#include "cli/causal_command_internal.h"

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
