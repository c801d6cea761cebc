/* SPDX-License-Identifier: MIT */
/* text.c - lays out the elements of a report on a terminal. */
#include <stdlib.h>

#include "report/first_internal.h"
#include "wallsample/report/display.h"
#include "wallsample/report/style.h"

#define LABEL_WIDTH 10
#define ITEM_WIDTH 18 /* width in cells of an item's first number with the spaces before it */
#define OTHER_WIDTH 8
/* On a first screen, widths in cells: of a cause's number and title, of the spaces before a detail,
 * of a detail's label, and of the spaces before a legend. */
#define CAUSE_WIDTH 14
#define DETAIL_INDENT 16
#define DETAIL_WIDTH 11
#define LEGEND_GAP 8

static FILE *
out_of(struct page *page)
{
	return ((struct text_page *)page)->out;
}

/* --- the first screen -------------------------------------------------------------------- */

static void
text_head(struct page *page, const char *left, const char *right)
{
	const size_t right_width = display_width(right);
	const size_t room = page->width > right_width + 2 ? page->width - right_width - 2 : 0;
	struct strbuf fitted = STRBUF_INIT;

	strbuf_add_text(&fitted, "");
	display_add_fitted(&fitted, left, room);
	fputs(fitted.data, out_of(page));
	display_pad(out_of(page), page->width - right_width - display_width(fitted.data));
	fprintf(out_of(page), "%s\n", right);
	strbuf_release(&fitted);
}

static void
text_part(struct page *page, const char *name, const char *legend)
{
	const size_t used = display_width(name) + display_width(legend);
	size_t gap = page->width > used ? page->width - used : 0;
	struct strbuf title = STRBUF_INIT;

	gap = gap < LEGEND_GAP ? gap : LEGEND_GAP;
	strbuf_add_text(&title, name);
	for (char *c = title.data; *c != '\0'; c++)
		*c = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
	fputc('\n', out_of(page));
	style_bold(out_of(page), page->colour, title.data);
	strbuf_release(&title);
	if (legend[0] != '\0' && gap > 0) {
		display_pad(out_of(page), gap);
		style_marks(out_of(page), page->colour, legend);
	}
	fputc('\n', out_of(page));
}

static void
text_cause(struct page *page, size_t number, const char *title, const char *text)
{
	const size_t used = display_width(title) + 2;

	fprintf(out_of(page), "%zu ", number);
	style_bold(out_of(page), page->colour, title);
	display_pad(out_of(page), used < CAUSE_WIDTH ? CAUSE_WIDTH - used : 0);
	display_wrap(out_of(page), text, CAUSE_WIDTH, page->width);
}

static void
text_detail(struct page *page, const char *label, const char *text)
{
	display_pad(out_of(page), DETAIL_INDENT);
	if (label[0] != '\0')
		fprintf(out_of(page), "%-*s", DETAIL_WIDTH, label);
	display_wrap(out_of(page), text, DETAIL_INDENT + (label[0] != '\0' ? DETAIL_WIDTH : 0),
		     page->width);
}

/* --- reports ----------------------------------------------------------------------------- */

static void
text_figure(struct page *page)
{
	(void)page;
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
	.head = text_head,
	.part = text_part,
	.cause = text_cause,
	.detail = text_detail,
	.figure = text_figure,
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

/* Lines of a first screen, and the lines of its parts that text_write_first() does not count. */
#define SCREEN_LINES 24
#define SCREEN_REST 2 /* an empty line and the heading above the places */
#define SCREEN_WIDTH 80
/* Most causes, and least places. With fewer lines for it, fewer causes are shown. */
#define SCREEN_CAUSES 3
#define SCREEN_PLACES 3
#define SCREEN_PROCESSES 4

static size_t
count_lines(const char *text)
{
	size_t lines = 0;

	for (; *text != '\0'; text++)
		lines += *text == '\n';
	return lines;
}

static void
write_above(const struct first *first, size_t causes, struct page *page)
{
	first_write_head(first, page);
	first_write_notes(first, page);
	first_write_causes(first, causes, page);
}

static void
write_below(const struct first *first, size_t unused, struct page *page)
{
	(void)unused;
	first_write_processes(first, SCREEN_PROCESSES, page);
	first_write_quality(first, page);
	first_write_unread(first, page);
	first_write_next(first, page);
}

/* Returns the text that write() writes, which the caller frees; "" without memory. */
static char *
text_of(const struct first *first, const struct page *like,
	void (*write)(const struct first *first, size_t causes, struct page *page), size_t causes)
{
	char *text = NULL;
	size_t size = 0;
	struct text_page page = { .page = *like, .out = open_memstream(&text, &size) };

	if (page.out != NULL) {
		page.page.text = STRBUF_INIT;
		write(first, causes, &page.page);
		fclose(page.out);
		strbuf_release(&page.page.text);
	}
	return text != NULL ? text : xstrdup("");
}

/* Writes the first screen: as many causes as leave room for some places, and as many places as
 * there are lines for. */
static void
text_write_first(const struct export_input *input, struct page *page)
{
	struct first first;
	char *above, *below;
	size_t lines, causes = SCREEN_CAUSES;

	first_make(input, &first);
	page->width = page->width < SCREEN_WIDTH ? page->width : SCREEN_WIDTH;
	below = text_of(&first, page, write_below, 0);
	above = text_of(&first, page, write_above, causes);
	lines = count_lines(below) + SCREEN_REST;
	while (count_lines(above) + lines + SCREEN_PLACES > SCREEN_LINES && causes > 1) {
		free(above);
		above = text_of(&first, page, write_above, --causes);
	}
	lines += count_lines(above);
	fputs(above, out_of(page));
	first_write_places(&first,
			   lines + SCREEN_PLACES < SCREEN_LINES ? SCREEN_LINES - lines :
								  SCREEN_PLACES,
			   page);
	fputs(below, out_of(page));
	free(above);
	free(below);
	first_release(&first);
}

static void
text_write_report(const struct export_input *input, struct page *page)
{
	const size_t width = page->width;

	if (view_row_count(input->view) > 0 && !view_is_blame(input->view))
		text_write_first(input, page);
	page->width = width;
	if (view_row_count(input->view) == 0)
		page->ops->paragraph(page, "There are no samples.");
	report_write_asked(input, page);
}

static void
text_write(const struct export_subject *subject, FILE *out)
{
	struct text_page text = text_page_make(subject->report != NULL ? subject->report->columns :
					       subject->diff != NULL   ? subject->diff->columns :
									 subject->causal->columns,
					       out);

	text.page.colour = subject->report != NULL && subject->report->colour;
	if (subject->report != NULL && !subject->report->full)
		text_write_report(subject->report, &text.page);
	else
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
	.in_words = true,
	.help = "the report for people",
	.options = EXPORT_REPORT | EXPORT_CALLERS,
	.endings = "txt,text",
	.noun = "report",
	.write_any = text_write,
	.write_dump = text_write_dump,
};
