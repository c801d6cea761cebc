/* SPDX-License-Identifier: MIT */
/*
 * page.h - the elements of a report, which a terminal or a document lays out.
 *
 * Text is one line without control characters (strbuf_add_foreign). The implementation of a page
 * escapes what is special in its format.
 */
#ifndef WALLSAMPLE_REPORT_PAGE_H
#define WALLSAMPLE_REPORT_PAGE_H

#include <stddef.h>

#include "wallsample/report/columns.h"
#include "wallsample/report/plot.h"

struct page {
	const struct page_ops *ops;
	size_t width; /* cells that a line of a table should fit in */
	bool in_words; /* the report begins with what limits the program, in words */
};

struct page_ops {
	/* A part begins. A terminal leaves it to what follows to say which. */
	void (*section)(struct page *page, const char *name);
	/* Heads what follows. */
	void (*heading)(struct page *page, const char *text);
	/* The same, but as long as a sentence. */
	void (*lead)(struct page *page, const char *text);
	void (*paragraph)(struct page *page, const char *text);
	/* A label, and what belongs to it; "" for a label continues the one before. */
	void (*field)(struct page *page, const char *label, const char *value);
	/* The same, where it should not take more than a line. */
	void (*line)(struct page *page, const char *label, const char *value);
	/* An item below a field: a number, perhaps another one (or NULL), and what they count. */
	void (*item)(struct page *page, const char *number, const char *other, const char *text);
	void (*table)(struct page *page, const struct columns *table);
	void (*plot)(struct page *page, const struct plot *plot);
	/* Of a table that has just ended: what it does not show. */
	void (*rest)(struct page *page, const char *text);
};

#endif
