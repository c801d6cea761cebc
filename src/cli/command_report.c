/* SPDX-License-Identifier: MIT */
/* command_report.c - wallsample report: makes a report of recordings. */
#include "cli/run_internal.h"

static int
report_loaded(struct request *request, struct loaded *loaded, int *status, struct error *err)
{
	const struct text_list *files = &request->options->files;
	int rc = loaded_init(loaded, request, files->text, files->count, err);

	if (rc == 0)
		rc = request_open_output(request, loaded->process->pid, err);
	if (rc == 0)
		rc = source_write(request, &loaded->source, &loaded->part, false, err);
	if (rc == 0)
		*status = source_status(request, &loaded->source);
	return rc;
}

int
command_report(const struct options *options, int *status, struct error *err)
{
	struct loaded loaded = { .count = 0 };
	struct request request;
	int rc;

	if (options->files.count == 0)
		return error_set(err, ERROR_USAGE,
				 "no recording is given: wallsample report FILE.wsdb");
	request_init(&request, options);
	rc = request_check_report(&request, err);
	if (rc == 0)
		rc = report_loaded(&request, &loaded, status, err);
	loaded_release(&loaded);
	request_release(&request);
	return rc;
}
