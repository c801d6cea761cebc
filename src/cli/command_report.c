/* SPDX-License-Identifier: MIT */
/* command_report.c - the command that makes a report of recordings. */
#include <string.h>

#include "cli/loaded_internal.h"
#include "cli/sample_run_internal.h"

/* What is loaded is lent to the run, which makes the report. */
static void
lend(const struct loaded *loaded, struct sample_run *run)
{
	const struct recording_info *first = recording_info(loaded->recording[0]);

	run->recordings = loaded->recording;
	run->recording_count = loaded->count;
	run->profile = loaded->profile;
	run->modules = loaded->modules;
	run->symbols = loaded->symbols;
	run->target.process = loaded->process;
	run->target.pid = loaded->process->pid;
	run->stats = loaded->stats;
	run->began_ns = (uint64_t)first->began * NS_PER_SEC;
	run->end = first->ended ? first->end : RUN_END_STOPPED;
	run->note = loaded->note.data;
}

static void
take_back(struct sample_run *run)
{
	run->profile = NULL;
	run->modules = NULL;
	run->symbols = NULL;
	run->target.process = NULL;
}

static int
write_report(struct sample_run *run, int *status, struct error *err)
{
	struct strbuf why;
	int rc = sample_open_output(run, run->target.pid, err);

	strbuf_init(&why);
	if (rc == 0)
		rc = sample_write(run, &run->stats, false, err);
	if (rc == 0)
		*status = sample_exit_status(&run->stats, &why);
	if (rc == 0 && why.length > 0)
		log_say(&run->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return rc;
}

static int
make_report(struct sample_run *run, int *status, struct error *err)
{
	const struct options *options = run->options;
	struct loaded loaded;
	struct strbuf part;
	int rc = loaded_init(&loaded, options, options->files.text, options->files.count, &run->log,
			     err);

	strbuf_init(&part);
	if (rc == 0) {
		lend(&loaded, run);
		if (part_is_wanted(options)) {
			part_describe(options, loaded.selected_ns, loaded.all_ns, &part);
			run->part = part.data;
		}
		rc = write_report(run, status, err);
		take_back(run);
	}
	strbuf_release(&part);
	loaded_release(&loaded);
	return rc;
}

static int
check_words(struct sample_run *run, struct error *err)
{
	const struct options *options = run->options;

	if (options->files.count == 0)
		return error_set(err, ERROR_USAGE, "a report of what? wallsample report FILE.wsdb");
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a report is not a recording: wallsample record "
				 "makes one");
	return sample_check_report(run, err);
}

int
command_report(const struct options *options)
{
	struct sample_run run;
	struct error err;
	int rc, status = 0;

	sample_run_init(&run, options);
	rc = check_words(&run, &err);
	if (rc == 0)
		rc = make_report(&run, &status, &err);
	sample_run_release(&run);
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
