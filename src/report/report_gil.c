/* SPDX-License-Identifier: MIT */
/* report_gil.c - reports the threads that held the interpreter's lock or waited for it. */
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "wallsample/analysis/gil_table.h"
#include "wallsample/runtime/language.h"
#include "report/report_internal.h"

/* A thread's name has 15 bytes and its number 7, but escapes may be needed. */
#define NAME_MOST 32
/* A smaller share of all time gets no note. */
#define HANDOVER_LEAST 0.01

/* A row of the table, or on a page the sum of several. */
struct gil_line {
	struct gil_row row;
	int64_t waited_ns;
	size_t others; /* the number of threads that are summed up; 0: one thread */
	bool all;      /* no thread has a line of its own */
};

static void
gil_add_name(const struct report_table *table, const void *row, struct strbuf *out)
{
	const struct gil_line *line = row;

	if (line->others == 0)
		view_add_thread(table->view, line->row.thread, out);
	else if (line->all)
		quantity_add_things(out, line->others, "thread", "threads");
	else
		quantity_add_things(out, line->others, "other thread", "other threads");
}

static void
add_tid(const struct report_table *table, const void *row, struct json_stream *stream,
	json_t *object)
{
	const struct gil_line *line = row;

	(void)stream;
	json_object_set_new(object, "tid",
			    json_integer(profile_thread(view_profile(table->view), line->row.thread)
						 ->tid));
}

#define AT(member) offsetof(struct gil_line, member)

static const struct report_column columns[] = {
	{ "thread", "thread", COLUMN_TEXT, .text = gil_add_name, .left = true, .most = NAME_MOST },
	{ .unit = COLUMN_JSON, .json = add_tid },
	{ "total", "total_ns", COLUMN_TIME, .at = AT(row.total_ns) },
	{ "no GIL%", NULL, COLUMN_SHARE, .at = AT(row.ns[GIL_NONE]), .whole_at = AT(row.total_ns) },
	{ "has GIL%", NULL, COLUMN_SHARE, .at = AT(row.ns[GIL_HAS]), .whole_at = AT(row.total_ns) },
	{ "GIL wait%", NULL, COLUMN_SHARE, .at = AT(waited_ns), .whole_at = AT(row.total_ns) },
	{ NULL, "none_ns", COLUMN_TIME, .at = AT(row.ns[GIL_NONE]) },
	{ NULL, "has_ns", COLUMN_TIME, .at = AT(row.ns[GIL_HAS]) },
	{ NULL, "wait_ns", COLUMN_TIME, .at = AT(row.ns[GIL_WAIT]) },
	{ NULL, "handover_ns", COLUMN_TIME, .at = AT(row.ns[GIL_HANDOVER]) },
};

/* Makes the first `shown` rows; if `sum` is set, one line for the sum of the others. */
static struct report_table
describe(const struct view *view, const struct gil_table *gil, size_t shown, bool sum)
{
	struct gil_line *line = xcalloc(gil->count + 1, sizeof(*line));
	size_t count = 0;

	for (size_t i = 0; i < gil->count; i++) {
		struct gil_line *to = &line[count];

		if (i < shown) {
			to->row = gil->row[i];
			count++;
			continue;
		}
		to->others++;
		to->all = shown == 0;
		to->row.total_ns += gil->row[i].total_ns;
		for (int n = 0; n < GIL_COUNT; n++)
			to->row.ns[n] += gil->row[i].ns[n];
	}
	count += sum && shown < gil->count;
	for (size_t i = 0; i < count; i++)
		line[i].waited_ns = gil_waited_ns(line[i].row.ns);
	return REPORT_TABLE(columns, line, count, .view = view);
}

/* "held: 0.42 of the time, wait: 0.10 threads on average" */
static void
write_sums(const struct export_input *input, const struct gil_table *gil, struct page *page)
{
	struct strbuf sb;

	strbuf_init(&sb);
	strbuf_add_format(&sb, "held: %.2f of the time, wait: %.2f threads on average%s.",
			  gil->held_share, gil->wait_average,
			  input->filtered ? ", of the samples shown" : "");
	if (gil_is_several(view_profile(input->view)))
		strbuf_add_text(&sb, " Each interpreter has a lock of its own; these are sums.");
	else if (!input->filtered && gil->held_share > GIL_HELD_LIMIT &&
		 gil->wait_average > GIL_WAIT_LIMIT)
		strbuf_add_text(&sb, " More threads will not make it faster.");
	if ((double)gil->ns[GIL_HANDOVER] > HANDOVER_LEAST * (double)gil->total_ns) {
		strbuf_add_text(&sb, " Of all time ");
		quantity_add_share(&sb, (double)gil->ns[GIL_HANDOVER], (double)gil->total_ns);
		strbuf_add_text(&sb, " was spent by threads that had handed the lock over, until "
				     "they resumed; this is part of the wait.");
	}
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

void
report_write_gil(const struct export_input *input, struct page *page)
{
	struct gil_table gil;
	struct report_table table;
	struct strbuf title;

	gil_table_make(input->view, &gil);
	if (gil.count > 0) {
		strbuf_init(&title);
		strbuf_add_format(&title, "The interpreter's lock (%s)",
				  language_lock(input->stats->runtimes));
		table = describe(input->view, &gil,
				 gil.concerned < input->limit ? gil.concerned : input->limit, true);
		page->ops->heading(page, title.data);
		report_table_write(&table, page);
		strbuf_release(&title);
		write_sums(input, &gil, page);
		free((void *)(uintptr_t)table.row);
	}
	gil_table_release(&gil);
}

void
report_json_gil(const struct view *view, struct json_stream *stream)
{
	struct gil_table gil;
	struct report_table table;

	gil_table_make(view, &gil);
	if (gil.count > 0) {
		table = describe(view, &gil, gil.count, false);
		json_stream_begin_object(stream, "gil");
		report_table_write_json(&table, stream, "threads");
		json_stream_put(stream, "held_share", json_real(gil.held_share));
		json_stream_put(stream, "wait_average", json_real(gil.wait_average));
		json_stream_end(stream);
		free((void *)(uintptr_t)table.row);
	}
	gil_table_release(&gil);
}
