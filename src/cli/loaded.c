/* SPDX-License-Identifier: MIT */
/* loaded.c - recordings become one profile. */
#include "cli/loaded_internal.h"

#include <stdlib.h>
#include <time.h>

#include "cli/sample_run_internal.h"

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
add_note(struct loaded *loaded, const struct recording_info *info, bool alone)
{
	struct strbuf *note = &loaded->note;

	strbuf_add_text(note, loaded->count > 1 ? "; " : "");
	add_time(note, info->began);
	strbuf_add_format(note, "on %s", info->host);
	if (!alone)
		strbuf_add_format(note, ", process %lld (%s)", (long long)info->pid, info->comm);
	if (info->being_written)
		strbuf_add_text(note, ", and it goes on: this is what there is so far");
	else if (!info->ended)
		strbuf_add_text(note, ", and never finished: the end is missing");
}

/* What a report says of its process. */
static struct process *
make_process(const struct recording_info *info)
{
	struct process *process = xcalloc(1, sizeof(*process));

	process->pid = (pid_t)info->pid;
	process->dirfd = process->taskfd = -1;
	snprintf(process->comm, sizeof(process->comm), "%s", info->comm);
	process->cmdline = xstrdup(info->cmdline);
	return process;
}

static int
load_file(struct loaded *loaded, const struct options *options, const char *path, bool alone,
	  struct error *err)
{
	const struct recording_selection selection = part_selection(options);
	struct recording_load load = {
		.selection = part_is_wanted(options) ? &selection : NULL,
		.profile = loaded->profile,
		.modules = loaded->modules,
		.names = loaded->names,
		.symfs = options->symfs,
		.number = (uint32_t)loaded->count,
		.threads_only = options->task_use == TASKS_OFF,
		.stats = &loaded->stats,
	};
	const struct recording_info *info;
	struct recording *recording;
	struct strbuf label;
	int rc = recording_open(path, &recording, err);

	if (rc != 0)
		return rc;
	loaded->recording = xgrow(loaded->recording, &loaded->capacity, loaded->count + 1,
				  sizeof(struct recording *));
	loaded->recording[loaded->count++] = recording;
	info = recording_info(recording);
	strbuf_init(&label);
	if (!alone) {
		strbuf_add_format(&label, "%s:%lld", info->host, (long long)info->pid);
		load.label = label.data;
	}
	rc = recording_load(recording, &load, err);
	strbuf_release(&label);
	if (rc != 0)
		return rc;
	loaded->selected_ns += load.selected_ns;
	loaded->all_ns += info->span_ns;
	add_note(loaded, info, alone);
	if (loaded->process == NULL) {
		loaded->process = make_process(info);
		snprintf(loaded->stats.runtimes, sizeof(loaded->stats.runtimes), "%s",
			 info->runtime);
	}
	return 0;
}

/* Names that were stored come first; --no-demangle wants others, which only files have. */
static void
make_symbols(struct loaded *loaded, const struct options *options, const struct log *log)
{
	loaded->config = (struct symbols_config){
		.demangle = !options->no_demangle,
		.inlines = !options->no_inlines,
		.files.debug_dirs = options->debug_dirs.text,
		.files.symfs = options->symfs,
		.files.debuginfod = options->debuginfod,
		.stored = options->no_demangle ? NULL : recorded_names_find,
		.stored_context = loaded->names,
		.files.log = log,
	};
	loaded->symbols = symbols_create(loaded->modules, &loaded->config);
}

int
loaded_init(struct loaded *loaded, const struct options *options, const char *const *files,
	    size_t count, const struct log *log, struct error *err)
{
	int rc = 0;

	*loaded = (struct loaded){
		.profile = profile_create(),
		.modules = modules_create(),
		.names = recorded_names_create(),
	};
	strbuf_init(&loaded->note);
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = load_file(loaded, options, files[i], count == 1, err);
	if (rc == 0)
		make_symbols(loaded, options, log);
	return rc;
}

void
loaded_release(struct loaded *loaded)
{
	for (size_t i = 0; i < loaded->count; i++)
		recording_close(loaded->recording[i]);
	free(loaded->recording);
	symbols_free(loaded->symbols);
	profile_free(loaded->profile);
	modules_free(loaded->modules);
	recorded_names_free(loaded->names);
	process_free(loaded->process);
	strbuf_release(&loaded->note);
	*loaded = (struct loaded){ .count = 0 };
}
