/* SPDX-License-Identifier: MIT */
/* report_processes.c - writes the time of each process, those that do the same work together. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "report/first_internal.h"
#include "wallsample/report/quantity.h"

/* Length in cells of a bar on a first screen, and greatest width of a title there. */
#define BAR 10
#define TITLE_MOST 40

static void
add_top(const struct report_cell *cell, struct strbuf *out)
{
	const uint32_t top = ((const struct process_row *)cell->row)->top;

	if (top < view_function_count(cell->table->view))
		strbuf_add_text(out, view_function(cell->table->view, top)->label);
}

static void
add_pid(const struct report_cell *cell, struct strbuf *out)
{
	const struct process_row *row = cell->row;

	if (row->is_unsampled)
		return;
	if (row->count == 1)
		strbuf_add_format(out, "%jd",
				  (intmax_t)profile_process(view_profile(cell->table->view),
							    row->process)
					  ->pid);
	else
		strbuf_add_format(out, "×%s", quantity_count(row->count).text);
}

static void
add_title(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, ((const struct process_row *)cell->row)->title);
}

/* Adds the CPU time of each process of the row: "40ms" or "12ms to 1.31s". */
static void
add_spread(const struct report_cell *cell, struct strbuf *out)
{
	const struct process_row *row = cell->row;

	if (row->count < 2)
		return;
	strbuf_add_format(out, "%s–%s", quantity_time(row->cpu_least_ns).text,
			  quantity_time(row->cpu_most_ns).text);
}

#define AT(member) offsetof(struct process_row, member)
#define PART(doing) AT(ns) + sizeof(int64_t) * (doing)

void
report_write_processes(const struct export_input *input, struct page *page)
{
	static const struct report_column column[] = {
		{ "pid", NULL, COLUMN_TEXT, .text = add_pid },
		{ "cpu", NULL, COLUMN_TIME, .at = AT(cpu_ns) },
		{ "each", NULL, COLUMN_TEXT, .text = add_spread, .from_width = 90 },
		{ "runs", NULL, COLUMN_SHARE, .at = PART(PLACE_RUNS), .whole_at = AT(wall_ns) },
		{ "waits for CPU", NULL, COLUMN_SHARE, .at = PART(PLACE_QUEUED),
		  .whole_at = AT(wall_ns), .from_width = 70 },
		{ "blocked", NULL, COLUMN_SHARE, .at = PART(PLACE_BLOCKED), .whole_at = AT(wall_ns),
		  .from_width = 70 },
		{ "process", NULL, COLUMN_TEXT, .text = add_title, .left = true,
		  .most = TITLE_MOST },
		{ "mostly in", NULL, COLUMN_TEXT, .text = add_top, .left = true },
	};
	const bool code = view_key_is_of_function(view_key(input->view));
	struct own own = { .rank = NULL };
	struct process_table table;

	if (code)
		own_make(input->view, input->modules, &own);
	process_table_make(input->view, code ? &own : NULL, NULL, &table);
	if (table.processes > 1) {
		page->ops->heading(page, "Processes, those that do the same work together");
		report_table_write(&REPORT_TABLE(column, table.row, table.count,
						 .limit = input->limit, .one = "row",
						 .many = "rows", .view = input->view),
				   page);
	}
	process_table_release(&table);
	own_release(&own);
}

/* --- the first screen ----------------------------------------------------------------------- */

/* Adds a bar of the marks of what the threads of the processes did. */
static void
add_bar(const struct report_cell *cell, struct strbuf *out)
{
	static const char marks[] =
#define X(name, word, mark) mark
		PLACE_DOINGS(X);
#undef X
	const struct process_row *row = cell->row;
	double sum = 0, until = 0;
	size_t written = 0;

	/* Corrections may have made a part negative. */
	for (size_t doing = 0; doing < PLACE_DOING_COUNT; doing++)
		sum += fmax((double)row->ns[doing], 0);
	for (size_t doing = 0; doing < PLACE_DOING_COUNT && sum > 0; doing++) {
		until += fmax((double)row->ns[doing], 0);
		while (written < BAR && (double)written + 0.5 < until / sum * BAR) {
			strbuf_add(out, &marks[doing], 1);
			written++;
		}
	}
}

void
first_write_processes(const struct first *first, size_t rows, struct page *page)
{
	const struct process_table *table = &first->processes;
	const struct report_column column[] = {
		{ "cpu", NULL, COLUMN_TIME, .at = AT(cpu_ns) },
		{ "pid", NULL, COLUMN_TEXT, .text = add_pid },
		{ "process", NULL, COLUMN_TEXT, .text = add_title, .left = true,
		  .most = page->in_words ? page->width : TITLE_MOST },
		{ "states", NULL, COLUMN_TEXT, .text = add_bar, .left = true, .marks = true },
		{ "mostly in", NULL, COLUMN_TEXT, .text = add_top, .left = true },
	};

	if (table->processes < 2)
		return;
	page->ops->part(page, "Processes", "CPU time, pid or number, command, states, mostly in");
	report_table_write(&REPORT_TABLE(column, table->row,
					 table->count < rows ? table->count : rows,
					 .view = first->view, .untitled = true),
			   page);
	report_table_write_rest(page, page->ops->rest, table->count, rows, "row (--full)",
				"rows (--full)");
}

/* --- JSON ----------------------------------------------------------------------------------- */

void
report_json_processes(const struct export_input *input, struct json_stream *stream)
{
	const struct profile *profile = view_profile(input->view);

	if (profile_process_count(profile) < 2)
		return;
	json_stream_begin_list(stream, "targets");
	for (uint32_t i = 0; i < profile_process_count(profile); i++)
		json_stream_put(stream, NULL, json_profile_process(stream, profile, i));
	json_stream_end(stream);
}
