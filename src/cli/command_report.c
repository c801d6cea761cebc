/* SPDX-License-Identifier: MIT */
/* command_report.c - the command that makes a report of recordings. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "sample_run.h"
#include "wallsample/recording_read.h"

struct report {
	struct sample_run run;
	struct recorded_names *names;
	struct process *process;
	struct strbuf note, part;
	uint64_t selected_ns, all_ns;
};

/* "2026-11-20 20:33" in the time of this machine. */
static void
add_time(struct strbuf *sb, int64_t seconds)
{
	const time_t when = (time_t)seconds;
	struct tm local;
	char text[32];

	if (seconds > 0 && localtime_r(&when, &local) != NULL &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local) > 0)
		strbuf_add_format(sb, "%s ", text);
}

static void
add_note(struct report *report, const struct recording_info *info, size_t number)
{
	struct strbuf *note = &report->note;

	strbuf_add_text(note, number > 0 ? "; " : "");
	add_time(note, info->began);
	strbuf_add_format(note, "on %s", info->host);
	if (report->run.options->file_count > 1)
		strbuf_add_format(note, ", process %lld (%s)", (long long)info->pid, info->comm);
	if (info->being_written)
		strbuf_add_text(note, ", and it goes on: this is what there is so far");
	else if (!info->ended)
		strbuf_add_text(note, ", and never finished: the end is missing");
}

/* What a report says of its process. */
static void
make_process(struct report *report, const struct recording_info *info)
{
	struct process *process = xcalloc(1, sizeof(*process));

	process->pid = (pid_t)info->pid;
	process->dirfd = process->taskfd = -1;
	snprintf(process->comm, sizeof(process->comm), "%s", info->comm);
	process->cmdline = xstrdup(info->cmdline);
	report->process = process;
	report->run.target.process = process;
	report->run.target.pid = process->pid;
	report->run.began_ns = (uint64_t)info->began * NS_PER_SEC;
	report->run.end = info->ended ? info->end : SAMPLER_STOPPED;
}

static int
load_file(struct report *report, const char *path, size_t number, struct error *err)
{
	const struct options *options = report->run.options;
	const struct recording_selection selection = part_selection(options);
	struct recording_load load = {
		.selection = part_is_wanted(options) ? &selection : NULL,
		.profile = report->run.profile,
		.modules = report->run.modules,
		.names = report->names,
		.symfs = options->symfs,
		.number = (uint32_t)number,
		.stats = &report->run.stats,
	};
	struct recording *recording;
	struct strbuf label;
	int rc = recording_open(path, &recording, err);

	if (rc != 0)
		return rc;
	strbuf_init(&label);
	if (options->file_count > 1) {
		strbuf_add_format(&label, "%s:%lld", recording_info(recording)->host,
				  (long long)recording_info(recording)->pid);
		load.label = label.data;
	}
	rc = recording_load(recording, &load, err);
	if (rc == 0) {
		report->selected_ns += load.selected_ns;
		report->all_ns += recording_info(recording)->span_ns;
		add_note(report, recording_info(recording), number);
		if (report->process == NULL)
			make_process(report, recording_info(recording));
	}
	strbuf_release(&label);
	recording_close(recording);
	return rc;
}

/* Names that were stored come first; --no-demangle wants others, which only files have. */
static void
make_symbols(struct report *report)
{
	struct sample_run *run = &report->run;
	const struct options *options = run->options;

	run->names = (struct symbols_config){
		.demangle = !options->no_demangle,
		.inlines = !options->no_inlines,
		.debug_dirs = options->debug_dirs,
		.symfs = options->symfs,
		.debuginfod = (enum debuginfod_use)options->debuginfod,
		.stored = options->no_demangle ? NULL : recorded_names_find,
		.stored_context = report->names,
		.log = &run->log,
	};
	run->symbols = symbols_create(run->modules, &run->names);
}

static int
make_report(struct report *report, int *status, struct error *err)
{
	struct sample_run *run = &report->run;
	const struct options *options = run->options;
	struct strbuf name, why;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < options->file_count; i++)
		rc = load_file(report, options->files[i], i, err);
	if (rc != 0)
		return rc;
	make_symbols(report);
	run->note = report->note.data;
	if (part_is_wanted(options)) {
		part_describe(options, report->selected_ns, report->all_ns, &report->part);
		run->part = report->part.data;
	}
	strbuf_init(&name);
	strbuf_init(&why);
	if (options->output != NULL)
		rc = output_name_expand(options->output, run->target.pid, &name, err);
	if (rc == 0)
		rc = output_open(&run->output, name.data, err);
	if (rc == 0)
		rc = output_check_format(&run->output, run->exporter, err);
	if (rc == 0)
		rc = sample_write(run, &run->stats, false, err);
	if (rc == 0)
		*status = sample_exit_status(&run->stats, &why);
	if (rc == 0 && why.length > 0)
		log_say(&run->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&name);
	strbuf_release(&why);
	return rc;
}

static int
check_words(struct report *report, struct error *err)
{
	const struct options *options = report->run.options;

	if (options->file_count == 0)
		return error_set(err, ERROR_USAGE, "a report of what? wallsample report FILE.wsdb");
	if (output_is_recording(options->format, options->output))
		return error_set(err, ERROR_USAGE, "a report is not a recording: wallsample record "
				 "makes one");
	return sample_check_report(&report->run, err);
}

int
command_report(const struct options *options)
{
	struct report report = { .names = NULL };
	struct error err;
	int rc, status = 0;

	sample_run_init(&report.run, options);
	strbuf_init(&report.note);
	strbuf_init(&report.part);
	rc = check_words(&report, &err);
	if (rc == 0) {
		report.run.profile = profile_create();
		report.run.modules = modules_create();
		report.names = recorded_names_create();
		rc = make_report(&report, &status, &err);
	}
	sample_run_release(&report.run);
	recorded_names_free(report.names);
	strbuf_release(&report.note);
	strbuf_release(&report.part);
	if (rc != 0) {
		say_error(&err);
		status = error_exit_status(err.kind);
	}
	return status;
}
