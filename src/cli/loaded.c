/* SPDX-License-Identifier: MIT */
/* loaded.c - loads recordings into one profile. */
#include <stdlib.h>
#include <string.h>

#include "cli/run_internal.h"

/* --- description -------------------------------------------------------------------------- */

/* Adds why the recording may lack its end. */
static void
add_missing_end(struct strbuf *note, const struct recording_info *info)
{
	if (info->being_written)
		strbuf_add_text(note, ", still being written: this is the part so far");
	else if (!info->ended)
		strbuf_add_text(note, ", and never finished: the end is missing");
}

/* Adds the members of the group that begins with recording `first`; of the only group, whose
 * processes are in the head of the report, just those that may lack their end. */
static void
add_members(struct loaded *loaded, size_t first)
{
	const bool only = loaded->load[first].members == loaded->count;
	struct strbuf *note = &loaded->note;
	size_t added = 0;

	for (size_t i = first; i < loaded->count; i++) {
		const struct recording_info *info = recording_info(loaded->recording[i]);

		if (loaded->load[i].group != first || (only && info->ended && !info->being_written))
			continue;
		strbuf_add_format(note, "%s%lld (%s)", added++ == 0 ? ", processes " : ", ",
				  (long long)info->pid, info->comm);
		add_missing_end(note, info);
	}
	strbuf_add_format(note, ": %zu recordings of the same %s", loaded->load[first].members,
			  say_duration(loaded->load[first].all_ns).text);
}

static void
add_group(struct loaded *loaded, size_t first)
{
	struct strbuf *note = &loaded->note;
	const struct recording_info *info = recording_info(loaded->recording[first]);

	strbuf_add_text(note, first > 0 ? "; " : "");
	if (info->began > 0)
		strbuf_add_format(note, "%s ", say_date(info->began, false).text);
	strbuf_add_format(note, "on %s", info->host);
	if (loaded->load[first].members > 1) {
		add_members(loaded, first);
		return;
	}
	if (loaded->count > 1)
		strbuf_add_format(note, ", process %lld (%s)", (long long)info->pid, info->comm);
	add_missing_end(note, info);
}

/* Makes the note on the recordings, and sums up their times. */
static void
describe_groups(struct loaded *loaded)
{
	size_t groups = 0;

	for (size_t i = 0; i < loaded->count; i++) {
		const struct recording_load *load = &loaded->load[i];

		loaded->selected_ns += load->selected_ns;
		loaded->all_ns += load->all_ns;
		if (load->group != i)
			continue;
		add_group(loaded, i);
		groups++;
	}
	if (groups > 1)
		strbuf_add_text(&loaded->note, "; added up as if one came after the other, because "
					       "their times do not overlap or are of different "
					       "machines");
}

/* Makes a struct process for the report from the values that the recording has; its descriptors are
 * -1. The caller frees it. */
static struct process *
make_process(const struct recording_info *info, const struct options *options)
{
	struct process *process = xcalloc(1, sizeof(*process));

	process->pid = (pid_t)info->pid;
	process->dirfd = process->taskfd = -1;
	snprintf(process->comm, sizeof(process->comm), "%s", info->comm);
	process->cmdline = xstrdup(info->cmdline);
	privacy_hide_words(options, process);
	return process;
}

static void
describe_processes(struct loaded *loaded, const struct options *options)
{
	const struct recording_info *first = recording_info(loaded->recording[0]);

	loaded->process = make_process(first, options);
	privacy_hide_all(options, loaded->source.profile);
	snprintf(loaded->source.stats.runtimes, sizeof(loaded->source.stats.runtimes), "%s",
		 first->runtime);
	snprintf(loaded->source.stats.unread, sizeof(loaded->source.stats.unread), "%s",
		 first->unread);
	if (loaded->count > 1)
		return;
	snprintf(loaded->source.stats.others, sizeof(loaded->source.stats.others), "%s",
		 first->others);
	snprintf(loaded->source.stats.cpu_group, sizeof(loaded->source.stats.cpu_group), "%s",
		 first->cpu_group);
}

/* --- loading -------------------------------------------------------------------------------- */

static int
open_files(struct loaded *loaded, const char *const *files, size_t count, struct error *err)
{
	int rc = 0;

	loaded->recording = xcalloc(count, sizeof(struct recording *));
	loaded->load = xcalloc(count, sizeof(*loaded->load));
	for (size_t i = 0; rc == 0 && i < count; i++) {
		rc = recording_open(files[i], &loaded->recording[i], err);
		loaded->count += rc == 0;
	}
	return rc;
}

static bool
has_several_hosts(const struct loaded *loaded)
{
	for (size_t i = 1; i < loaded->count; i++)
		if (strcmp(recording_info(loaded->recording[i])->host,
			   recording_info(loaded->recording[0])->host) != 0)
			return true;
	return false;
}

static int
load_files(struct loaded *loaded, const struct options *options, struct error *err)
{
	const struct recording_selection selection = part_selection(options);
	const size_t count = loaded->count;
	struct strbuf *label = xcalloc(count, sizeof(*label));
	const bool hosts = has_several_hosts(loaded);
	int rc;

	for (size_t i = 0; i < count; i++) {
		const struct recording_info *info = recording_info(loaded->recording[i]);

		strbuf_init(&label[i]);
		strbuf_add_text(&label[i], info->host);
		loaded->load[i] = (struct recording_load){
			.selection = part_is_wanted(options) ? &selection : NULL,
			.profile = loaded->source.profile,
			.modules = loaded->source.modules,
			.names = loaded->names,
			.symfs = options->symfs,
			.number = (uint32_t)i,
			.label = hosts ? label[i].data : NULL,
			.threads_only = options->green_use == GREEN_USE_OFF,
			.stats = &loaded->source.stats,
		};
	}
	rc = recordings_load(loaded->recording, loaded->load, count, err);
	for (size_t i = 0; i < count; i++)
		strbuf_release(&label[i]);
	free(label);
	return rc;
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
	int rc;

	*loaded = (struct loaded){ .names = recorded_names_create() };
	source_init(&loaded->source);
	rc = open_files(loaded, files, count, err);
	if (rc == 0)
		rc = load_files(loaded, request->options, err);
	if (rc == 0) {
		describe_groups(loaded);
		describe_processes(loaded, request->options);
		set_source(loaded, request);
	}
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
	free(loaded->load);
	strbuf_release(&loaded->note);
	strbuf_release(&loaded->part.text);
	*loaded = (struct loaded){ .count = 0 };
}
