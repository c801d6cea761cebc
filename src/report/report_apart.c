/* SPDX-License-Identifier: MIT */
/* report_apart.c - writes a table of functions for each process, and for each thread and task. */
#include <inttypes.h>

#include "report/report_internal.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/analysis/process_table.h"
#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"

/* Maximum numbers of tables of processes, and of threads. */
#define TABLES_MOST 10

/* Maximum width in cells of a process's title, which may be a long command line. */
#define TITLE_MOST 60

/* Adds the label of a process, cut to TITLE_MOST cells. */
static void
add_label(struct strbuf *out, const char *label)
{
	struct strbuf shown = STRBUF_INIT;

	strbuf_add_escaped(&shown, label);
	display_add_fitted(out, shown.length > 0 ? shown.data : "", TITLE_MOST);
	strbuf_release(&shown);
}

/* --- threads ------------------------------------------------------------------------------ */

static void
write_thread_unit(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_green(input);

	page_write(page, page->ops->paragraph, "%s of each %s %s. 100%% is %s%s.",
		   report_key_words[view_key(input->view)].plural,
		   tasks ? "thread and of each task, or all that began with one function," :
			   "thread",
		   report_words_of(input, input->sort)->meaning,
		   tasks ? "their own time" : "the thread's own time",
		   input->filtered ? " in the samples shown" : "");
}

/* Writes "Thread 4250 (pool): 29.03s, 27.63% of it running; margin of error ±1.8% at 50%". */
static void
write_thread_title(const struct export_input *input, const struct thread_row *row,
		   struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const struct profile_thread *thread = profile_thread(profile, row->thread);
	struct strbuf process = STRBUF_INIT;
	const double ticks = margin_ticks(profile, &input->stats->division, input->sort,
					  row->ns[input->sort]);

	if (!thread->is_green)
		page_add(page, "Thread %jd (", (intmax_t)thread->tid);
	report_add_unit(&page->text, input, row);
	page_add(page, "%s", thread->is_green ? "" : ")");
	if (profile_process_count(profile) > 1) {
		page_add(page, " of ");
		process_add_label_of_thread(profile, row->thread, &process);
		add_label(&page->text, process.data);
		strbuf_release(&process);
	}
	page_add(page, ": %s, %s of it running", quantity_time(row->ns[WEIGHT_WALL]).text,
		 quantity_share((double)row->runnable_ns, (double)row->ns[WEIGHT_WALL]).text);
	if (ticks > 0)
		page_add(page, "; margin of error ±%s at 50%%",
			 quantity_percent(margin_of_share(0.5, ticks)).text);
	page_end(page, page->ops->heading);
}

/*
 * Writes a table of functions for each of the first TABLES_MOST threads and green tasks,
 * ordered by the time in which they ran or waited for a CPU, the longest first. If there are more
 * than 100 tasks, those that began with the same function share a table (view_unit()).
 */
static void
write_functions_by_thread(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_green(input);
	struct thread_table threads;

	thread_table_make_units(input->view, NULL, &threads);
	write_thread_unit(input, page);
	for (size_t i = 0; i < threads.count && i < TABLES_MOST; i++) {
		const struct thread_row *row = &threads.row[i];
		struct top_table top;

		top_table_make_thread(input->view, input->sort, row->thread, &top);
		write_thread_title(input, row, page);
		report_write_top(input, &top, row->ns, input->thread_limit, page);
		top_table_release(&top);
	}
	report_table_write_rest(page, page->ops->lead, threads.count, TABLES_MOST,
				tasks ? "" : "thread", tasks ? "" : "threads");
	thread_table_release(&threads);
}

/* --- processes ---------------------------------------------------------------------------- */

/* Sets total_ns to the time of the samples of a process. */
static void
sum_process(const struct view *view, uint32_t process, int64_t total_ns[WEIGHT_COUNT])
{
	for (int w = 0; w < WEIGHT_COUNT; w++)
		total_ns[w] = 0;
	for (size_t i = 0; i < view_row_count(view); i++)
		if (process_of_record(view_profile(view), view_row(view, i)->thread) == process)
			weights_add(total_ns, view_row(view, i)->ns);
}

/* Writes "Process 812 (nginx: worker process): 29.03s, 4.20s of CPU time; margin of error …". */
static void
write_process_title(const struct export_input *input, const struct process_row *row,
		    const int64_t *total_ns, struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const double ticks = margin_ticks(profile, &input->stats->division, input->sort,
					  total_ns[input->sort]);

	if (!row->is_unsampled)
		page_add(page, "Process %jd (",
			 (intmax_t)profile_process(profile, row->process)->pid);
	add_label(&page->text, row->title);
	page_add(page, "%s: %s, %s of CPU time", row->is_unsampled ? "" : ")",
		 quantity_time(row->wall_ns).text, quantity_time(row->cpu_ns).text);
	if (ticks > 0)
		page_add(page, "; margin of error ±%s at 50%%",
			 quantity_percent(margin_of_share(0.5, ticks)).text);
	page_end(page, page->ops->heading);
}

/* Writes a table of functions for each of the first TABLES_MOST processes, in the order of the
 * table of processes. */
static void
write_functions_by_process(const struct export_input *input, struct page *page)
{
	struct process_table processes;

	process_table_make_apart(input->view, &processes);
	page_write(page, page->ops->paragraph,
		   "%s of each process %s. 100%% is the process's own time%s.",
		   report_key_words[view_key(input->view)].plural,
		   report_words_of(input, input->sort)->meaning,
		   input->filtered ? " in the samples shown" : "");
	for (size_t i = 0; i < processes.count && i < TABLES_MOST; i++) {
		const struct process_row *row = &processes.row[i];
		const uint32_t process = row->is_unsampled ? PROCESS_NONE : row->process;
		int64_t total_ns[WEIGHT_COUNT];
		struct top_table top;

		sum_process(input->view, process, total_ns);
		top_table_make_process(input->view, input->sort, process, &top);
		write_process_title(input, row, total_ns, page);
		report_write_top(input, &top, total_ns, input->thread_limit, page);
		top_table_release(&top);
	}
	report_table_write_rest(page, page->ops->lead, processes.count, TABLES_MOST, "process",
				"processes");
	process_table_release(&processes);
}

void
report_write_apart(const struct export_input *input, struct page *page)
{
	if (input->by_process)
		write_functions_by_process(input, page);
	if (input->by_process && input->by_thread)
		page->ops->section(page, "Threads");
	if (input->by_thread)
		write_functions_by_thread(input, page);
}
