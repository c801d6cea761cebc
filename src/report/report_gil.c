/* SPDX-License-Identifier: MIT */
/* report_gil.c - who had the interpreter's lock, and who waited for it. */
#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/analysis/gil_table.h"
#include "wallsample/runtime/language.h"

/* A thread's name has 15 bytes and its number 7, but escapes may be needed. */
#define NAME_MOST 32
/* Less than this share of all time is not worth a note. */
#define HANDOVER_LEAST 0.01

static void
add_cells(const struct view *view, const struct gil_row *row, struct columns *table,
	  struct strbuf *sb)
{
	struct strbuf name;

	strbuf_init(&name);
	view_add_thread(view, row->thread, &name);
	strbuf_clear(sb);
	strbuf_add_foreign(sb, name.data);
	strbuf_release(&name);
	columns_add(table, sb->data);
	report_add_time_cell(table, sb, row->total_ns);
	report_add_share_cell(table, sb, row->ns[GIL_NONE], row->total_ns);
	report_add_share_cell(table, sb, row->ns[GIL_HAS], row->total_ns);
	report_add_share_cell(table, sb, gil_waited_ns(row->ns), row->total_ns);
}

/* The others in one row: those beyond the limit, and those that the lock never concerned. */
static void
add_others(const struct gil_table *gil, size_t shown, struct columns *table, struct strbuf *sb)
{
	struct gil_row sum = { .total_ns = 0 };

	if (shown == gil->count)
		return;
	for (size_t i = shown; i < gil->count; i++) {
		sum.total_ns += gil->row[i].total_ns;
		for (int n = 0; n < GIL_COUNT; n++)
			sum.ns[n] += gil->row[i].ns[n];
	}
	strbuf_clear(sb);
	if (shown > 0)
		quantity_add_things(sb, gil->count - shown, "other thread", "other threads");
	else
		quantity_add_things(sb, gil->count, "thread", "threads");
	columns_add(table, sb->data);
	report_add_time_cell(table, sb, sum.total_ns);
	report_add_share_cell(table, sb, sum.ns[GIL_NONE], sum.total_ns);
	report_add_share_cell(table, sb, sum.ns[GIL_HAS], sum.total_ns);
	report_add_share_cell(table, sb, gil_waited_ns(sum.ns), sum.total_ns);
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
		strbuf_add_text(&sb, " went by before a thread that had handed it over could go "
				     "on, which is part of the wait.");
	}
	page->ops->paragraph(page, sb.data);
	strbuf_release(&sb);
}

void
report_write_gil(const struct export_input *input, struct page *page)
{
	static const struct column column[] = {
		{ "thread", false, NAME_MOST }, { "total", true, 0 },     { "no GIL%", true, 0 },
		{ "has GIL%", true, 0 },        { "GIL wait%", true, 0 },
	};
	struct gil_table gil;
	struct columns table;
	struct strbuf sb;
	size_t shown;

	gil_table_make(input->view, &gil);
	shown = gil.concerned < input->limit ? gil.concerned : input->limit;
	if (gil.count > 0) {
		strbuf_init(&sb);
		columns_init(&table, column, ARRAY_SIZE(column));
		for (size_t i = 0; i < shown; i++)
			add_cells(input->view, &gil.row[i], &table, &sb);
		add_others(&gil, shown, &table, &sb);
		strbuf_clear(&sb);
		strbuf_add_format(&sb, "The interpreter's lock (%s)",
				  language_lock(input->stats->runtimes));
		page->ops->heading(page, sb.data);
		page->ops->table(page, &table);
		write_sums(input, &gil, page);
		columns_release(&table);
		strbuf_release(&sb);
	}
	gil_table_release(&gil);
}
