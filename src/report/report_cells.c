/* SPDX-License-Identifier: MIT */
/*
 * report_cells.c - what stands in the cells of a report's tables.
 */
#include "wallsample/report/quantity.h"
#include "wallsample/report/report.h"
#include "wallsample/analysis/margin.h"

void
report_add_time_cell(struct columns *table, struct strbuf *sb, int64_t ns)
{
	strbuf_clear(sb);
	quantity_add_time(sb, ns);
	columns_add(table, sb->data);
}

void
report_add_share_cell(struct columns *table, struct strbuf *sb, int64_t part, int64_t whole)
{
	strbuf_clear(sb);
	quantity_add_share(sb, (double)part, (double)whole);
	columns_add(table, sb->data);
}

/* A name that is an address says the module already. */
void
report_add_function_cell(struct columns *table, const struct view_function *function)
{
	struct strbuf name, module;

	strbuf_init(&name);
	strbuf_init(&module);
	strbuf_add_foreign(&name, function->name);
	if (function->needs_module)
		strbuf_add_foreign(&module, function->module);
	columns_add_detailed(table, name.data, module.length > 0 ? module.data : "");
	strbuf_release(&name);
	strbuf_release(&module);
}

void
report_add_parallelism_cell(struct columns *table, struct strbuf *sb, int64_t overhead_ns,
			  int64_t busy_ns)
{
	strbuf_clear(sb);
	if (busy_ns > 0)
		strbuf_add_format(sb, "%.2f", (double)overhead_ns / (double)busy_ns);
	else
		strbuf_add_text(sb, "-");
	columns_add(table, sb->data);
}

void
report_add_margin_cell(struct columns *table, struct strbuf *sb, int64_t part, int64_t whole,
		       double ticks)
{
	const double share = whole > 0 ? (double)part / (double)whole : 0;

	strbuf_clear(sb);
	strbuf_add_text(sb, "±");
	quantity_add_share(sb, margin_of_share(share, ticks), 1);
	columns_add(table, sb->data);
}

void
report_write_rest(struct page *page, void (*write)(struct page *, const char *), size_t count,
		  size_t limit, const char *one, const char *many)
{
	struct strbuf sb;

	if (count <= limit)
		return;
	strbuf_init(&sb);
	strbuf_add_text(&sb, "… and ");
	quantity_add_things(&sb, count - limit, one, many);
	write(page, sb.data);
	strbuf_release(&sb);
}
