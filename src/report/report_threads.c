/* SPDX-License-Identifier: MIT */
/*
 * report_threads.c - reports the time of each thread and task, and compares the states of a
 * runtime's tasks with those of its threads.
 */
#include <inttypes.h>

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"
#include "wallsample/analysis/task_table.h"

#define NAME_MOST 24 /* a thread's name has 15 bytes, but may need escapes */
#define TASK_NAME_MOST 40
/* A larger share of time without stacks gets an explanation. */
#define FAILED_MOST 0.05

/* --- names -------------------------------------------------------------------------------- */

bool
report_has_tasks(const struct export_input *input)
{
	const struct profile *profile = view_profile(input->view);

	for (size_t i = 0; i < view_row_count(input->view); i++)
		if (profile_thread(profile, view_row(input->view, i)->thread)->is_task)
			return true;
	return false;
}

/* "1,000 NOUNs main.taker" */
void
report_add_unit(struct strbuf *sb, const struct export_input *input, const struct thread_row *row)
{
	struct strbuf name;

	strbuf_init(&name);
	if (row->tasks > 1 && !row->uncounted) {
		quantity_add_count(sb, row->tasks);
		strbuf_add_text(sb, " ");
	}
	if (row->tasks > 0)
		view_add_unit(input->view, row->thread, &name);
	else
		view_add_name(input->view, row->thread, &name);
	if (name.length > 0)
		strbuf_add_escaped(sb, name.data);
	strbuf_release(&name);
}

/* --- tasks -------------------------------------------------------------------------------- */

/* "12.34", "1,234" */
static void
add_mean(struct strbuf *sb, double mean)
{
	if (mean >= 999.5)
		quantity_add_count(sb, (uint64_t)(mean + 0.5));
	else
		strbuf_add_format(sb, "%.2f", mean);
}

/* The mean number of tasks or threads: their time over the time that passed. */
static void
add_number(const struct report_table *table, int64_t ns, struct strbuf *out)
{
	const double span_ns = (double)profile_wall_ns(view_profile(table->view));

	if (ns > 0 && span_ns > 0)
		add_mean(out, (double)ns / span_ns);
	else
		strbuf_add_text(out, "-");
}

static void
add_task_number(const struct report_table *table, const void *row, struct strbuf *out)
{
	add_number(table, ((const struct task_table_row *)row)->tasks_ns, out);
}

static void
add_thread_number(const struct report_table *table, const void *row, struct strbuf *out)
{
	add_number(table, ((const struct task_table_row *)row)->threads_ns, out);
}

static void
add_task_share(const struct report_table *table, const void *row, struct strbuf *out)
{
	const int64_t ns = ((const struct task_table_row *)row)->tasks_ns;

	if (ns > 0)
		quantity_add_share(out, (double)ns, (double)table->whole);
	else
		strbuf_add_text(out, "-");
}

static void
add_doing_word(const struct report_table *table, const void *row, struct strbuf *out)
{
	(void)table;
	strbuf_add_text(out, task_doing_word(((const struct task_table_row *)row)->doing));
}

static void
add_reason(const struct report_table *table, const void *row, struct strbuf *out)
{
	(void)table;
	strbuf_add_text(out, ((const struct task_table_row *)row)->reason);
}

static void
add_doing(const struct report_table *table, const void *row, struct strbuf *out)
{
	const struct task_table_row *state = row;

	(void)table;
	strbuf_add_text(out, task_doing_text(state->doing));
	if (state->reason[0] != '\0')
		strbuf_add_format(out, ": %s", state->reason);
}

static const struct report_column task_columns[] = {
	{ NULL, "doing", COLUMN_TEXT, .text = add_doing_word },
	{ NULL, "reason", COLUMN_OPTIONAL, .text = add_reason },
	{ "tasks", NULL, COLUMN_TEXT, .text = add_task_number },
	{ "share", NULL, COLUMN_TEXT, .text = add_task_share },
	{ "threads", NULL, COLUMN_TEXT, .text = add_thread_number },
	{ "doing", NULL, COLUMN_TEXT, .text = add_doing, .left = true },
	{ NULL, "tasks_ns", COLUMN_TIME, .at = offsetof(struct task_table_row, tasks_ns) },
	{ NULL, "threads_ns", COLUMN_TIME, .at = offsetof(struct task_table_row, threads_ns) },
};

static struct report_table
describe_tasks(const struct view *view, const struct task_table *tasks, size_t limit)
{
	return REPORT_TABLE(task_columns, tasks->row, tasks->count, .limit = limit,
			    .one = "more row", .many = "more rows", .whole = tasks->tasks_ns,
			    .view = view);
}

/* "800 NOUNs on average, at most 912 at once that no thread ran." */
static void
add_seen(struct strbuf *sb, const struct export_input *input, const struct task_table *tasks)
{
	const struct profile *profile = view_profile(input->view);
	const struct run_stats *stats = input->stats;
	const double span_ns = (double)profile_wall_ns(profile);

	add_mean(sb, span_ns > 0 ? (double)tasks->tasks_ns / span_ns : 0);
	strbuf_add_text(sb, " ");
	strbuf_add_escaped(sb, profile_text(profile, profile_thread(profile, tasks->one)->name));
	strbuf_add_text(sb, "s on average");
	if (stats->tasks_most > 0 && !input->filtered) {
		strbuf_add_text(sb, ", at most ");
		quantity_add_count(sb, stats->tasks_most);
		strbuf_add_text(sb, " at once that no thread ran");
	}
	strbuf_add_text(sb, ".");
	if (stats->tasks_thinnest > 1)
		strbuf_add_format(sb,
				  " At times only one in %" PRIu32 " was sampled: a random "
				  "subset that changes from tick to tick, weighted accordingly.",
				  stats->tasks_thinnest);
}

static void
add_queue(struct strbuf *sb, const struct export_input *input)
{
	const struct profile *profile = view_profile(input->view);
	const double span_ns = (double)profile_wall_ns(profile);
	double cpu_ns = 0;

	for (size_t p = 0; p < profile_parallelism_count(profile); p++)
		cpu_ns += (double)profile_parallelism(profile, p)->cpu_ns;
	if (span_ns <= 0)
		return;
	strbuf_add_format(sb, " The scheduler's queue: on average %.2f tasks were ready, at most ",
			  profile_ready_ns(profile) / span_ns);
	quantity_add_count(sb, profile_ready_most(profile));
	strbuf_add_format(sb, ", while %.2f threads were on a CPU", cpu_ns / span_ns);
	if (input->stats->cpus > 0) {
		strbuf_add_text(sb, ", of ");
		quantity_add_things(sb, input->stats->cpus, "CPU", "CPUs");
	}
	strbuf_add_text(sb, ".");
}

static void
add_failures(struct strbuf *sb, const struct export_input *input, const struct task_table *tasks)
{
	const double whole = (double)tasks->tasks_ns;

	if (tasks->failed_ns <= 0)
		return;
	strbuf_add_text(sb, " ");
	quantity_add_share(sb, (double)tasks->failed_ns, whole);
	strbuf_add_text(sb, " of the tasks' time has no stack.");
	if ((double)tasks->finished_ns <= FAILED_MOST * whole || input->stats->rate_wanted <= 0)
		return;
	strbuf_add_text(sb, " ");
	quantity_add_share(sb, (double)tasks->finished_ns, whole);
	strbuf_add_text(sb, " belongs to tasks that had ended before their stacks could be read: "
			    "they live shorter than the ");
	quantity_add_time(sb, (int64_t)((double)NS_PER_SEC / input->stats->rate_wanted));
	strbuf_add_text(sb, " between two ticks.");
}

void
report_write_tasks(const struct export_input *input, struct page *page)
{
	struct task_table tasks;
	struct report_table table;
	struct strbuf sb;

	task_table_make(input->view, &tasks);
	if (tasks.count > 0) {
		strbuf_init(&sb);
		table = describe_tasks(input->view, &tasks, input->limit);
		page->ops->heading(page, "Tasks, and the threads that run them: how many at "
					 "a time");
		report_table_write(&table, page);
		add_seen(&sb, input, &tasks);
		if (!input->filtered)
			add_queue(&sb, input);
		add_failures(&sb, input, &tasks);
		page->ops->paragraph(page, sb.data);
		strbuf_release(&sb);
	}
	task_table_release(&tasks);
}

void
report_json_tasks(const struct view *view, const struct run_stats *stats,
		  struct json_stream *stream)
{
	const struct profile *profile = view_profile(view);
	const double span_ns = (double)profile_wall_ns(profile);
	struct task_table tasks;
	struct report_table table;

	task_table_make(view, &tasks);
	if (tasks.count > 0) {
		table = describe_tasks(view, &tasks, tasks.count);
		json_stream_put(stream, "scheduled",
				json_pack("{s:I, s:I, s:I, s:I, s:f, s:I, s:I, s:I, s:o}", "count",
					  (json_int_t)tasks.tasks, "system",
					  (json_int_t)tasks.system, "most",
					  (json_int_t)stats->tasks_most, "thinnest",
					  (json_int_t)stats->tasks_thinnest, "ready_mean",
					  span_ns > 0 ? profile_ready_ns(profile) / span_ns : 0,
					  "ready_most", (json_int_t)profile_ready_most(profile),
					  "failed_ns", (json_int_t)tasks.failed_ns, "finished_ns",
					  (json_int_t)tasks.finished_ns, "states",
					  report_table_json(&table, stream)));
	}
	task_table_release(&tasks);
}

/* --- threads ------------------------------------------------------------------------------ */

static const struct profile_thread *
thread_of(const struct report_table *table, const void *row)
{
	return profile_thread(view_profile(table->view), ((const struct thread_row *)row)->thread);
}

static void
add_tid(const struct report_table *table, const void *row, struct strbuf *out)
{
	if (!thread_of(table, row)->is_task)
		strbuf_add_format(out, "%jd", (intmax_t)thread_of(table, row)->tid);
}

static void
add_unit_name(const struct report_table *table, const void *row, struct strbuf *out)
{
	report_add_unit(out, table->context, row);
}

static void
add_top(const struct report_table *table, const void *row, struct strbuf *out)
{
	const uint32_t top = ((const struct thread_row *)row)->top;

	if (top < view_function_count(table->view))
		strbuf_add_text(out, view_function(table->view, top)->name);
}

void
report_write_threads(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	const struct report_column column[] = {
		{ "tid", NULL, COLUMN_TEXT, .text = add_tid },
		{ "name", NULL, COLUMN_TEXT, .text = add_unit_name, .left = true,
		  .most = tasks ? TASK_NAME_MOST : NAME_MOST },
		{ "running", NULL, COLUMN_SHARE, .at = offsetof(struct thread_row, runnable_ns),
		  .whole_at = offsetof(struct thread_row, ns[WEIGHT_WALL]) },
		{ "wall", NULL, COLUMN_TIME, .at = offsetof(struct thread_row, ns[WEIGHT_WALL]) },
		{ "mostly in", NULL, COLUMN_TEXT, .text = add_top, .left = true },
	};
	struct thread_table threads;

	thread_table_make_units(input->view, &threads);
	page->ops->heading(page, tasks ? "Tasks and threads; running includes waiting for a CPU" :
					 "Threads; running includes waiting for a CPU");
	report_table_write(&REPORT_TABLE(column, threads.row, threads.count, .limit = input->limit,
					 .one = tasks ? "more" : "more thread",
					 .many = tasks ? "more" : "more threads",
					 .view = input->view, .context = input),
			   page);
	thread_table_release(&threads);
}
