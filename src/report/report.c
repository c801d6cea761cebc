/* SPDX-License-Identifier: MIT */
/*
 * report.c - the report for people: what was sampled, functions, states, threads.
 */
#include "wallsample/report/report.h"

#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "wallsample/report/display.h"
#include "wallsample/report/quantity.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/analysis/result.h"
#include "wallsample/thread/state.h"

#define THREAD_TABLES_MOST 10
/* Below this width there is one weight and no parallelism: names come first. */
#define NARROW 70
/* From this width on each share has its margin of error beside it. */
#define WIDE 120
/* Rows of the table of an interpreted program's own functions, which stands before the others. */
#define PROGRAM_ROWS 10
#define SCRIPT_TITLE "The program's own, each with the native code that it called"
#define LIBRARY_TITLE "The program's own, each with the library's code that it called"

/* --- header -------------------------------------------------------------------------- */

/* "the process exited with status 3", when that is why sampling ended. */
static void
add_end(struct strbuf *sb, const struct export_input *input)
{
	const struct run_stats *stats = input->stats;

	strbuf_add_text(sb, "The process exited while it was sampled");
	if (stats->child_exited && WIFEXITED(stats->child_status))
		strbuf_add_format(sb, ", with status %d", WEXITSTATUS(stats->child_status));
	else if (stats->child_exited && WIFSIGNALED(stats->child_status))
		strbuf_add_format(sb, ", killed by signal %d (%s)", WTERMSIG(stats->child_status),
				  strsignal(WTERMSIG(stats->child_status)));
	strbuf_add_text(sb, ".");
}

static void
write_command(const struct export_input *input, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_foreign(&sb, input->process->cmdline);
	page->ops->line(page, "Command", sb.data);
	strbuf_release(&sb);
}

static void
write_header(const struct export_input *input, struct page *page)
{
	const struct run_stats *stats = input->stats;
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%jd (", (intmax_t)input->process->pid);
	strbuf_add_foreign(&sb, input->process->comm);
	strbuf_add_text(&sb, ")");
	page->ops->field(page, "Process", sb.data);
	write_command(input, page);
	if (stats->runtimes[0] != '\0') {
		strbuf_clear(&sb);
		strbuf_add_foreign(&sb, stats->runtimes);
		page->ops->field(page, "Runtime", sb.data);
	}

	strbuf_clear(&sb);
	quantity_add_count(&sb, stats->threads_seen);
	strbuf_add_text(&sb, " seen, at most ");
	quantity_add_count(&sb, stats->threads_most);
	strbuf_add_text(&sb, " at once");
	page->ops->field(page, "Threads", sb.data);
	if (stats->tasks_seen > 0 && report_has_tasks(input)) {
		strbuf_clear(&sb);
		quantity_add_count(&sb, stats->tasks_seen);
		strbuf_add_text(&sb, " seen, at most ");
		quantity_add_count(&sb, stats->tasks_most);
		strbuf_add_text(&sb, " at once without a thread");
		page->ops->field(page, "Tasks", sb.data);
	}

	strbuf_clear(&sb);
	quantity_add_time(&sb, (int64_t)stats->elapsed_ns);
	strbuf_add_text(&sb, " at ");
	quantity_add_rate(&sb, stats->rate_wanted);
	page->ops->field(page, "Sampled", sb.data);

	if (input->note != NULL) {
		strbuf_clear(&sb);
		strbuf_add_foreign(&sb, input->note);
		page->ops->field(page, "Recorded", sb.data);
	}
	if (input->part != NULL)
		page->ops->field(page, "Only", input->part);
	if (input->filtered) {
		strbuf_clear(&sb);
		quantity_add_share(&sb, (double)view_total_ns(input->view, WEIGHT_WALL),
				   (double)view_unfiltered_ns(input->view));
		strbuf_add_text(&sb, " of what was sampled, as selected by options");
		page->ops->field(page, "Shown", sb.data);
	}
	strbuf_clear(&sb);
	if (input->snapshot)
		strbuf_add_text(&sb, "Sampling goes on: this is what there is so far.");
	else if (input->end == RUN_END_EXITED)
		add_end(&sb, input);
	if (sb.length > 0)
		page->ops->field(page, "Note", sb.data);
	strbuf_release(&sb);
}

/* --- tables ------------------------------------------------------------------------------ */

static size_t
shown(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

/* --- functions ---------------------------------------------------------------------------- */

/* Where there are tasks, Wall is theirs, too. */
static const char *
meaning_of(const struct export_input *input, enum weight weight)
{
	return weight == WEIGHT_WALL && report_has_tasks(input) ?
		       "by Wall: the time that tasks and threads spent in them, running or not" :
		       report_weight_words[weight].meaning;
}

static const char *
noun_of(const struct export_input *input, enum weight weight)
{
	return weight == WEIGHT_WALL && report_has_tasks(input) ?
		       "of Wall (all tasks and threads together)" :
		       report_weight_words[weight].noun;
}

/* What 100 % is, in this report's own numbers. */
static void
write_unit(const struct export_input *input, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	if (view_is_blame(input->view)) {
		strbuf_add_format(&sb,
				  "%s of those who had what others waited for, by the time that "
				  "these waited. 100%% is ",
				  report_key_words[view_key(input->view)].plural);
		quantity_add_time(&sb, view_total_ns(input->view, WEIGHT_WALL));
		strbuf_add_text(&sb, " of all waiters together.");
		page->ops->paragraph(page, sb.data);
		strbuf_release(&sb);
		return;
	}
	strbuf_add_format(&sb, "%s %s. 100%% is ", report_key_words[view_key(input->view)].plural,
			  meaning_of(input, input->sort));
	for (int w = 0; w < WEIGHT_COUNT; w++) {
		quantity_add_time(&sb, view_total_ns(input->view, (enum weight)w));
		strbuf_add_format(&sb, " %s%s", noun_of(input, (enum weight)w),
				  w + 1 < WEIGHT_COUNT ? ", " : "");
	}
	strbuf_add_text(&sb, input->filtered ? ", of the samples shown." : ".");
	report_add_margins(&sb, input);
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

/* The weight that the table is sorted by, then the others. */
static enum weight
weight_at(enum weight sort, int place)
{
	return place == 0 ? sort : (enum weight)(place <= (int)sort ? place - 1 : place);
}

/* How a table of functions is laid out, and what its shares are of. */
struct top_layout {
	enum weight sort;
	const int64_t *total_ns;
	double ticks; /* what they are worth */
	bool narrow, wide;
};

static void
add_top_row(struct columns *table, struct strbuf *sb, const struct top_row *row,
	    const struct top_layout *layout)
{
	const enum weight sort = layout->sort;
	const int64_t *total_ns = layout->total_ns;

	report_add_time_cell(table, sb, row->flat[sort]);
	report_add_share_cell(table, sb, row->flat[sort], total_ns[sort]);
	if (layout->wide)
		report_add_margin_cell(table, sb, row->flat[sort], total_ns[sort], layout->ticks);
	report_add_share_cell(table, sb, row->cum[sort], total_ns[sort]);
	if (layout->narrow)
		return;
	for (int place = 1; place < WEIGHT_COUNT; place++) {
		enum weight other = weight_at(sort, place);

		report_add_share_cell(table, sb, row->flat[other], total_ns[other]);
	}
	report_add_parallelism_cell(table, sb, row->cum[WEIGHT_OVERHEAD], row->busy_ns);
}

/* Fills `column`, which has room for COLUMNS_MAX; returns how many there are. */
static size_t
top_columns(const struct top_layout *layout, enum view_key key, struct column *column)
{
	size_t count = 0;

	column[count++] = (struct column){ report_weight_words[layout->sort].title, true, 0 };
	column[count++] = (struct column){ report_weight_words[layout->sort].share, true, 0 };
	if (layout->wide)
		column[count++] = (struct column){ "margin", true, 0 };
	column[count++] = (struct column){ "cum%", true, 0 };
	for (int place = 1; !layout->narrow && place < WEIGHT_COUNT; place++)
		column[count++] = (struct column){
			report_weight_words[weight_at(layout->sort, place)].share, true, 0 };
	if (!layout->narrow)
		column[count++] = (struct column){ "par", true, 0 };
	column[count++] = (struct column){ report_key_words[key].title, false, 0 };
	return count;
}

/* The first `limit` rows; shares are those of `total_ns`. */
static void
write_top(const struct export_input *input, const struct top_table *top, const int64_t *total_ns,
	  size_t limit, struct page *page)
{
	const enum view_key key = view_key(input->view);
	const struct top_layout layout = {
		.sort = input->sort,
		.total_ns = total_ns,
		.ticks = margin_ticks(view_profile(input->view), input->sort,
				      total_ns[input->sort]),
		/* who is to blame has one weight */
		.narrow = page->width < NARROW || view_is_blame(input->view),
		.wide = page->width >= WIDE && !view_is_blame(input->view),
	};
	struct column column[COLUMNS_MAX];
	struct columns table;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, top_columns(&layout, key, column));
	for (size_t i = 0; i < shown(top->count, limit); i++) {
		add_top_row(&table, &sb, &top->row[i], &layout);
		report_add_function_cell(&table, view_function(input->view, top->row[i].function));
	}
	page->ops->table(page, &table);
	report_write_rest(page, page->ops->rest, top->count, limit, report_key_words[key].one,
		   report_key_words[key].many);
	columns_release(&table);
	strbuf_release(&sb);
}

static bool
has_scripts(const struct view *view)
{
	for (uint32_t i = 0; i < view_function_count(view); i++)
		if (view_function(view, i)->script)
			return true;
	return false;
}

static void
write_functions(const struct export_input *input, struct page *page)
{
	int64_t total_ns[WEIGHT_COUNT];
	struct top_table top;

	for (int w = 0; w < WEIGHT_COUNT; w++)
		total_ns[w] = view_total_ns(input->view, (enum weight)w);
	write_unit(input, page);
	top_table_make_program(input->view, input->sort, &top);
	if (top.count > 0 && !view_key_is_of_sample(view_key(input->view))) {
		page->ops->heading(page, has_scripts(input->view) ? SCRIPT_TITLE :
							  LIBRARY_TITLE);
		write_top(input, &top, total_ns, shown(PROGRAM_ROWS, input->limit), page);
		page->ops->heading(page, "All, each by itself");
	}
	top_table_release(&top);
	top_table_make(input->view, input->sort, &top);
	write_top(input, &top, total_ns, input->limit, page);
	top_table_release(&top);
}

static void
write_thread_unit(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "%s of each %s %s. 100%% is %s%s.",
			  report_key_words[view_key(input->view)].plural,
			  tasks ? "thread and of each task, or all that began with one function,"
				: "thread",
			  meaning_of(input, input->sort),
			  tasks ? "their own time" : "the thread's own time",
			  input->filtered ? " in the samples shown" : "");
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

/* "Thread 4250 (pool): 29.03s, 27.63% of it running; a half is sure to ±1.8%" */
static void
write_thread_title(const struct export_input *input, const struct thread_row *row,
		   struct page *page)
{
	const struct profile *profile = view_profile(input->view);
	const struct profile_thread *thread = profile_thread(profile, row->thread);
	struct strbuf sb;

	strbuf_init(&sb);
	if (!thread->is_task)
		strbuf_add_format(&sb, "Thread %jd (", (intmax_t)thread->tid);
	report_add_unit(&sb, input, row);
	strbuf_add_text(&sb, thread->is_task ? ": " : "): ");
	quantity_add_time(&sb, row->ns[WEIGHT_WALL]);
	strbuf_add_text(&sb, ", ");
	quantity_add_share(&sb, (double)row->runnable_ns, (double)row->ns[WEIGHT_WALL]);
	strbuf_add_text(&sb, " of it running");
	report_add_margin_of_half(&sb, input, row->ns[input->sort]);
	page->ops->heading(page, sb.data);
	strbuf_release(&sb);
}

/* The same with a table for each thread, those that ran most first. */
static void
write_functions_by_thread(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_tasks(input);
	struct thread_table threads;

	thread_table_make_units(input->view, &threads);
	write_thread_unit(input, page);
	for (size_t i = 0; i < shown(threads.count, THREAD_TABLES_MOST); i++) {
		const struct thread_row *row = &threads.row[i];
		struct top_table top;

		top_table_make_thread(input->view, input->sort, row->thread, &top);
		write_thread_title(input, row, page);
		write_top(input, &top, row->ns, input->thread_limit, page);
		top_table_release(&top);
	}
	report_write_rest(page, page->ops->lead, threads.count, THREAD_TABLES_MOST,
			  tasks ? "more" : "more thread", tasks ? "more" : "more threads");
	thread_table_release(&threads);
}

/* --- states --------------------------------------------------------------------------------- */

static void
write_states(const struct export_input *input, struct page *page)
{
	static const struct column column[] = {
		{ "wall", true, 0 },
		{ "wall%", true, 0 },
		{ "state", false, 0 },
	};
	struct columns table;
	struct state_table states;
	struct strbuf sb;

	strbuf_init(&sb);
	columns_init(&table, column, ARRAY_SIZE(column));
	state_table_make(input->view, &states);
	for (size_t i = 0; i < shown(states.count, input->limit); i++) {
		report_add_time_cell(&table, &sb, states.row[i].ns[WEIGHT_WALL]);
		report_add_share_cell(&table, &sb, states.row[i].ns[WEIGHT_WALL],
				    view_total_ns(input->view, WEIGHT_WALL));
		strbuf_clear(&sb);
		run_state_add(&sb, states.row[i].state, states.row[i].syscall);
		columns_add(&table, sb.data);
	}
	page->ops->heading(page, report_has_tasks(input) ? "What tasks and threads were doing" :
							   "What the threads were doing");
	page->ops->table(page, &table);
	report_write_rest(page, page->ops->rest, states.count, input->limit, "more state",
		   "more states");
	state_table_release(&states);
	columns_release(&table);
	strbuf_release(&sb);
}

/* --- the whole -------------------------------------------------------------------------------- */

void
report_write(const struct export_input *input, struct page *page)
{
	if (page->in_words) {
		report_write_summary(input, page);
		page->ops->heading(page, "What was sampled");
	}
	write_header(input, page);
	report_write_deadlocks(input->view, page);
	page->ops->section(page, report_key_words[view_key(input->view)].plural);
	if (view_row_count(input->view) > 0) {
		if (input->by_thread)
			write_functions_by_thread(input, page);
		else
			write_functions(input, page);
		if (input->focus != NULL)
			report_write_focus(input, page);
		if (input->tree > 0)
			report_write_tree(input, page);
		if (!view_is_blame(input->view)) {
			report_write_parallelism(input, page);
			write_states(input, page);
			report_write_tasks(input, page);
		}
		report_write_waiting(input, page);
		if (!view_is_blame(input->view)) {
			report_write_gil(input, page);
			report_write_threads(input, page);
		}
	} else {
		page->ops->paragraph(page, view_unfiltered_ns(input->view) > 0 ?
						   "No sample was selected." :
						   "There are no samples.");
	}
	report_write_cost(input, page);
}
