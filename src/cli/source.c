/* SPDX-License-Identifier: MIT */
/* source.c - the data of a report, and writing a report or dump of it. In this file "task" means a
 * green task (green_task.h). */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "wallsample/format/exporters.h"
#include "cli/again_internal.h"
#include "cli/names_advice_internal.h"
#include "cli/run_internal.h"
#include "wallsample/analysis/process_choice.h"
#include "wallsample/report/quantity.h"

/*
 * Default number of rows (option -n) of a table, of the table of one thread (-t), and of the call
 * tree.
 */
#define TABLE_ROWS 20
#define THREAD_TABLE_ROWS 8
#define TREE_LINES 60

void
source_init(struct source *source)
{
	struct rlimit limit;

	/* modules_create() takes a third of the limit; a run has two files of each thread open. */
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
	source->modules = modules_create();
	source->profile = profile_create();
}

void
source_make_symbols(struct source *source, const struct options *options, const char *root,
		    const struct jit_epochs *epochs, const struct log *log)
{
	source->names.demangle = !options->no_demangle;
	source->names.inlines = !options->no_inlines;
	source->names.isolate = true;
	source->names.files = (struct debug_files_config){
		.debug_dirs = options->debug_dirs.text,
		.symfs = options->symfs,
		.debuginfod = options->debuginfod,
		.root = root,
		.log = log,
	};
	source->names.jit = epochs;
	source->symbols = symbols_create(source->modules, &source->names);
}

void
source_release(struct source *source)
{
	async_tasks_free(source->async);
	symbols_free(source->symbols);
	profile_free(source->profile);
}

enum sample_status
source_status(const struct request *request, const struct source *source)
{
	enum sample_status status;
	struct strbuf why = STRBUF_INIT;

	status = sample_exit_status(&source->stats, &why);
	if (why.length > 0)
		log_say(&request->log, LOG_NORMAL, "%s", why.data);
	strbuf_release(&why);
	return status;
}

/* --- the exit status ----------------------------------------------------------------- */

/* True if `bad` is more than 1 % of `all`. */
static bool
is_too_many(uint64_t bad, uint64_t all)
{
	return (double)bad * 100 > (double)all;
}

/*
 * Appends "partial: 12 of 900 samples failed" to an empty text, or ", 12 of …" to other text;
 * nothing if `bad` is 0.
 */
static void
add_part(struct strbuf *why, uint64_t bad, uint64_t all, const char *what)
{

	if (bad == 0)
		return;
	strbuf_add_format(why, "%s%s of %s %s",
			  why->length > 0 ? ", " : "partial: ", quantity_count(bad).text,
			  quantity_count(all).text, what);
}

enum sample_status
sample_exit_status(const struct run_stats *stats, struct strbuf *why)
{
	const uint64_t of_threads = stats->thread_samples - stats->green_samples;
	uint64_t failed = 0, broken, walks;

	/*
	 * Five reasons are not counted as failures: the options forbid stopping a running thread;
	 * the thread has exited; the task has ended; wallsample did not run; another tracer traced
	 * the thread.
	 */
	for (int i = 0; i < FAILURE_COUNT; i++)
		if (i != FAILURE_NOT_STOPPED && i != FAILURE_EXITED && i != FAILURE_TASK_FINISHED &&
		    i != FAILURE_ABSENT && i != FAILURE_TRACED)
			failed += stats->failed[i];
	failed -= stats->green_failures < failed ? stats->green_failures : failed;
	run_stats_count_chains(stats, &walks, &broken);
	/* No thread was captured: all of them had ended before. */
	if (stats->thread_samples <= stats->failed[FAILURE_EXITED])
		return SAMPLE_NOTHING;
	/* The shares for threads and for tasks are separate, so that many tasks cannot hide
	 * failed threads. */
	if (!is_too_many(failed, of_threads) && !is_too_many(broken, walks) &&
	    !is_too_many(stats->green_failures, stats->green_samples))
		return SAMPLE_WHOLE;
	add_part(why, failed, of_threads, "samples failed");
	add_part(why, stats->green_failures, stats->green_samples, "samples of tasks failed");
	add_part(why, broken, walks, "stacks are not whole");
	return SAMPLE_PARTIAL;
}

/* --- the report ---------------------------------------------------------------------- */

/*
 * Adds the number of threads and tasks with a row in the view: "12 threads" or "1,000 tasks and 3
 * threads".
 */
static void
add_threads(const struct view *view, struct strbuf *out)
{
	const struct profile *profile = view_profile(view);
	bool *seen = xcalloc(profile_thread_count(profile), sizeof(*seen));
	uint32_t tasks = 0, threads = 0;

	for (size_t i = 0; i < view_row_count(view); i++) {
		const uint32_t thread = view_row(view, i)->thread;
		const bool is_green = profile_thread(profile, thread)->is_green;

		tasks += !seen[thread] && is_green;
		threads += !seen[thread] && !is_green;
		seen[thread] = true;
	}
	if (tasks > 0)
		strbuf_add_format(out, "%s and ", quantity_things(tasks, "task", "tasks").text);
	strbuf_add_text(out, quantity_things(threads, "thread", "threads").text);
	free(seen);
}

static void
say_written(const struct request *request, const struct source *source, const struct view *view,
	    const struct export_input *input)
{
	int64_t total = view_total_samples(view);
	struct strbuf threads = STRBUF_INIT;

	if (view_row_count(view) == 0 && profile_entry_count(source->profile) == 0 &&
	    input->part == NULL)
		log_say(&request->log, LOG_NORMAL, "there is no sample yet");
	else if (view_row_count(view) == 0)
		log_say(&request->log, LOG_NORMAL, "no sample is among those that were asked for");
	if (request->output.path == NULL)
		return;
	add_threads(view, &threads);
	log_say(&request->log, LOG_NORMAL, "wrote %s %s to %s%s: %s of %s", request->exporter->name,
		request->exporter->noun, request->output.path, input->snapshot ? " so far" : "",
		quantity_things(total > 0 ? (uint64_t)total : 0, "sample", "samples").text,
		threads.data);
	strbuf_release(&threads);
}

/* The context of write_view. */
struct writing {
	const struct exporter *exporter;
	const struct export_input *input;
	bool dumps; /* writes a dump, not a report */
};

static int
write_view(void *context, FILE *out, struct error *err)
{
	const struct writing *writing = context;

	if (writing->dumps)
		writing->exporter->write_dump(writing->input, out);
	else
		export_write(writing->exporter, writing->input, out);
	if (writing->input->error->kind == ERROR_NONE)
		return 0;
	*err = *writing->input->error;
	return -(int)err->kind;
}

static enum view_key
choose_key(const struct request *request)
{
	if (request->exporter->by_address || request->options->verb->bit == FOR_DUMP)
		return VIEW_BY_ADDRESS;
	return request->options->lines ? VIEW_BY_LINE : request->options->by;
}

/* The views of one profile that exporters use. */
struct views {
	struct view *view;
	struct view *functions, *lines; /* by function, and by line; NULL: not needed */
	bool by_line;                   /* `lines` is `view` */
};

static void
views_make(const struct request *request, const struct source *source, struct profile *profile,
	   struct views *out)
{
	const struct filter *filter = &request->options->filter;
	const bool in_words = request->exporter->in_words &&
			      request->options->verb->bit != FOR_DUMP;
	const enum view_key key = choose_key(request);

	*out = (struct views){ .view = view_create(profile, source->symbols, filter, key) };
	out->by_line = key == VIEW_BY_LINE;
	if (in_words && key != VIEW_BY_FUNCTION)
		out->functions = view_create(profile, source->symbols, filter, VIEW_BY_FUNCTION);
	if (in_words && !out->by_line)
		out->lines = view_create(profile, source->symbols, filter, VIEW_BY_LINE);
	if (out->by_line)
		out->lines = out->view;
}

static void
views_release(struct views *views)
{
	view_free(views->view);
	view_free(views->functions);
	if (!views->by_line)
		view_free(views->lines);
}

/* Returns the number of the option -n, or `usual` without one. */
static size_t
limit_or(const struct options *options, size_t usual)
{
	return options->limit != 0 ? options->limit : usual;
}

bool
source_may_page(const struct options *options, bool ended, bool snapshot)
{
	return !snapshot && (options->command == NULL || ended);
}

/* Returns the profile of the part. Its times per parallelism agree with those of its CPU time. */
static struct profile *
profile_of_part(const struct source *source, const struct part *part)
{
	struct profile *profile = part->profile != NULL ? part->profile : source->profile;

	if (source->stats.calibrated)
		profile_calibrate_parallelism(profile);
	return profile;
}

int
source_check_processes(const struct request *request, const struct source *source,
		       const struct part *part, struct error *err)
{
	const struct profile *profile = part != NULL && part->profile != NULL ? part->profile :
										source->profile;
	struct error why;

	if (process_choice_check(profile, &request->options->filter, &why) == 0)
		return 0;
	return error_set(err, why.kind, "%s; %s",
			 request->options->filter.process.count > 0 ?
				 "--process selects no process" :
				 "--exclude-process leaves no process",
			 why.text);
}

int
source_write(const struct request *request, const struct source *source, const struct part *part,
	     bool snapshot, struct error *err)
{
	const struct options *options = request->options;
	/* With --blame, samples have no times. */
	const bool has_time = !options->filter.blame && part->recording_count > 0;
	struct error wrong = { .kind = ERROR_NONE };
	struct names_advice advice;
	struct export_input input = {
		.recordings = has_time ? part->recording : NULL,
		.recording_count = has_time ? part->recording_count : 0,
		.error = &wrong,
		.process = source->process,
		.core_end = source->core_end,
		.async = source->async,
		.modules = source->modules,
		.stats = &source->stats,
		.began_ns = source->began_ns,
		.end = source->end,
		.snapshot = snapshot,
		.full = options->full,
		.table = options->limit != 0 || options->sort != WEIGHT_WALL,
		.by_process = options->processes,
		.by_thread = options->threads,
		.sort = options->sort,
		.limit = limit_or(options, TABLE_ROWS),
		.tree = options->tree ? limit_or(options, TREE_LINES) : 0,
		.focus = options->focus,
		.thread_limit = limit_or(options, THREAD_TABLE_ROWS),
		.columns = output_columns(&request->output),
		.colour = output_shows_colours(&request->output),
		.filtered = options_are_filtered(options),
		.note = source->note,
		.part = part->text.length > 0 ? part->text.data : NULL,
		.advice = &advice,
	};
	struct writing writing = { request->exporter, &input, options->verb->bit == FOR_DUMP };
	struct views views;
	struct again again;
	int rc = source_check_processes(request, source, part, err);

	if (rc != 0)
		return rc;
	views_make(request, source, profile_of_part(source, part), &views);
	input.view = views.view;
	input.functions = views.functions;
	input.lines = views.lines;
	names_advice_make(&input, symbols_debuginfod_state(source->symbols),
			  !snapshot && request->exporter->in_words && !writing.dumps, &advice);
	if (again_make(options, &again)) {
		input.again_before = again.before.data;
		input.again_after = again.after.data;
	}
	rc = output_write(&request->output,
			  source_may_page(options, source->end == RUN_END_EXITED, snapshot),
			  write_view, &writing, err);
	if (rc == 0)
		say_written(request, source, views.view, &input);
	names_advice_release(&advice);
	again_release(&again);
	views_release(&views);
	return rc;
}
