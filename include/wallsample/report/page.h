/* SPDX-License-Identifier: MIT */
/*
 * page.h - the elements of a report, and the operations (page_ops) by which a terminal or a
 * document lays them out.
 *
 * A report calls the functions page_*(), or for a constant text the operations themselves. Each
 * function makes the text of an element as one line, in which characters that could control a
 * terminal are escaped (strbuf_add_escaped), and hands the text to one of the operations. The
 * operations escape the special characters of their format, for example '<' in HTML.
 */
#ifndef WALLSAMPLE_REPORT_PAGE_H
#define WALLSAMPLE_REPORT_PAGE_H

#include <stddef.h>

#include "wallsample/base/base.h"
#include "wallsample/report/columns.h"
#include "wallsample/report/plot.h"

struct page {
	const struct page_ops *ops;
	size_t width;  /* maximum width of a table in cells */
	bool colour;   /* bold text and colours are written, to a terminal */
	bool in_words; /* the header of a report has a heading of its own */
	/* text of the next element, collected by page_add(); the creator of the page frees it */
	struct strbuf text;
};

/* How a page lays out elements. All text arguments are one line without control characters. */
struct page_ops {
	/* Writes the first line of a first screen: what was sampled, and how. */
	void (*head)(struct page *page, const char *left, const char *right);
	/* Begins a part of a first screen. `legend` explains marks; "" if there is none. */
	void (*part)(struct page *page, const char *name, const char *legend);
	/* Writes a cause, numbered from 1, and a line below it. The label of a line may be "". */
	void (*cause)(struct page *page, size_t number, const char *title, const char *text);
	void (*detail)(struct page *page, const char *label, const char *text);
	/* Writes the picture of the report, if the page has one. */
	void (*figure)(struct page *page);
	/* Begins a part of the report. A terminal shows an empty line instead of the name. */
	void (*section)(struct page *page, const char *name);
	void (*heading)(struct page *page, const char *text);
	/* Writes a heading that is a sentence. */
	void (*lead)(struct page *page, const char *text);
	void (*paragraph)(struct page *page, const char *text);
	/* Writes a label and its value. The label "" continues the previous field. */
	void (*field)(struct page *page, const char *label, const char *value);
	/* Writes a field whose value should fit in one line: a terminal cuts the value. */
	void (*line)(struct page *page, const char *label, const char *value);
	/* Writes an item of the list below a field: a number, a second number or NULL, and the
	 * thing that the numbers describe. */
	void (*item)(struct page *page, const char *number, const char *other, const char *text);
	void (*table)(struct page *page, const struct columns *table);
	void (*plot)(struct page *page, const struct plot *plot);
	/*
	 * Writes a line that is not wrapped, such as the number of rows that the preceding table
	 * does not show. In a document it is a paragraph.
	 */
	void (*rest)(struct page *page, const char *text);
};

/* Appends formatted text to page->text, the text of the next element. */
void page_add(struct page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write an element with the text that page_add() has collected, escaped, and empty page->text.
 * page_end() calls `write`, for example page->ops->heading; page_end_field() writes a field.
 */
void page_end(struct page *page, void (*write)(struct page *page, const char *text));
void page_end_field(struct page *page, const char *label);

/*
 * Append formatted text to page->text; then page_write() acts as page_end(), and page_field() acts
 * as page_end_field().
 */
void page_write(struct page *page, void (*write)(struct page *page, const char *text),
		const char *format, ...) __attribute__((format(printf, 3, 4)));
void page_field(struct page *page, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* page_line appends `value` to page->text, page_item appends `text`. Then each writes page->text as
 * page_end() does, by page->ops->line and page->ops->item respectively. */
void page_line(struct page *page, const char *label, const char *value);
void page_item(struct page *page, const char *number, const char *other, const char *text);

#endif
