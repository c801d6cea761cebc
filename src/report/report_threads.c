/* SPDX-License-Identifier: MIT */
/*
 * report_threads.c - who did how much: threads, tasks that a runtime schedules, and what these
 * did side by side.
 */
#include <inttypes.h>

#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/analysis/result.h"
#include "wallsample/analysis/task_table.h"

#define NAME_MOST 24 /* a thread's name has 15 bytes, but may need escapes */
#define TASK_NAME_MOST 40
/* A larger share of time without stacks is explained. */
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
		strbuf_add_foreign(sb, name.data);
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

/* How many there are on average, of what is summed by time. */
static void
add_number_cell(struct columns *table, struct strbuf *sb, int64_t ns, double span_ns)
{
	strbuf_clear(sb);
	if (ns > 0 && span_ns > 0)
		add_mean(sb, (double)ns / span_ns);
	else
		strbuf_add_text(sb, "-");
	columns_add(table, sb->data);
}

static void
write_task_states(const struct export_input *input, const struct task_table *tasks,
		  struct page *page)
{
	static const struct column column[] = {
		{ "tasks", true, 0 },   { "share", true, 0 }, { "threads", true, 0 },
		{ "doing", false, 0 },
	};
	const double span_ns = (double)profile_wall_ns(view_profile(input->view));
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	for (size_t i = 0; i < tasks->count && i < input->limit; i++) {
		const struct task_table_row *row = &tasks->row[i];

		add_number_cell(&table, &sb, row->tasks_ns, span_ns);
		if (row->tasks_ns > 0)
			report_add_share_cell(&table, &sb, row->tasks_ns, tasks->tasks_ns);
		else
			columns_add(&table, "-");
		add_number_cell(&table, &sb, row->threads_ns, span_ns);
		strbuf_clear(&sb);
		strbuf_add_text(&sb, task_doing_text(row->doing));
		if (row->reason[0] != '\0') {
			strbuf_add_text(&sb, ": ");
			strbuf_add_foreign(&sb, row->reason);
		}
		columns_add(&table, sb.data);
	}
	page->ops->heading(page, "Tasks, and the threads that run them: how many at a time");
	page->ops->table(page, &table);
	report_write_rest(page, page->ops->rest, tasks->count, input->limit, "more row",
			  "more rows");
	columns_release(&table);
	strbuf_release(&sb);
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
	strbuf_add_foreign(sb, profile_text(profile, profile_thread(profile, tasks->one)->name));
	strbuf_add_text(sb, "s on average");
	if (stats->tasks_most > 0 && !input->filtered) {
		strbuf_add_text(sb, ", at most ");
		quantity_add_count(sb, stats->tasks_most);
		strbuf_add_text(sb, " at once that no thread ran");
	}
	strbuf_add_text(sb, ".");
	if (stats->tasks_thinnest > 1)
		strbuf_add_format(sb, " They were too many to look at each: at times only one in "
				  "%" PRIu32 ", a random subset that changes from tick to tick, "
				  "weighed to make up for it.", stats->tasks_thinnest);
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
	struct strbuf sb;

	task_table_make(input->view, &tasks);
	if (tasks.count > 0) {
		strbuf_init(&sb);
		write_task_states(input, &tasks, page);
		add_seen(&sb, input, &tasks);
		if (!input->filtered)
			add_queue(&sb, input);
		add_failures(&sb, input, &tasks);
		page->ops->paragraph(page, sb.data);
		strbuf_release(&sb);
	}
	task_table_release(&tasks);
}

/* --- threads ------------------------------------------------------------------------------ */

static void
add_cells(const struct export_input *input, struct columns *table, struct strbuf *sb,
	  const struct thread_row *row)
{
	const struct profile *profile = view_profile(input->view);
	const struct profile_thread *thread = profile_thread(profile, row->thread);

	strbuf_clear(sb);
	strbuf_add_text(sb, "");
	if (!thread->is_task)
		strbuf_add_format(sb, "%jd", (intmax_t)thread->tid);
	columns_add(table, sb->data);
	strbuf_clear(sb);
	strbuf_add_text(sb, "");
	report_add_unit(sb, input, row);
	columns_add(table, sb->data);
	report_add_share_cell(table, sb, row->runnable_ns, row->ns[WEIGHT_WALL]);
	report_add_time_cell(table, sb, row->ns[WEIGHT_WALL]);
	strbuf_clear(sb);
	strbuf_add_text(sb, "");
	if (row->top < view_function_count(input->view))
		strbuf_add_foreign(sb, view_function(input->view, row->top)->name);
	columns_add(table, sb->data);
}

void
report_write_threads(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	const struct column column[] = {
		{ "tid", true, 0 },  { "name", false, tasks ? TASK_NAME_MOST : NAME_MOST },
		{ "running", true, 0 }, { "wall", true, 0 }, { "mostly in", false, 0 },
	};
	struct columns table;
	struct thread_table threads;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	thread_table_make_units(input->view, &threads);
	for (size_t i = 0; i < threads.count && i < input->limit; i++)
		add_cells(input, &table, &sb, &threads.row[i]);
	page->ops->heading(page, tasks ? "Tasks and threads; running includes waiting for a CPU" :
					 "Threads; running includes waiting for a CPU");
	page->ops->table(page, &table);
	if (tasks)
		report_write_rest(page, page->ops->rest, threads.count, input->limit, "more",
				  "more");
	else
		report_write_rest(page, page->ops->rest, threads.count, input->limit,
				  "more thread", "more threads");
	thread_table_release(&threads);
	columns_release(&table);
	strbuf_release(&sb);
}
