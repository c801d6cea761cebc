/* SPDX-License-Identifier: MIT */
/*
 * json.c - writes the whole report as JSON, see wallsample-formats(5). Each element of a list is on
 * a separate line.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "format/format_internal.h"
#include "wallsample/analysis/process_choice.h"
#include "wallsample/base/base.h"
#include "wallsample/unwind/chain.h"
#include "wallsample/process/module.h"
#include "wallsample/analysis/result.h"

/*
 * The version of the format, which is the member "schema" of the output. It is incremented when a
 * reader of the previous version would misread the output.
 */
#define SCHEMA 1

struct writing {
	const struct export_input *input;
	const struct view *view;
	struct json_stream json;
	/* by function of the view: index in the list "functions"; NULL: not in the list */
	json_t **function;
	/* by thread of the profile: index in the list "threads"; NULL: not in the list */
	json_t **thread;
};

/* --- values ------------------------------------------------------------ */

static json_t *
weights(const int64_t *ns)
{
	/* "overhead_ns" is the name that "cpu_ns" had before; programs may still read it. */
	return json_pack("{s:I, s:I, s:I, s:I}", "wall_ns", (json_int_t)ns[WEIGHT_WALL], "cpu_ns",
			 (json_int_t)ns[WEIGHT_CPU], "overhead_ns", (json_int_t)ns[WEIGHT_CPU],
			 "latency_ns", (json_int_t)ns[WEIGHT_LATENCY]);
}

/* --- what was sampled, and how ------------------------------------------------------------ */

static void
write_sampling(struct writing *writing)
{
	static const char *const ends[] = {
		[RUN_END_DURATION] = "duration",
		[RUN_END_STOPPED] = "stopped",
		[RUN_END_EXITED] = "gone",
	};
	const struct export_input *input = writing->input;
	const struct run_stats *stats = input->stats;
	json_t *began = input->began_ns > 0 ? json_stream_number(input->began_ns) : NULL;

	json_stream_put(&writing->json, "sampling",
			json_pack("{s:o?, s:I, s:I, s:o?, s:I, s:I, s:I, s:s?, s:b, s:b, s:s, s:s}",
				  "began_ns", began, "elapsed_ns", (json_int_t)stats->elapsed_ns,
				  "ticks", (json_int_t)stats->ticks, "rate_hz",
				  json_real(stats->rate_wanted), "samples",
				  (json_int_t)stats->thread_samples, "threads_seen",
				  (json_int_t)stats->threads_seen, "threads_most",
				  (json_int_t)stats->threads_most, "end",
				  input->snapshot ? NULL : ends[input->end], "execed",
				  stats->execed, "filtered", input->filtered, "by",
				  view_key_word(view_key(writing->view)), "sort",
				  weight_word(input->sort)));
}

static json_t *
stops(const struct histogram *ns)
{
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "count", (json_int_t)ns->count, "sum_ns",
			 (json_int_t)ns->sum, "median_ns", (json_int_t)histogram_quantile(ns, 0.5),
			 "p99_ns", (json_int_t)histogram_quantile(ns, 0.99), "longest_ns",
			 (json_int_t)ns->max);
}

static void
write_cost(struct writing *writing)
{
	const struct run_stats *stats = writing->input->stats;
	json_t *target = stats->target_cpu_known ? json_stream_number(stats->target_cpu_ns) : NULL;
	json_t *object = json_pack("{s:I, s:I, s:o?, s:I, s:I, s:I, s:I, s:o, s:o?, s:I, s:I, s:I}",
				   "own_cpu_ns", (json_int_t)stats->own_cpu_ns, "peak_memory_bytes",
				   (json_int_t)stats->peak_memory, "target_cpu_ns", target, "looks",
				   (json_int_t)stats->looks, "stacks_reused",
				   (json_int_t)stats->reused, "stacks_read",
				   (json_int_t)stats->read, "stacks_stopped",
				   (json_int_t)stats->stopped, "stops", stops(&stats->stop_ns),
				   "rate_lowest_hz", json_real(stats->rate_lowest), "thinnest",
				   (json_int_t)stats->thinnest, "repaired",
				   (json_int_t)stats->repaired, "signals_passed",
				   (json_int_t)stats->signals_passed);

	if (stats->running > 0)
		json_object_set_new(object, "running",
				    json_pack("{s:I, s:I}", "samples", (json_int_t)stats->running,
					      "exact", (json_int_t)stats->running_exact));
	if (stats->stolen_ns > 0)
		json_object_set_new(object, "stolen_ns",
				    json_integer((json_int_t)stats->stolen_ns));
	if (stats->stop_delays > 0)
		json_object_set_new(object, "ticks_delayed_by_max_stopped",
				    json_stream_number(stats->stop_delays));
	if (stats->absences > 0)
		json_object_set_new(object, "absent",
				    json_pack("{s:I, s:I}", "count", (json_int_t)stats->absences,
					      "ns", (json_int_t)stats->absent_ns));
	json_set_excluded(object, "excluded", &stats->excluded);
	json_set_excluded_processes(object, "excluded_processes", &stats->excluded_processes);
	if (writing->input->note != NULL) {
		const struct run_excluded of_view = view_excluded(writing->view);
		const struct run_excluded_processes processes = view_excluded_processes(
			writing->view);

		json_set_excluded(object, "excluded_recorded", &of_view);
		json_set_excluded_processes(object, "excluded_processes_recorded", &processes);
	}
	json_stream_put(&writing->json, "cost", object);
}

/*
 * Writes for each reason how many samples failed or how many stacks were cut off. Leaves out
 * reasons with a count of 0.
 */
static void
write_losses(struct writing *writing)
{
	const struct run_stats *stats = writing->input->stats;
	json_t *failed = json_object(), *cut = json_object();

	for (size_t i = 0; i < FAILURE_COUNT; i++)
		if (stats->failed[i] > 0)
			json_object_set_new(failed, sample_failure_text((enum sample_failure)i),
					    json_stream_number(stats->failed[i]));
	for (size_t i = 0; i < CHAIN_END_COUNT; i++)
		if (stats->chains[i] > 0 && !chain_end_is_whole((enum chain_end)i))
			json_object_set_new(cut, chain_end_text((enum chain_end)i),
					    json_stream_number(stats->chains[i]));
	json_stream_put(&writing->json, "losses",
			json_pack("{s:o, s:o}", "samples_failed", failed, "stacks_cut_off", cut));
}

/* What the target did by the kernel's counters. */
static void
write_work(struct writing *writing)
{
	const struct run_stats *stats = writing->input->stats;
	const struct counters *work = &stats->work;
	json_t *object = json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "reads",
				   (json_int_t)work->reads, "read_bytes",
				   (json_int_t)work->read_bytes, "writes", (json_int_t)work->writes,
				   "written_bytes", (json_int_t)work->written_bytes, "minor_faults",
				   (json_int_t)work->minor_faults, "major_faults",
				   (json_int_t)work->major_faults, "throttled_ns",
				   (json_int_t)work->throttled_ns);

	if (stats->sleeps > 0) {
		json_object_set_new(object, "sleeps", json_stream_number(stats->sleeps));
		json_object_set_new(object, "sleeper", json_integer(stats->sleeper));
	}
	if (stats->machine_busy > 0)
		json_object_set_new(object, "machine_busy", json_real(stats->machine_busy));
	if (stats->others[0] != '\0')
		json_object_set_new(object, "others",
				    json_stream_text(&writing->json, stats->others));
	if (work->cpu_limit > 0)
		json_object_set_new(object, "cpu_limit", json_real(work->cpu_limit));
	if (work->cpu_limit > 0 && stats->cpu_group[0] != '\0')
		json_object_set_new(object, "cpu_group",
				    json_stream_text(&writing->json, stats->cpu_group));
	json_stream_put(&writing->json, "work", object);
}

static void
write_total(struct writing *writing)
{
	int64_t ns[WEIGHT_COUNT];
	json_t *object;

	for (int w = 0; w < WEIGHT_COUNT; w++)
		ns[w] = view_total_ns(writing->view, (enum weight)w);
	object = weights(ns);
	json_object_set_new(object, "samples", json_integer(view_total_samples(writing->view)));
	json_object_set_new(object, "unfiltered_wall_ns",
			    json_integer(view_unfiltered_ns(writing->view)));
	json_stream_put(&writing->json, "total", object);
}

static void
write_parallelism(struct writing *writing)
{
	const struct profile *profile = view_profile(writing->view);

	json_stream_begin_list(&writing->json, "parallelism");
	for (size_t p = 0; p < profile_parallelism_count(profile); p++) {
		const struct profile_parallelism *at = profile_parallelism(profile, p);

		if (at->ticks > 0)
			json_stream_put(&writing->json, NULL,
					json_pack("{s:I, s:I, s:I, s:I}", "threads", (json_int_t)p,
						  "ticks", (json_int_t)at->ticks, "real_ns",
						  (json_int_t)at->time_ns, "cpu_ns",
						  (json_int_t)at->cpu_ns));
	}
	json_stream_end(&writing->json);
}

/* --- tables ------------------------------------------------------------ */

/*
 * Adds the path of the function's source file, and in a view by line the line. Adds nothing if the
 * file is not known, or in a view by module.
 */
static void
add_file(struct writing *writing, json_t *object, const struct view_function *function)
{
	const enum view_key key = view_key(writing->view);

	if (function->file == NULL || key == VIEW_BY_MODULE)
		return;
	json_object_set_new(object, "file", json_stream_text(&writing->json, function->file));
	if (key == VIEW_BY_LINE && function->line > 0)
		json_object_set_new(object, "line", json_stream_number(function->line));
}

static void
write_function(struct writing *writing, const struct top_row *row)
{
	const struct view_function *function = view_function(writing->view, row->function);
	json_t *object = json_pack("{s:o, s:o, s:b}", "name",
				   json_stream_text(&writing->json, function->name), "module",
				   json_stream_text(&writing->json, function->module), "known",
				   function->known);

	if (function->script || function->place != function->module)
		add_file(writing, object, function);
	json_object_set_new(object, "flat", weights(row->flat));
	json_object_set_new(object, "cum", weights(row->cum));
	json_object_set_new(object, "parallelism",
			    row->busy_ns > 0 ?
				    json_real((double)row->cum[WEIGHT_CPU] / (double)row->busy_ns) :
				    json_null());
	json_stream_put(&writing->json, NULL, object);
}

/*
 * Writes all functions of all stacks: first the functions that have time of the weight input->sort,
 * in the order of the report, then all other functions.
 */
static void
write_functions(struct writing *writing)
{
	json_int_t count = 0;

	json_stream_begin_list(&writing->json, "functions");
	for (int turn = 0; turn <= WEIGHT_COUNT; turn++) {
		const enum weight weight = turn == 0 ? writing->input->sort :
						       (enum weight)(turn - 1);
		struct top_table top;

		top_table_make(writing->view, weight, &top);
		for (size_t i = 0; i < top.count; i++) {
			if (writing->function[top.row[i].function] != NULL)
				continue;
			writing->function[top.row[i].function] = json_integer(count++);
			write_function(writing, &top.row[i]);
		}
		top_table_release(&top);
	}
	json_stream_end(&writing->json);
}

static void
write_threads(struct writing *writing)
{
	const struct profile *profile = view_profile(writing->view);
	struct thread_table threads;

	json_stream_begin_list(&writing->json, "threads");
	thread_table_make(writing->view, &threads);
	for (size_t i = 0; i < threads.count; i++) {
		const struct thread_row *row = &threads.row[i];
		const struct profile_thread *thread = profile_thread(profile, row->thread);
		const bool top = row->top < view_function_count(writing->view);
		/* "tid" is created here to be the first member; json_add_thread() sets its value
		 * later, and a member that is set again keeps its position. */
		json_t *object = json_pack("{s:n}", "tid");

		writing->thread[row->thread] = json_stream_number(i);
		if (!thread->is_green)
			json_object_set_new(object, "start_time",
					    json_stream_number(thread->start_time));
		json_add_thread(&writing->json, writing->view, row->thread, object);
		json_object_update_new(object, weights(row->ns));
		json_object_update_new(object, json_pack("{s:I, s:O?}", "runnable_ns",
							 (json_int_t)row->runnable_ns, "mostly_in",
							 top ? writing->function[row->top] : NULL));
		json_stream_put(&writing->json, NULL, object);
	}
	thread_table_release(&threads);
	json_stream_end(&writing->json);
}

static void
write_modules(struct writing *writing)
{
	const struct modules *modules = writing->input->modules;
	const size_t count = modules != NULL ? modules_count(modules) : 0;
	bool *used = xcalloc(count + 1, sizeof(*used));

	for (uint32_t f = 0; f < view_function_count(writing->view); f++)
		if (view_function(writing->view, f)->module_id < count)
			used[view_function(writing->view, f)->module_id] = true;
	json_stream_begin_list(&writing->json, "modules");
	for (uint32_t id = 0; id < count; id++) {
		const struct module *module = modules_at(modules, id);

		if (used[id])
			json_stream_put(&writing->json, NULL,
					json_pack("{s:o, s:o, s:o?}", "name",
						  json_stream_text(&writing->json, module->name),
						  "path",
						  json_stream_text(&writing->json, module->path),
						  "build_id", json_string(module->build_id)));
	}
	json_stream_end(&writing->json);
	free(used);
}

/* --- stacks ------------------------------------------------------------ */

static void
write_stacks(struct writing *writing)
{
	json_stream_begin_list(&writing->json, "stacks");
	for (size_t i = 0; i < view_row_count(writing->view); i++) {
		const struct view_row *row = view_row(writing->view, i);
		json_t *object = json_object(), *functions = json_array();

		json_object_set(object, "thread", writing->thread[row->thread]);
		json_add_process(writing->view, row->thread, object);
		json_add_state(object, row->state, row->syscall);
		if (row->gil != GIL_UNKNOWN)
			json_object_set_new(object, "gil", json_string(gil_word(row->gil)));
		json_object_set_new(object, "samples", json_integer(row->samples));
		json_object_update_new(object, weights(row->ns));
		for (size_t f = 0; f < row->depth; f++)
			json_array_append(functions, writing->function[row->function[f]]);
		json_object_set_new(object, "functions", functions);
		json_stream_put(&writing->json, NULL, object);
	}
	json_stream_end(&writing->json);
}

static void
json_write(const struct export_input *input, FILE *out)
{
	const size_t functions = view_function_count(input->view);
	const size_t threads = profile_thread_count(view_profile(input->view));
	struct writing writing = {
		.input = input,
		.view = input->view,
		.function = xcalloc(functions + 1, sizeof(*writing.function)),
		.thread = xcalloc(threads + 1, sizeof(*writing.thread)),
	};

	json_stream_open(&writing.json, out);
	json_stream_put(&writing.json, "schema", json_integer(SCHEMA));
	json_stream_put(&writing.json, "generator", json_string("wallsample"));
	json_stream_put(&writing.json, "target", json_process(&writing.json, input->process));
	report_json_processes(input, &writing.json);
	if (input->stats->runtimes[0] != '\0')
		json_stream_put(&writing.json, "runtime",
				json_stream_text(&writing.json, input->stats->runtimes));
	if (input->stats->unread[0] != '\0')
		json_stream_put(&writing.json, "runtimes_not_read",
				json_stream_text(&writing.json, input->stats->unread));
	write_sampling(&writing);
	write_cost(&writing);
	write_losses(&writing);
	write_work(&writing);
	write_total(&writing);
	report_json_first(input, &writing.json);
	write_parallelism(&writing);
	write_functions(&writing);
	write_threads(&writing);
	report_json_states(writing.view, &writing.json);
	report_json_green(writing.view, input->stats, &writing.json);
	report_json_waiting(writing.input, &writing.json);
	json_write_deadlocks(&writing.json, writing.view);
	report_json_gil(writing.view, &writing.json);
	write_modules(&writing);
	write_stacks(&writing);
	json_stream_close(&writing.json);
	for (size_t i = 0; i < functions; i++)
		json_decref(writing.function[i]);
	for (size_t i = 0; i < threads; i++)
		json_decref(writing.thread[i]);
	free(writing.function);
	free(writing.thread);
}

const struct exporter exporter_json = {
	.name = "json",
	.in_words = true,
	.help = "the whole report as data",
	.endings = "json",
	.noun = "report",
	.options = EXPORT_BY | EXPORT_BY_OTHER | EXPORT_SORT,
	.write = json_write,
	.write_diff = json_write_diff,
	.write_dump = json_write_dump,
	.write_causal = json_write_causal,
};
