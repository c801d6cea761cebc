/* SPDX-License-Identifier: MIT */
/* text.c - lays out the elements of a report on a terminal. */
#include "wallsample/report/display.h"
#include "report/report_internal.h"

#define LABEL_WIDTH 10
#define ITEM_WIDTH 18 /* width in cells of an item's first number with the spaces before it */
#define OTHER_WIDTH 8

static FILE *
out_of(struct page *page)
{
	return ((struct text_page *)page)->out;
}

static void
text_section(struct page *page, const char *name)
{
	(void)name;
	fputc('\n', out_of(page));
}

static void
text_paragraph(struct page *page, const char *text)
{
	display_wrap(out_of(page), text, 0, page->width);
}

static void
text_heading(struct page *page, const char *text)
{
	fputc('\n', out_of(page));
	text_paragraph(page, text);
}

static void
text_field(struct page *page, const char *label, const char *value)
{
	fprintf(out_of(page), "%-*s", LABEL_WIDTH, label);
	display_wrap(out_of(page), value, LABEL_WIDTH, page->width);
}

static void
text_line(struct page *page, const char *label, const char *value)
{
	struct strbuf fitted = STRBUF_INIT;

	strbuf_add_text(&fitted, "");
	display_add_fitted(&fitted, value, page->width - LABEL_WIDTH);
	fprintf(out_of(page), "%-*s%s\n", LABEL_WIDTH, label, fitted.data);
	strbuf_release(&fitted);
}

static void
text_item(struct page *page, const char *number, const char *other, const char *text)
{
	fprintf(out_of(page), "%*s", ITEM_WIDTH, number);
	if (other != NULL)
		fprintf(out_of(page), " %*s", OTHER_WIDTH, other);
	fputs("  ", out_of(page));
	display_wrap(out_of(page), text, ITEM_WIDTH + (other != NULL ? 1 + OTHER_WIDTH : 0) + 2,
		     page->width);
}

static void
text_table(struct page *page, const struct columns *table)
{
	columns_write(table, out_of(page), page->width);
}

static void
text_plot(struct page *page, const struct plot *plot)
{
	plot_write_text(plot, out_of(page), page->width, false);
}

static void
text_rest(struct page *page, const char *text)
{
	fprintf(out_of(page), "%s\n", text);
}

static const struct page_ops text_ops = {
	.section = text_section,
	.heading = text_heading,
	.lead = text_heading,
	.paragraph = text_paragraph,
	.field = text_field,
	.line = text_line,
	.item = text_item,
	.table = text_table,
	.plot = text_plot,
	.rest = text_rest,
};

struct text_page
text_page_make(unsigned columns, FILE *out)
{
	static const unsigned piped = 100, least = 40;
	const unsigned width = columns > 0 ? columns : piped;

	return (struct text_page){
		.page = { .ops = &text_ops, .width = width > least ? width : least },
		.out = out,
	};
}

static void
text_write(const struct export_subject *subject, FILE *out)
{
	struct text_page text = text_page_make(subject->report != NULL ? subject->report->columns :
					       subject->diff != NULL   ? subject->diff->columns :
									 subject->causal->columns,
					       out);

	report_write(subject, &text.page);
	strbuf_release(&text.page.text);
}

static void
text_write_dump(const struct export_input *input, FILE *out)
{
	struct text_page text = text_page_make(input->columns, out);

	text_dump_write(input, &text.page);
	strbuf_release(&text.page.text);
}

const struct exporter exporter_text = {
	.name = "text",
	.help = "the report for people",
	.has_callers = true,
	.endings = "txt,text",
	.noun = "report",
	.write_any = text_write,
	.write_dump = text_write_dump,
};
