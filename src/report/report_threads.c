/* SPDX-License-Identifier: MIT */
/*
 * report_threads.c - reports the time of each thread and task, and compares the states of a
 * runtime's tasks with those of its threads. In this file "task" means a green task (green_task.h).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/green_table.h"

/* Maximum width in cells of a thread's name, which has up to 15 bytes but may need escapes. */
#define NAME_MOST 24
/* Maximum width in cells of a name in a table that has tasks, whose labels are longer. */
#define GREEN_NAME_MOST 40
/*
 * The time of tasks that ended before their stacks could be read is mentioned if it exceeds this
 * share of the time of all tasks.
 */
#define FAILED_MOST 0.05

/* --- names -------------------------------------------------------------------------------- */

bool
report_has_green(const struct export_input *input)
{
	const struct profile *profile = view_profile(input->view);

	for (size_t i = 0; i < view_row_count(input->view); i++)
		if (profile_thread(profile, view_row(input->view, i)->thread)->is_green)
			return true;
	return false;
}

void
report_add_unit(struct strbuf *sb, const struct export_input *input, const struct thread_row *row)
{
	if (row->green_count > 1 && !row->uncounted)
		strbuf_add_format(sb, "%s ", quantity_count(row->green_count).text);
	if (row->green_count > 0)
		view_add_unit(input->view, row->thread, sb);
	else
		view_add_name(input->view, row->thread, sb);
}

/* --- tasks -------------------------------------------------------------------------------- */

/*
 * Adds a mean number of tasks or threads, their summed time divided by the elapsed time: "12.34" or
 * "1,234".
 */
static void
add_mean(struct strbuf *sb, int64_t ns, double span_ns)
{
	const double mean = span_ns > 0 ? (double)ns / span_ns : 0;

	if (mean >= 999.5)
		strbuf_add_text(sb, quantity_count((uint64_t)(mean + 0.5)).text);
	else
		strbuf_add_format(sb, "%.2f", mean);
}

/* Adds the mean number of tasks or threads whose summed time is at column->at; "-" if that is 0. */
static void
add_number(const struct report_cell *cell, struct strbuf *out)
{
	const double span_ns = (double)profile_wall_ns(view_profile(cell->table->view));
	const int64_t ns = *(const int64_t *)report_cell_value(cell);

	if (ns > 0 && span_ns > 0)
		add_mean(out, ns, span_ns);
	else
		strbuf_add_text(out, "-");
}

static void
add_green_share(const struct report_cell *cell, struct strbuf *out)
{
	const double ns = (double)*(const int64_t *)report_cell_value(cell);

	strbuf_add_text(out, ns > 0 ? quantity_share(ns, (double)cell->table->whole).text : "-");
}

static void
add_doing_word(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, green_doings[((const struct green_table_row *)cell->row)->doing].word);
}

static void
add_doing(const struct report_cell *cell, struct strbuf *out)
{
	const struct green_table_row *state = cell->row;

	strbuf_add_format(out, "%s%s%s", green_doings[state->doing].text,
			  state->reason[0] != '\0' ? ": " : "", state->reason);
}

#define AT(type, member) offsetof(struct type, member)

static const struct report_column green_columns[] = {
	{ NULL, "doing", COLUMN_TEXT, .text = add_doing_word },
	{ NULL, "reason", COLUMN_OPTIONAL, .at = AT(green_table_row, reason) },
	{ "tasks", NULL, COLUMN_TEXT, .at = AT(green_table_row, green_ns), .text = add_number },
	{ "share", NULL, COLUMN_TEXT, .at = AT(green_table_row, green_ns),
	  .text = add_green_share },
	{ "threads", NULL, COLUMN_TEXT, .at = AT(green_table_row, threads_ns), .text = add_number },
	{ "doing", NULL, COLUMN_TEXT, .text = add_doing, .left = true },
	{ NULL, "tasks_ns", COLUMN_TIME, .at = AT(green_table_row, green_ns) },
	{ NULL, "threads_ns", COLUMN_TIME, .at = AT(green_table_row, threads_ns) },
};

static struct report_table
describe_green(const struct view *view, const struct green_table *tasks, size_t limit)
{
	return REPORT_TABLE(green_columns, tasks->row, tasks->count, .limit = limit, .one = "row",
			    .many = "rows", .whole = tasks->green_ns, .view = view);
}

/*
 * Adds "800.00 NOUNs on average, at most 912 at once that no thread ran." NOUN is the runtime's
 * word for a task. The maximum is left out if options have selected a part of the samples. A
 * sentence follows if not all tasks were sampled at each tick.
 */
static void
add_seen(const struct export_input *input, const struct green_table *tasks, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const struct run_stats *stats = input->stats;

	add_mean(&page->text, tasks->green_ns, (double)profile_wall_ns(profile));
	page_add(page, " %ss on average",
		 profile_text(profile, profile_thread(profile, tasks->one)->name));
	if (stats->green_most > 0 && !input->filtered)
		page_add(page, ", at most %s at once that no thread ran",
			 quantity_count(stats->green_most).text);
	page_add(page, ".");
	if (stats->green_thinnest > 1)
		page_add(page,
			 " At times only one in %" PRIu32 " was sampled: a random subset that "
			 "changes from tick to tick, weighted accordingly.",
			 stats->green_thinnest);
}

static void
add_queue(const struct export_input *input, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const double span_ns = (double)profile_wall_ns(profile);
	double cpu_ns = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++)
		cpu_ns += (double)profile_parallelism(profile, p)->cpu_ns;
	if (span_ns <= 0)
		return;
	page_add(page,
		 " The scheduler's queue: on average %.2f tasks were ready, at most %s, while %.2f "
		 "threads were on a CPU",
		 profile_ready_ns(profile) / span_ns,
		 quantity_count(profile_ready_most(profile)).text, cpu_ns / span_ns);
	if (input->stats->cpus > 0)
		page_add(page, ", of %s", quantity_things(input->stats->cpus, "CPU", "CPUs").text);
	page_add(page, ".");
}

static void
add_failures(const struct export_input *input, const struct green_table *tasks, struct page *page)
{
	const double whole = (double)tasks->green_ns, rate = input->stats->rate_wanted;

	if (tasks->failed_ns <= 0)
		return;
	page_add(page, " %s of the tasks' time has no stack.",
		 quantity_share((double)tasks->failed_ns, whole).text);
	if ((double)tasks->finished_ns > FAILED_MOST * whole && rate > 0)
		page_add(page,
			 " %s belongs to tasks that had ended before their stacks could be read: "
			 "they live shorter than the %s between two ticks.",
			 quantity_share((double)tasks->finished_ns, whole).text,
			 quantity_time((int64_t)((double)NS_PER_SEC / rate)).text);
}

void
report_write_green(const struct export_input *input, struct page *page)
{
	struct green_table tasks;
	struct report_table table;

	green_table_make(input->view, &tasks);
	if (tasks.count > 0) {
		table = describe_green(input->view, &tasks, input->limit);
		page->ops->heading(page, "Tasks, and the threads that run them: how many at "
					 "a time");
		report_table_write(&table, page);
		add_seen(input, &tasks, page);
		if (!input->filtered)
			add_queue(input, page);
		add_failures(input, &tasks, page);
		page_end(page, page->ops->paragraph);
	}
	free(tasks.row);
}

void
report_json_green(const struct view *view, const struct run_stats *stats,
		  struct json_stream *stream)
{
	const struct profile *profile = view_profile(view);
	const double span_ns = (double)profile_wall_ns(profile);
	struct green_table tasks;
	struct report_table table;

	green_table_make(view, &tasks);
	if (tasks.count > 0) {
		table = describe_green(view, &tasks, tasks.count);
		json_stream_put(stream, "scheduled",
				json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "count",
					  (json_int_t)tasks.green_count, "system",
					  (json_int_t)tasks.system, "most",
					  (json_int_t)stats->green_most, "thinnest",
					  (json_int_t)stats->green_thinnest, "ready_mean",
					  span_ns > 0 ? profile_ready_ns(profile) / span_ns : 0,
					  "ready_most", (json_int_t)profile_ready_most(profile),
					  "failed_ns", (json_int_t)tasks.failed_ns, "finished_ns",
					  (json_int_t)tasks.finished_ns, "states",
					  report_table_json(&table, stream)));
	}
	free(tasks.row);
}

/* --- threads ------------------------------------------------------------------------------ */

static void
add_tid(const struct report_cell *cell, struct strbuf *out)
{
	const uint32_t thread = ((const struct thread_row *)cell->row)->thread;
	const struct profile_thread *of = profile_thread(view_profile(cell->table->view), thread);

	if (!of->is_green)
		strbuf_add_format(out, "%jd", (intmax_t)of->tid);
}

static void
add_unit_name(const struct report_cell *cell, struct strbuf *out)
{
	report_add_unit(out, cell->table->context, cell->row);
}

static void
add_top(const struct report_cell *cell, struct strbuf *out)
{
	const uint32_t top = ((const struct thread_row *)cell->row)->top;

	if (top < view_function_count(cell->table->view))
		strbuf_add_text(out, view_function(cell->table->view, top)->label);
}

void
report_write_threads(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_green(input);
	const struct report_column column[] = {
		{ "tid", NULL, COLUMN_TEXT, .text = add_tid },
		{ "name", NULL, COLUMN_TEXT, .text = add_unit_name, .left = true,
		  .most = tasks ? GREEN_NAME_MOST : NAME_MOST },
		{ "runnable", NULL, COLUMN_SHARE, .at = AT(thread_row, runnable_ns),
		  .whole_at = AT(thread_row, ns[WEIGHT_WALL]) },
		{ "wall", NULL, COLUMN_TIME, .at = AT(thread_row, ns[WEIGHT_WALL]) },
		{ "mostly in", NULL, COLUMN_TEXT, .text = add_top, .left = true },
	};
	const bool code = view_key_is_of_function(view_key(input->view));
	struct own own = { .rank = NULL };
	struct thread_table threads;

	if (code)
		own_make(input->view, input->modules, &own);
	thread_table_make_units(input->view, code ? &own : NULL, &threads);
	page->ops->heading(page,
			   tasks ? "Tasks and threads (runnable = running or waiting for a CPU)" :
				   "Threads (runnable = running or waiting for a CPU)");
	report_table_write(&REPORT_TABLE(column, threads.row, threads.count, .limit = input->limit,
					 .one = tasks ? "" : "thread",
					 .many = tasks ? "" : "threads", .view = input->view,
					 .context = input),
			   page);
	thread_table_release(&threads);
	own_release(&own);
}
