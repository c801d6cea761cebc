/* SPDX-License-Identifier: MIT */
/* report_gil.c - reports the threads that held the interpreter's lock or waited for it. */
#include <stdlib.h>

#include "wallsample/report/quantity.h"
#include "wallsample/analysis/gil_table.h"
#include "wallsample/runtime/language.h"
#include "report/report_internal.h"

/*
 * Maximum width in cells of the label of a thread, "name-tid". The name has up to 15 bytes and the
 * tid up to 7 digits; escapes may widen the name.
 */
#define NAME_MOST 32
/*
 * The time in which threads had handed the lock over and waited for a CPU (GIL_HANDOVER) is
 * mentioned if it exceeds this share of the time of all rows.
 */
#define HANDOVER_LEAST 0.01

/* A row of the table: a thread, or on a page the sum of several threads. */
struct gil_line {
	struct gil_row row;
	int64_t tid, waited_ns;
	size_t others; /* number of threads in the sum; 0: the row is one thread */
	bool all;      /* the sum is over all threads */
};

static void
gil_add_name(const struct report_cell *cell, struct strbuf *out)
{
	const struct gil_line *line = cell->row;

	if (line->others == 0)
		view_add_thread(cell->table->view, line->row.thread, out);
	else if (line->all)
		strbuf_add_text(out, quantity_things(line->others, "thread", "threads").text);
	else
		strbuf_add_text(out, quantity_things(line->others, "other thread", "other threads")
					     .text);
}

#define AT(member) offsetof(struct gil_line, member)

static const struct report_column columns[] = {
	{ "thread", "thread", COLUMN_TEXT, .text = gil_add_name, .left = true, .most = NAME_MOST },
	{ NULL, "tid", COLUMN_COUNT, .at = AT(tid) },
	{ "total", "total_ns", COLUMN_TIME, .at = AT(row.total_ns) },
	{ "no GIL%", NULL, COLUMN_SHARE, .at = AT(row.ns[GIL_NONE]), .whole_at = AT(row.total_ns) },
	{ "has GIL%", NULL, COLUMN_SHARE, .at = AT(row.ns[GIL_HAS]), .whole_at = AT(row.total_ns) },
	{ "GIL wait%", NULL, COLUMN_SHARE, .at = AT(waited_ns), .whole_at = AT(row.total_ns) },
	{ NULL, "none_ns", COLUMN_TIME, .at = AT(row.ns[GIL_NONE]) },
	{ NULL, "has_ns", COLUMN_TIME, .at = AT(row.ns[GIL_HAS]) },
	{ NULL, "wait_ns", COLUMN_TIME, .at = AT(row.ns[GIL_WAIT]) },
	{ NULL, "handover_ns", COLUMN_TIME, .at = AT(row.ns[GIL_HANDOVER]) },
};

/*
 * Writes a row for each of the first `shown` threads, and if there are more, one row for the sum of
 * the other threads. Writes to `stream`, or to the page if `stream` is NULL.
 */
static void
write_threads(const struct view *view, const struct gil_table *gil, size_t shown, struct page *page,
	      struct json_stream *stream)
{
	struct gil_line *line = xcalloc(gil->count + 1, sizeof(*line));
	size_t count = 0;

	for (size_t i = 0; i < gil->count; i++) {
		struct gil_line *to = &line[count];

		if (i < shown) {
			to->row = gil->row[i];
			to->tid = profile_thread(view_profile(view), to->row.thread)->tid;
			count++;
			continue;
		}
		to->others++;
		to->all = shown == 0;
		to->row.total_ns += gil->row[i].total_ns;
		for (int n = 0; n < GIL_COUNT; n++)
			to->row.ns[n] += gil->row[i].ns[n];
	}
	count += shown < gil->count;
	for (size_t i = 0; i < count; i++)
		line[i].waited_ns = gil_waited_ns(line[i].row.ns);
	if (stream != NULL)
		report_table_write_json(&REPORT_TABLE(columns, line, count, .view = view), stream,
					"threads");
	else
		report_table_write(&REPORT_TABLE(columns, line, count, .view = view), page);
	free(line);
}

/*
 * Writes "held: 0.42 of the time, wait: 0.10 threads on average." and sentences on what follows
 * from these numbers: that they are sums over several locks, that more threads will not make the
 * program faster, and how long threads waited for a CPU after handing the lock over.
 */
static void
write_sums(const struct export_input *input, const struct gil_table *gil, struct page *page)
{
	page_add(page, "held: %.2f of the time, wait: %.2f threads on average%s.", gil->held_share,
		 gil->wait_average, input->filtered ? ", of the samples shown" : "");
	if (gil_is_several(view_profile(input->view)))
		page_add(page, " Each interpreter has a lock of its own; these are sums.");
	else if (!input->filtered && gil->held_share > GIL_HELD_LIMIT &&
		 gil->wait_average > GIL_WAIT_LIMIT)
		page_add(page, " More threads will not make it faster.");
	if ((double)gil->ns[GIL_HANDOVER] > HANDOVER_LEAST * (double)gil->total_ns)
		page_add(page,
			 " Of all time %s was spent by threads that had handed the lock over, "
			 "until they resumed; this is part of the wait.",
			 quantity_share((double)gil->ns[GIL_HANDOVER], (double)gil->total_ns).text);
	page_end(page, page->ops->paragraph);
}

void
report_write_gil(const struct export_input *input, struct page *page)
{
	struct gil_table gil;

	gil_table_make(input->view, &gil);
	if (gil.count > 0) {
		page_write(page, page->ops->heading, "The interpreter's lock (%s)",
			   language_lock(input->stats->runtimes));
		write_threads(input->view, &gil,
			      gil.concerned < input->limit ? gil.concerned : input->limit, page,
			      NULL);
		write_sums(input, &gil, page);
	}
	free(gil.row);
}

void
report_json_gil(const struct view *view, struct json_stream *stream)
{
	struct gil_table gil;

	gil_table_make(view, &gil);
	if (gil.count > 0) {
		json_stream_begin_object(stream, "gil");
		write_threads(view, &gil, gil.count, NULL, stream);
		json_stream_put(stream, "held_share", json_real(gil.held_share));
		json_stream_put(stream, "wait_average", json_real(gil.wait_average));
		json_stream_end(stream);
	}
	free(gil.row);
}
