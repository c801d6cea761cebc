/* SPDX-License-Identifier: MIT */
/* request.c - checks the options of a call, and chooses its format and output. */
#include "cli/run_internal.h"

void
request_init(struct request *request, const struct options *options)
{
	const unsigned level = LOG_NORMAL + (options->verbose < 2 ? options->verbose : 2);

	*request = (struct request){
		.options = options,
		.log = { .level = options->quiet ? LOG_QUIET : (enum log_level)level,
			 .stream = stderr },
		.output = { .fd = -1, .dirfd = -1 },
	};
	if (options->unwinder != UNWIND_AUTO)
		log_say(&request->log, LOG_NORMAL,
			"--unwinder=%s: the library does not limit the time and memory that "
			"damaged unwind tables of the program can take",
			options->unwinder == UNWIND_LIBDW ? "libdw" : "libunwind");
}

static int
check_blame(const struct request *request, struct error *err)
{
	if (request->options->sort != WEIGHT_WALL)
		return error_set(err, ERROR_USAGE,
				 "--blame is about time that others waited, which has no %s",
				 weight_word(request->options->sort));
	if (request->exporter->time == EXPORT_TIME)
		return error_set(err, ERROR_USAGE,
				 "--blame sums up, and %s shows when things "
				 "happened: use another format",
				 request->exporter->name);
	return 0;
}

/* Refuses an option that has no effect on a report in this format. */
static int
check_format_options(const struct options *options, const struct exporter *exporter,
		     struct error *err)
{
	const bool reports = (options->verb->bit & (FOR_DIFF | FOR_DUMP)) == 0;
	const bool code = options->by == VIEW_BY_FUNCTION || options->by == VIEW_BY_LINE ||
			  options->by == VIEW_BY_MODULE;
	const struct {
		bool given;
		const char *name;
		unsigned bit;
	} all[] = {
		{ options->tree, "--tree", EXPORT_CALLERS },
		{ options->focus != NULL, "--focus", EXPORT_CALLERS },
		{ options->full, "--full", EXPORT_CALLERS },
		{ options->lines, "--lines", EXPORT_BY },
		{ options->by != VIEW_BY_FUNCTION, "--by", code ? EXPORT_BY : EXPORT_BY_OTHER },
		{ options->threads, "-t", EXPORT_THREADS },
		{ options->processes, "--processes", EXPORT_PROCESSES },
		{ options->limit != 0, "-n", EXPORT_LIMIT },
		{ options->sort != WEIGHT_WALL, "--sort", EXPORT_SORT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		const bool by = (all[i].bit & (EXPORT_BY | EXPORT_BY_OTHER)) != 0;

		if (!all[i].given || (exporter->options & all[i].bit) != 0 ||
		    (all[i].bit != EXPORT_CALLERS && !reports))
			continue;
		if (all[i].bit == EXPORT_CALLERS)
			return error_set(err, ERROR_USAGE, "%s is for the text report, not for %s",
					 all[i].name, exporter->name);
		if (by && !options->lines)
			return error_set(err, ERROR_USAGE,
					 "--by %s has no effect on the format %s: leave it out",
					 view_key_word(options->by), exporter->name);
		return error_set(err, ERROR_USAGE,
				 "%s has no effect on the format %s: leave it out", all[i].name,
				 exporter->name);
	}
	return 0;
}

int
request_check_report(struct request *request, struct error *err)
{
	const struct options *options = request->options;
	int rc;

	if (output_is_recording(options))
		return error_set(err, ERROR_USAGE,
				 "a %s is not a recording: wallsample record makes one",
				 options->verb->noun);
	rc = output_format_choose(options, &request->exporter, err);

	if (rc == 0 && options->lines && options->by != VIEW_BY_FUNCTION &&
	    options->by != VIEW_BY_LINE)
		rc = error_set(err, ERROR_USAGE,
			       "--lines shows lines, and --by asks for something "
			       "else: give one of the two");
	if (rc == 0)
		rc = check_format_options(options, request->exporter, err);
	if (rc == 0 && options->filter.blame)
		rc = check_blame(request, err);
	if (rc == 0 && options->green_use == GREEN_USE_OFF &&
	    (options->filter.created_by || options->filter.green.count > 0))
		rc = error_set(err, ERROR_USAGE, "--tasks=off has no tasks, and %s is about them",
			       options->filter.created_by ? "--created-by" : "--task");
	if (rc == 0)
		rc = part_check_words(options, err);
	return rc;
}

static bool
has_private_input(const struct options *options)
{
	bool is_private = privacy_of_file(options->core);

	for (size_t i = 0; i < options->files.count; i++)
		is_private |= privacy_of_file(options->files.text[i]);
	return is_private;
}

int
request_open_output(struct request *request, pid_t pid, struct error *err)
{
	const char *pattern = request->options->output;
	struct strbuf name = STRBUF_INIT;
	int rc = 0;

	if (pattern != NULL)
		rc = output_name_expand(pattern, pid, &name, err);
	if (rc == 0)
		rc = output_open(&request->output, name.data, err);
	request->output.is_private = has_private_input(request->options) ||
				     privacy_of_old(request->output.dirfd, request->output.base);
	if (rc == 0)
		rc = output_check_format(&request->output, request->exporter, err);
	strbuf_release(&name);
	return rc;
}

void
request_release(struct request *request)
{
	output_close(&request->output);
}
