/* SPDX-License-Identifier: MIT */
/* command_report.c - the command that makes a report of recordings. */
#include "cli/run_internal.h"

static int
make_report(struct request *request, int *status, struct error *err)
{
	const struct text_list *files = &request->options->files;
	struct loaded loaded;
	int rc = loaded_init(&loaded, request, files->text, files->count, err);

	if (rc == 0)
		rc = request_open_output(request, loaded.process->pid, err);
	if (rc == 0)
		rc = source_write(request, &loaded.source, &loaded.part, false, err);
	if (rc == 0)
		*status = source_status(request, &loaded.source);
	loaded_release(&loaded);
	return rc;
}

static int
report_check_options(struct request *request, struct error *err)
{
	const struct options *options = request->options;

	if (options->files.count == 0)
		return error_set(err, ERROR_USAGE,
				 "no recording is given: wallsample report FILE.wsdb");
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE,
				 "a report is not a recording: wallsample record makes one");
	return request_check_report(request, err);
}

int
command_report(const struct options *options)
{
	struct request request;
	struct error err;
	int rc, status = 0;

	request_init(&request, options);
	rc = report_check_options(&request, &err);
	if (rc == 0)
		rc = make_report(&request, &status, &err);
	request_release(&request);
	return request_status(rc, status, &err);
}
