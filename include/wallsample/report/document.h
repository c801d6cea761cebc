/* SPDX-License-Identifier: MIT */
/*
 * document.h - builds the report as a tree of nodes of libcmark-gfm, which renders the tree as
 * Markdown, LaTeX, man page or HTML.
 *
 * Text from outside the program, such as names of functions, is in text nodes and preformatted
 * blocks: the library escapes them for each format. Raw output, which the library does not escape
 * (the start and end of a page, bars, plots), consists of constants of wallsample and of numbers
 * that wallsample has computed. The one exception is the figure of the HTML page: it has names in
 * raw output, as escaped JSON (src/web/html_data.c) and as escaped text of an SVG (flame_draw()).
 */
#ifndef WALLSAMPLE_REPORT_DOCUMENT_H
#define WALLSAMPLE_REPORT_DOCUMENT_H

#include <cmark-gfm.h>

#include "wallsample/report/page.h"
#include "wallsample/report/export.h"

struct document_style {
	size_t width;       /* maximum width of a table in cells; 0: 320 */
	bool preformatted;  /* tables are blocks of aligned text */
	bool bars;          /* the format can draw bars and plots */
	bool ascii;         /* plots use ASCII characters only */
	const char *before; /* raw text before the document; NULL: no text around it */
	const char *after;  /* raw text behind the document; NULL if `before` is NULL */
};

struct document {
	/* must be the first member: a pointer to it is cast to struct document * */
	struct page page;
	const struct document_style *style;
	cmark_node *root; /* the node of the whole document */
	cmark_node *body; /* the node that elements are added to */
	/* the list of fields that the last element belongs to; NULL: the last element is no
	 * field */
	cmark_node *list;
	cmark_node *item; /* the item of the last field in `list`; NULL if `list` is NULL */
	/* the list of items below the last field; NULL: the field has no items */
	cmark_node *items;
	/* the node that page_ops.figure adds; then NULL */
	cmark_node *figure;
};

/*
 * Builds the tree of the report; document_release() frees it. The tree becomes the owner of
 * `figure`, which may be NULL.
 */
void document_make(const struct export_subject *subject, const struct document_style *style,
		   cmark_node *figure, struct document *out);
/*
 * Frees the tree and all text rendered from it. All nodes are in one memory arena of the library,
 * which this function empties: at most one document may exist at a time.
 */
void document_release(struct document *document);

/* Returns the allocator of nodes and rendered text, which document_release() frees. */
cmark_mem *document_memory(void);
/* Returns a new node without a parent; `type` must be a valid node type of the library. */
cmark_node *document_node(cmark_node_type type);

/*
 * Returns the library's extension for tables, and sets whether it escapes '|' in text from now on.
 * Tables in Markdown (GFM) need this escape; LaTeX and man pages must not have it.
 */
cmark_syntax_extension *document_tables(bool escape_bars);

#endif
