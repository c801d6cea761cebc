/* SPDX-License-Identifier: MIT */
/* loaded.c - loads recordings into one profile. */
#include <stdlib.h>

#include "cli/run_internal.h"

static void
add_note(struct loaded *loaded, const struct recording_info *info, bool alone)
{
	struct strbuf *note = &loaded->note;

	strbuf_add_text(note, loaded->count > 1 ? "; " : "");
	if (info->began > 0)
		strbuf_add_format(note, "%s ", say_date(info->began, false).text);
	strbuf_add_format(note, "on %s", info->host);
	if (!alone)
		strbuf_add_format(note, ", process %lld (%s)", (long long)info->pid, info->comm);
	if (info->being_written)
		strbuf_add_text(note, ", still being written: this is the part so far");
	else if (!info->ended)
		strbuf_add_text(note, ", and never finished: the end is missing");
}

/* Makes a struct process for the report from the values that the recording has; its descriptors are
 * -1. The caller frees it. */
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
		.profile = loaded->source.profile,
		.modules = loaded->source.modules,
		.names = loaded->names,
		.symfs = options->symfs,
		.number = (uint32_t)loaded->count,
		.threads_only = options->green_use == GREEN_USE_OFF,
		.stats = &loaded->source.stats,
	};
	const struct recording_info *info;
	struct recording *recording;
	struct strbuf label = STRBUF_INIT;
	int rc = recording_open(path, &recording, err);

	if (rc != 0)
		return rc;
	loaded->recording = xgrow(loaded->recording, &loaded->capacity, loaded->count + 1,
				  sizeof(struct recording *));
	loaded->recording[loaded->count++] = recording;
	info = recording_info(recording);
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
		snprintf(loaded->source.stats.runtimes, sizeof(loaded->source.stats.runtimes), "%s",
			 info->runtime);
	}
	return 0;
}

/*
 * Fills in loaded->source. Its members that describe a single process are taken from the first
 * recording.
 */
static void
set_source(struct loaded *loaded, const struct request *request)
{
	const struct recording_info *first = recording_info(loaded->recording[0]);

	/* Recorded names, which are demangled, precede names from the files. --no-demangle needs
	 * the names from the files. */
	loaded->source.names.stored = request->options->no_demangle ? NULL : recorded_names_find;
	loaded->source.names.stored_context = loaded->names;
	source_make_symbols(&loaded->source, request->options, NULL, NULL, &request->log);
	loaded->source.process = loaded->process;
	loaded->source.began_ns = (uint64_t)first->began * NS_PER_SEC;
	loaded->source.end = first->ended ? first->end : RUN_END_STOPPED;
	loaded->source.note = loaded->note.data;
	loaded->part.recording = loaded->recording;
	loaded->part.recording_count = loaded->count;
	if (part_is_wanted(request->options))
		part_describe(request->options, loaded->selected_ns, loaded->all_ns,
			      &loaded->part.text);
}

int
loaded_init(struct loaded *loaded, const struct request *request, const char *const *files,
	    size_t count, struct error *err)
{
	int rc = 0;

	*loaded = (struct loaded){
		.source = { .profile = profile_create(), .modules = modules_create() },
		.names = recorded_names_create(),
	};
	for (size_t i = 0; rc == 0 && i < count; i++)
		rc = load_file(loaded, request->options, files[i], count == 1, err);
	if (rc == 0)
		set_source(loaded, request);
	return rc;
}

void
loaded_release(struct loaded *loaded)
{
	for (size_t i = 0; i < loaded->count; i++)
		recording_close(loaded->recording[i]);
	free(loaded->recording);
	source_release(&loaded->source);
	modules_free(loaded->source.modules);
	recorded_names_free(loaded->names);
	process_free(loaded->process);
	strbuf_release(&loaded->note);
	strbuf_release(&loaded->part.text);
	*loaded = (struct loaded){ .count = 0 };
}
