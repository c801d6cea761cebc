/* SPDX-License-Identifier: MIT */
/* sample_report.c - writes reports and dumps, and prints how a run ended. */
#include <stdlib.h>
#include <string.h>

#include "cli/run_internal.h"
#include "wallsample/unwind/chain.h"

/* Rows of a table, and of one thread's with -t, unless -n says how many. */
#define TABLE_ROWS 20
#define THREAD_TABLE_ROWS 8
#define TREE_LINES 60

void
sample_say_start(const struct run *run)
{
	const struct process *process = run->target.process;
	const struct options *options = run->request.options;
	char time[SAY_TEXT_SIZE];
	struct strbuf name = STRBUF_INIT;

	strbuf_add_escaped(&name, process->comm);
	if (options->duration_ns > 0)
		log_say(&run->request.log, LOG_NORMAL,
			"sampling process %d (%s) %.10g times a second for %s; Ctrl-C ends it",
			(int)process->pid, name.data, options->rate_hz,
			say_duration(options->duration_ns, time));
	else
		log_say(&run->request.log, LOG_NORMAL,
			"sampling process %d (%s) %.10g times a second until it ends or Ctrl-C",
			(int)process->pid, name.data, options->rate_hz);
	strbuf_release(&name);
}

/* Adds "12 threads", "1,000 tasks and 3 threads": those that have a row. */
static void
add_threads(const struct view *view, struct strbuf *out)
{
	const struct profile *profile = view_profile(view);
	bool *seen = xcalloc(profile_thread_count(profile), sizeof(*seen));
	char number[SAY_TEXT_SIZE];
	uint32_t tasks = 0, threads = 0;

	for (size_t i = 0; i < view_row_count(view); i++) {
		const uint32_t thread = view_row(view, i)->thread;
		const bool is_task = profile_thread(profile, thread)->is_task;

		tasks += !seen[thread] && is_task;
		threads += !seen[thread] && !is_task;
		seen[thread] = true;
	}
	if (tasks > 0)
		strbuf_add_format(out, "%s task%s and ", say_count(tasks, number),
				  tasks == 1 ? "" : "s");
	strbuf_add_format(out, "%s thread%s", say_count(threads, number), threads == 1 ? "" : "s");
	free(seen);
}

static void
say_written(const struct request *request, const struct source *source, const struct view *view,
	    const struct export_input *input)
{
	char samples[SAY_TEXT_SIZE];
	int64_t total = view_total_samples(view);
	struct strbuf path = STRBUF_INIT, threads = STRBUF_INIT;

	if (view_row_count(view) == 0 && profile_entry_count(source->profile) == 0 &&
	    input->part == NULL)
		log_say(&request->log, LOG_NORMAL, "there is no sample yet");
	else if (view_row_count(view) == 0)
		log_say(&request->log, LOG_NORMAL, "no sample is among those that were asked for");
	if (request->output.path == NULL)
		return;
	strbuf_add_escaped(&path, request->output.path);
	add_threads(view, &threads);
	log_say(&request->log, LOG_NORMAL, "wrote %s %s to %s%s: %s sample%s of %s",
		request->exporter->name, request->exporter->noun, path.data,
		input->snapshot ? " so far" : "",
		say_count(total > 0 ? (uint64_t)total : 0, samples), total == 1 ? "" : "s",
		threads.data);
	strbuf_release(&threads);
	strbuf_release(&path);
}

/* The context of write_view. */
struct writing {
	const struct exporter *exporter;
	const struct export_input *input;
	bool dumps; /* every thread once */
};

static int
write_view(void *context, FILE *out, struct error *err)
{
	const struct writing *writing = context;

	if (writing->dumps)
		writing->exporter->write_dump(writing->input, out);
	else
		writing->exporter->write(writing->input, out);
	if (writing->input->error->kind == ERROR_NONE)
		return 0;
	*err = *writing->input->error;
	return -(int)err->kind;
}

/* debuginfod servers of distributions, by the ID of os-release(5). */
static const struct {
	const char *id, *server;
} debuginfod_servers[] = {
	{ "debian", "https://debuginfod.debian.net" },
	{ "ubuntu", "https://debuginfod.ubuntu.com" },
	{ "fedora", "https://debuginfod.fedoraproject.org" },
	{ "arch", "https://debuginfod.archlinux.org" },
	{ "opensuse", "https://debuginfod.opensuse.org" },
};

/* Returns the server of the running distribution, else the federated one. */
static const char *
find_server(void)
{
	const char *server = "https://debuginfod.elfutils.org";
	FILE *file = fopen("/etc/os-release", "re");
	char line[256], id[64];

	while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
		if (strncmp(line, "ID=", 3) != 0)
			continue;
		snprintf(id, sizeof(id), "%s", line + 3 + (line[3] == '"'));
		id[strcspn(id, "\"-\n")] = '\0';
		for (size_t i = 0; i < ARRAY_SIZE(debuginfod_servers); i++)
			if (strcmp(id, debuginfod_servers[i].id) == 0)
				server = debuginfod_servers[i].server;
	}
	if (file != NULL)
		fclose(file);
	return server;
}

/* Appends how to name the unnamed frames: debug packages, or a debuginfod server. Call it when all
 * frames are looked up. */
static void
add_names_hint(struct strbuf *hint, enum debuginfod_state servers)
{
	strbuf_add_text(hint, "Names come with the debug packages of these files "
			      "(-dbgsym, -debuginfo)");
	switch (servers) {
	case DEBUGINFOD_NOT_BUILT:
		strbuf_add_text(hint, ".");
		return;
	case DEBUGINFOD_NOT_WANTED:
		strbuf_add_format(hint, ", or with DEBUGINFOD_URLS=%s and --debuginfod=net.",
				  find_server());
		return;
	case DEBUGINFOD_NO_ADDRESS:
		strbuf_add_format(hint, ", or with DEBUGINFOD_URLS=%s, which is not set now.",
				  find_server());
		return;
	case DEBUGINFOD_UNUSABLE:
		strbuf_add_text(hint, "; no server was asked: libdebuginfod cannot be used here.");
		return;
	case DEBUGINFOD_GIVEN_UP:
		strbuf_add_text(hint, "; the servers of $DEBUGINFOD_URLS were given up on.");
		return;
	case DEBUGINFOD_IN_USE:
		strbuf_add_text(hint, "; what the servers of $DEBUGINFOD_URLS have does not name "
				      "these frames.");
		return;
	}
}

static enum view_key
choose_key(const struct request *request)
{
	if (request->exporter->by_address || request->options->verb->bit == FOR_DUMP)
		return VIEW_BY_ADDRESS;
	return request->options->lines ? VIEW_BY_LINE : request->options->by;
}

/* A view by function, for exporters that report what limits the program; else NULL. */
static struct view *
view_functions(const struct request *request, const struct source *source, const struct view *view)
{
	if (!request->exporter->in_words || view_key(view) == VIEW_BY_FUNCTION)
		return NULL;
	return view_create(view_profile(view), source->symbols, &request->options->filter,
			   VIEW_BY_FUNCTION);
}

int
source_write(const struct request *request, const struct source *source, const struct part *part,
	     bool snapshot, struct error *err)
{
	const struct options *options = request->options;
	const size_t limit = options->limit;
	/* Blame has no time axis. */
	const bool has_time = !options->filter.blame && part->recording_count > 0;
	struct error wrong = { .kind = ERROR_NONE };
	struct export_input input = {
		.recordings = has_time ? part->recording : NULL,
		.recording_count = has_time ? part->recording_count : 0,
		.error = &wrong,
		.process = source->process,
		.core_end = source->core_end,
		.tasks = source->tasks,
		.modules = source->modules,
		.stats = &source->stats,
		.began_ns = source->began_ns,
		.end = source->end,
		.snapshot = snapshot,
		.by_thread = options->threads,
		.sort = options->sort,
		.limit = limit != 0 ? limit : TABLE_ROWS,
		.tree = options->tree ? (limit != 0 ? limit : TREE_LINES) : 0,
		.focus = options->focus,
		.thread_limit = limit != 0 ? limit : THREAD_TABLE_ROWS,
		.columns = output_columns(&request->output),
		.filtered = options_are_filtered(options),
		.note = source->note,
		.part = part->text.length > 0 ? part->text.data : NULL,
	};
	struct writing writing = { request->exporter, &input, options->verb->bit == FOR_DUMP };
	struct view *view, *functions;
	struct strbuf hint = STRBUF_INIT;
	int rc;

	view = view_create(part->profile != NULL ? part->profile : source->profile, source->symbols,
			   &options->filter, choose_key(request));
	functions = view_functions(request, source, view);
	add_names_hint(&hint, symbols_debuginfod_state(source->symbols));
	input.view = view;
	input.functions = functions;
	input.names_hint = hint.data;
	rc = output_write(&request->output, write_view, &writing, err);
	if (rc == 0)
		say_written(request, source, view, &input);
	strbuf_release(&hint);
	view_free(view);
	view_free(functions);
	return rc;
}

int
sample_write(struct run *run, bool snapshot, struct error *err)
{
	struct live_part part;
	int rc;

	jit_refresh(run->jit);
	rc = part_load(run, &part, err);
	if (rc != 0)
		return rc;
	rc = source_write(&run->request, &run->source, &part.part, snapshot, err);
	part_release(&part);
	return rc;
}

static void
say_command_end(const struct run *run)
{
	const struct run_stats *stats = &run->source.stats;
	struct strbuf end = STRBUF_INIT;

	if (run->source.end == RUN_END_DURATION) {
		log_say(&run->request.log, LOG_NORMAL, "the command continues as process %d",
			(int)run->target.pid);
		return;
	}
	/* An exit with status 0 is not reported. */
	if (!stats->child_exited || stats->child_status == 0)
		return;
	target_add_end(&end, stats->child_status);
	log_say(&run->request.log, LOG_NORMAL, "%s", end.data);
	strbuf_release(&end);
}

/* Counts the distinct frames of all stacks by how they were found. */
static void
say_origins(const struct run *run)
{
	static const enum frame_origin origins[] = {
#define X(name, text) FRAME_##name,
		FRAME_ORIGINS(X)
#undef X
	};
	uint64_t count[ARRAY_SIZE(origins)] = { 0 };
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < profile_frame_count(run->source.profile); i++) {
		const struct profile_frame *frame = profile_frame(run->source.profile, (uint32_t)i);

		if (frame->module != MODULE_NONE || frame->origin == FRAME_SCRIPT)
			count[frame->origin]++;
	}
	for (size_t i = 0; i < ARRAY_SIZE(origins); i++)
		strbuf_add_format(&text, "%s%s %llu", i > 0 ? ", " : "",
				  frame_origin_text(origins[i]), (unsigned long long)count[i]);
	log_say(&run->request.log, LOG_VERBOSE, "different frames by how they were found: %s",
		text.data);
	strbuf_release(&text);
}

/* The sampler itself logs its priority and the speed of the unwinder. */
static void
say_numbers(const struct run *run)
{
	const struct run_stats *stats = &run->source.stats;

	log_say(&run->request.log, LOG_VERBOSE,
		"%llu ticks, %llu looks at a thread; stacks: %llu reused, %llu read without a "
		"stop, %llu in a stop",
		(unsigned long long)stats->ticks, (unsigned long long)stats->looks,
		(unsigned long long)stats->reused, (unsigned long long)stats->read,
		(unsigned long long)stats->stopped);
	say_origins(run);
	log_say(&run->request.log, LOG_VERBOSE,
		"saved %llu system calls from EINTR, passed on %llu signals",
		(unsigned long long)stats->repaired, (unsigned long long)stats->signals_passed);
	log_say(&run->request.log, LOG_VERBOSE, "rate: wanted %.4g Hz, lowest %.4g Hz",
		stats->rate_wanted, stats->rate_lowest);
}

void
sample_say_end(const struct run *run)
{
	if (run->target.is_command)
		say_command_end(run);
	else if (run->source.end == RUN_END_EXITED)
		log_say(&run->request.log, LOG_NORMAL, "process %d has ended",
			(int)run->target.pid);
	say_numbers(run);
}

int
sample_nothing(const struct run *run, struct error *err)
{
	const struct options *options = run->request.options;
	char time[SAY_TEXT_SIZE];
	struct strbuf filters = STRBUF_INIT;
	int rc;

	if (run->target.is_command && run->source.stats.child_exited)
		return target_refuse_ended(run->source.stats.child_status, err);
	if (run->source.end == RUN_END_EXITED)
		return error_set(err, ERROR_NO_PROCESS,
				 "nothing was sampled: process %d ended before it could be sampled",
				 (int)run->target.pid);
	options_add_thread_filters(options, &filters);
	if (filters.length > 0)
		rc = error_set(err, ERROR_SYSTEM,
			       "nothing was sampled: no thread of process %d is "
			       "one that was asked for (%s)",
			       (int)run->target.pid, filters.data);
	else
		rc = error_set(err, ERROR_SYSTEM, "nothing was sampled in %s",
			       say_duration(run->source.stats.elapsed_ns, time));
	strbuf_release(&filters);
	return rc;
}
