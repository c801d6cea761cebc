/* SPDX-License-Identifier: MIT */
/*
 * report.c - writes a report: its tables of functions and its states. Calls the writers of the
 * other parts (report_internal.h) in the order of the report.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "wallsample/report/quantity.h"
#include "wallsample/analysis/margin.h"
#include "wallsample/thread/state.h"
#include "report/first_internal.h"

#define THREAD_TABLES_MOST 10
/* Pages of fewer cells than this show one weight and no parallelism, to leave room for names. */
#define NARROW 70
/* Minimum width in cells of a page with the margin of error of each function's own time. */
#define WIDE 120
/* Maximum number of rows of the first table, which has the program's own functions. */
#define PROGRAM_ROWS 10
/* Maximum numbers of causes and of places in a whole report. */
#define CAUSES_MOST 20
#define PLACES_MOST 10
#define SCRIPT_TITLE "Your functions, including the native code they call"
#define LIBRARY_TITLE "Your functions, including the library code they call"

/* --- functions ---------------------------------------------------------------------------- */

static size_t
shown(size_t count, size_t limit)
{
	return count < limit ? count : limit;
}

/*
 * Returns the words for a weight, of which callers use `meaning` and `noun`. If green tasks of a
 * runtime were sampled, Wall includes the time of tasks, and the words for Wall say so; their other
 * members are NULL.
 */
static const struct report_weight_words *
words_of(const struct export_input *input, enum weight weight)
{
	static const struct report_weight_words wall_with_green = {
		.meaning = "by Wall: the time that tasks and threads spent in them, running or not",
		.noun = "of Wall (all tasks and threads together)",
	};

	return weight == WEIGHT_WALL && report_has_green(input) ? &wall_with_green :
								  &report_weight_words[weight];
}

/* Adds the margins of error that a share of 1%, of 10% and of 50% would have. */
static void
add_margins(const struct export_input *input, struct page *page)
{
	static const double shares[] = { 0.01, 0.10, 0.50 };
	const double ticks = margin_ticks(view_profile(input->view), &input->stats->division,
					  input->sort, view_total_ns(input->view, input->sort));

	for (size_t i = 0; ticks > 0 && i < ARRAY_SIZE(shares); i++)
		page_add(page, "%s%.1f%s at %.0f%%", i == 0 ? ". Margins of error (95%): ±" : ", ±",
			 100 * margin_of_share(shares[i], ticks), i == 0 ? " points" : "",
			 100 * shares[i]);
}

/*
 * Writes by which weight the table is ordered, and which time is 100% for each weight. For lock
 * holders, whose only weight is the time of waiters, writes that time.
 */
static void
write_unit(const struct export_input *input, struct page *page)
{
	const char *plural = report_key_words[view_key(input->view)].plural;

	if (view_is_blame(input->view)) {
		page_write(page, page->ops->paragraph,
			   "%s of lock holders and awaited processes, weighted by the time others "
			   "waited. 100%% is %s of all waiters together.",
			   plural, quantity_time(view_total_ns(input->view, WEIGHT_WALL)).text);
		return;
	}
	page_add(page, "%s %s. 100%% is ", plural, words_of(input, input->sort)->meaning);
	for (int w = 0; w < WEIGHT_COUNT; w++)
		page_add(page, "%s%s %s", w > 0 ? ", " : "",
			 quantity_time(view_total_ns(input->view, (enum weight)w)).text,
			 words_of(input, (enum weight)w)->noun);
	if (input->filtered)
		page_add(page, ", of the samples shown");
	add_margins(input, page);
	page_write(page, page->ops->paragraph, ".");
}

/* Returns `sort` for place 0, and for the places 1 and 2 the other two weights. */
static enum weight
weight_at(enum weight sort, int place)
{
	return place == 0 ? sort : (enum weight)(place <= (int)sort ? place - 1 : place);
}

/*
 * Adds the margin of error of a share. The context of the table is a double: the number of
 * independent samples (see margin.h).
 */
static void
add_margin(const struct report_cell *cell, struct strbuf *out)
{
	const int64_t flat = *(const int64_t *)report_cell_value(cell);
	const double whole = (double)cell->table->whole;
	const double share = whole > 0 ? (double)flat / whole : 0;
	const double ticks = *(const double *)cell->table->context;

	strbuf_add_format(out, "±%s", quantity_share(margin_of_share(share, ticks), 1).text);
}

static void
add_parallelism(const struct report_cell *cell, struct strbuf *out)
{
	const struct top_row *row = cell->row;

	report_add_parallelism(out, row->cum[WEIGHT_CPU], row->busy_ns);
}

#define FLAT(weight) (offsetof(struct top_row, flat) + (size_t)(weight) * sizeof(int64_t))
#define CUM(weight) (offsetof(struct top_row, cum) + (size_t)(weight) * sizeof(int64_t))

/* Writes the first `limit` rows of `top`. total_ns[weight] is 100% of the shares of a weight. */
static void
write_top(const struct export_input *input, const struct top_table *top, const int64_t *total_ns,
	  size_t limit, struct page *page)
{
	const enum weight sort = input->sort, second = weight_at(sort, 1),
			  third = weight_at(sort, 2);
	const struct report_key_words *key = &report_key_words[view_key(input->view)];
	/* Minimum widths of a page with the other two weights and the parallelism (`narrow`), and
	 * with the margin (`wide`). Tables of lock holders have one weight only, the time that
	 * others waited, and never have these columns. */
	const bool blame = view_is_blame(input->view);
	const size_t narrow = blame ? SIZE_MAX : NARROW, wide = blame ? SIZE_MAX : WIDE;
	const struct report_column column[] = {
		{ report_weight_words[sort].title, NULL, COLUMN_TIME, .at = FLAT(sort) },
		{ report_weight_words[sort].share, NULL, COLUMN_SHARE, .at = FLAT(sort) },
		{ "margin", NULL, COLUMN_TEXT, .at = FLAT(sort), .text = add_margin,
		  .from_width = wide },
		{ "cum%", NULL, COLUMN_SHARE, .at = CUM(sort) },
		{ report_weight_words[second].share, NULL, COLUMN_SHARE, .at = FLAT(second),
		  .whole = total_ns[second], .from_width = narrow },
		{ report_weight_words[third].share, NULL, COLUMN_SHARE, .at = FLAT(third),
		  .whole = total_ns[third], .from_width = narrow },
		{ "par", NULL, COLUMN_TEXT, .text = add_parallelism, .from_width = narrow },
		{ key->title, NULL, COLUMN_FUNCTION, .at = offsetof(struct top_row, function),
		  .left = true },
	};
	const double ticks = margin_ticks(view_profile(input->view), &input->stats->division, sort,
					  total_ns[sort]);

	report_table_write(&REPORT_TABLE(column, top->row, top->count, .limit = limit,
					 .one = key->one, .many = key->many,
					 .whole = total_ns[sort], .view = input->view,
					 .context = &ticks),
			   page);
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
		page->ops->heading(page, has_scripts(input->view) ? SCRIPT_TITLE : LIBRARY_TITLE);
		write_top(input, &top, total_ns, shown(PROGRAM_ROWS, input->limit), page);
		page->ops->heading(page, "All functions, each by itself");
	}
	top_table_release(&top);
	top_table_make(input->view, input->sort, &top);
	write_top(input, &top, total_ns, input->limit, page);
	top_table_release(&top);
}

static void
write_thread_unit(const struct export_input *input, struct page *page)
{
	const bool tasks = report_has_green(input);

	page_write(page, page->ops->paragraph, "%s of each %s %s. 100%% is %s%s.",
		   report_key_words[view_key(input->view)].plural,
		   tasks ? "thread and of each task, or all that began with one function," :
			   "thread",
		   words_of(input, input->sort)->meaning,
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
	const double ticks = margin_ticks(profile, &input->stats->division, input->sort,
					  row->ns[input->sort]);

	if (!thread->is_green)
		page_add(page, "Thread %jd (", (intmax_t)thread->tid);
	report_add_unit(&page->text, input, row);
	page_add(page, "%s: %s, %s of it running", thread->is_green ? "" : ")",
		 quantity_time(row->ns[WEIGHT_WALL]).text,
		 quantity_share((double)row->runnable_ns, (double)row->ns[WEIGHT_WALL]).text);
	if (ticks > 0)
		page_add(page, "; margin of error ±%s at 50%%",
			 quantity_percent(margin_of_share(0.5, ticks)).text);
	page_end(page, page->ops->heading);
}

/*
 * Writes a table of functions for each of the first THREAD_TABLES_MOST threads and green tasks,
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
	for (size_t i = 0; i < shown(threads.count, THREAD_TABLES_MOST); i++) {
		const struct thread_row *row = &threads.row[i];
		struct top_table top;

		top_table_make_thread(input->view, input->sort, row->thread, &top);
		write_thread_title(input, row, page);
		write_top(input, &top, row->ns, input->thread_limit, page);
		top_table_release(&top);
	}
	report_table_write_rest(page, page->ops->lead, threads.count, THREAD_TABLES_MOST,
				tasks ? "" : "thread", tasks ? "" : "threads");
	thread_table_release(&threads);
}

/* --- states --------------------------------------------------------------------------------- */

static void
add_state_word(const struct report_cell *cell, json_t *object)
{
	const struct state_row *row = cell->row;

	json_add_state(object, row->state, row->syscall);
}

static void
add_state(const struct report_cell *cell, struct strbuf *out)
{
	const struct state_row *row = cell->row;

	run_state_add(out, row->state, row->syscall);
}

#define AT(member) offsetof(struct state_row, member)

static const struct report_column state_columns[] = {
	{ .unit = COLUMN_JSON, .json = add_state_word },
	{ NULL, "samples", COLUMN_COUNT, .at = AT(samples) },
	{ "wall", "wall_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_WALL]) },
	{ "wall%", NULL, COLUMN_SHARE, .at = AT(ns[WEIGHT_WALL]) },
	{ NULL, "cpu_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_CPU]) },
	{ NULL, "overhead_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_CPU]) }, /* its former name */
	{ NULL, "latency_ns", COLUMN_TIME, .at = AT(ns[WEIGHT_LATENCY]) },
	{ "state", NULL, COLUMN_TEXT, .text = add_state, .left = true },
};

/* Writes the table of states to `stream`, or to the page if `stream` is NULL. */
static void
write_states(const struct view *view, size_t limit, struct page *page, struct json_stream *stream)
{
	struct state_table states;
	struct report_table table;

	state_table_make(view, &states);
	table = REPORT_TABLE(state_columns, states.row, states.count, .limit = limit,
			     .one = "state", .many = "states",
			     .whole = view_total_ns(view, WEIGHT_WALL));
	if (stream != NULL)
		report_table_write_json(&table, stream, "states");
	else
		report_table_write(&table, page);
	free(states.row);
}

void
report_json_states(const struct view *view, struct json_stream *stream)
{
	write_states(view, 0, NULL, stream);
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Writes why the program is slow and where its time goes. */
static void
write_first(const struct export_input *input, struct page *page)
{
	struct first first;

	if (view_row_count(input->view) == 0 || view_is_blame(input->view))
		return;
	first_make(input, &first);
	if (!page->in_words)
		first_write_head(&first, page);
	first_write_causes(&first, CAUSES_MOST, page);
	first_write_places(&first, PLACES_MOST, page);
	if (page->in_words)
		first_write_processes(&first, PLACES_MOST, page);
	first_write_quality(&first, page);
	first_release(&first);
}

/* Writes all tables of samples: states, waits, functions, parallelism, threads. */
static void
write_tables(const struct export_input *input, struct page *page)
{
	const bool blame = view_is_blame(input->view);

	page->ops->figure(page);
	if (!blame) {
		page->ops->heading(page, report_has_green(input) ?
						 "What tasks and threads were doing" :
						 "What the threads were doing");
		write_states(input->view, input->limit, page, NULL);
		report_write_green(input, page);
	}
	report_write_waiting(input, page);
	if (!blame)
		report_write_gil(input, page);
	if (!blame)
		report_write_processes(input, page);
	page->ops->section(page, report_key_words[view_key(input->view)].plural);
	if (input->by_thread)
		write_functions_by_thread(input, page);
	else
		write_functions(input, page);
	if (input->focus != NULL)
		report_write_focus(input, page);
	if (input->tree > 0)
		report_write_tree(input, page);
	if (!blame) {
		report_write_parallelism(input, page);
		report_write_threads(input, page);
	}
}

static void
write_report(const struct export_input *input, struct page *page)
{
	write_first(input, page);
	page->ops->heading(page, "What was sampled");
	report_write_header(input, page);
	report_write_deadlocks(input->view, page);
	if (view_row_count(input->view) > 0)
		write_tables(input, page);
	else
		page->ops->paragraph(page, view_unfiltered_ns(input->view) > 0 ?
						   "No sample was selected." :
						   "There are no samples.");
	report_write_cost(input, page);
}

void
report_write_asked(const struct export_input *input, struct page *page)
{
	const bool blame = view_is_blame(input->view);

	if (view_row_count(input->view) == 0)
		return;
	if (input->by_thread || input->table || blame || view_key(input->view) != VIEW_BY_FUNCTION)
		page->ops->section(page, report_key_words[view_key(input->view)].plural);
	if (input->by_thread)
		write_functions_by_thread(input, page);
	else if (input->table || blame || view_key(input->view) != VIEW_BY_FUNCTION)
		write_functions(input, page);
	if (input->focus != NULL)
		report_write_focus(input, page);
	if (input->tree > 0)
		report_write_tree(input, page);
	if (blame || view_key(input->view) == VIEW_BY_LOCK)
		report_write_waiting(input, page);
}

void
report_write(const struct export_subject *subject, struct page *page)
{
	if (subject->causal != NULL)
		report_causal_write(subject->causal, page);
	else if (subject->diff != NULL)
		report_diff_write(subject->diff, page);
	else
		write_report(subject->report, page);
}
