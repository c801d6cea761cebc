/* SPDX-License-Identifier: MIT */
/*
 * page.h - the elements of a report, and the operations by which a terminal or a document lays
 * them out.
 *
 * Text is one line without control characters (strbuf_add_escaped). The implementation of a page
 * escapes the special characters of its format.
 */
#ifndef WALLSAMPLE_REPORT_PAGE_H
#define WALLSAMPLE_REPORT_PAGE_H

#include <stddef.h>

#include "wallsample/report/columns.h"
#include "wallsample/report/plot.h"

struct page {
	const struct page_ops *ops;
	size_t width;  /* width of a table in cells */
	bool in_words; /* the report begins with a summary of what limits the program */
};

struct page_ops {
	/* Begins a part. A terminal does not show its name. */
	void (*section)(struct page *page, const char *name);
	/* Writes a heading. */
	void (*heading)(struct page *page, const char *text);
	/* Writes a heading that is a sentence. */
	void (*lead)(struct page *page, const char *text);
	void (*paragraph)(struct page *page, const char *text);
	/* Writes a label and its value; the label "" continues the previous field. */
	void (*field)(struct page *page, const char *label, const char *value);
	/* The same for a value that should fit in one line. */
	void (*line)(struct page *page, const char *label, const char *value);
	/* Writes an item below a field: a number, a second one or NULL, and what they count. */
	void (*item)(struct page *page, const char *number, const char *other, const char *text);
	void (*table)(struct page *page, const struct columns *table);
	void (*plot)(struct page *page, const struct plot *plot);
	/* Writes which rows the preceding table does not show. */
	void (*rest)(struct page *page, const char *text);
};

#endif
