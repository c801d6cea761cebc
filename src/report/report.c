/* SPDX-License-Identifier: MIT */
/*
 * report.c - writes a report: its table of states. Calls the writers of the other parts
 * (report_internal.h) in the order of the report.
 */
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "wallsample/thread/state.h"
#include "report/first_internal.h"

/* Maximum numbers of causes and of places in a whole report. */
#define CAUSES_MOST 20
#define PLACES_MOST 10

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
	if (input->by_process || input->by_thread)
		report_write_apart(input, page);
	else
		report_write_functions(input, page);
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
	const bool apart = input->by_process || input->by_thread;
	const bool table = input->table || blame || view_key(input->view) != VIEW_BY_FUNCTION;

	if (view_row_count(input->view) == 0)
		return;
	if (apart || table)
		page->ops->section(page, report_key_words[view_key(input->view)].plural);
	if (apart)
		report_write_apart(input, page);
	else if (table)
		report_write_functions(input, page);
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
