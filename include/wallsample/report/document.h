/* SPDX-License-Identifier: MIT */
/*
 * document.h - builds the report as a tree of cmark nodes, which the library renders.
 *
 * Foreign text is only ever the literal of a text node, which the library escapes for each format.
 * Raw output (the frame of a page, a bar) consists of constants and numbers of the program.
 */
#ifndef WALLSAMPLE_REPORT_DOCUMENT_H
#define WALLSAMPLE_REPORT_DOCUMENT_H

#include <cmark-gfm.h>

#include "wallsample/report/page.h"
#include "wallsample/report/export.h"

struct document_style {
	size_t width;               /* cells for a table; 0: no limit */
	bool preformatted;          /* tables are blocks of aligned text */
	bool bars;                  /* the format can draw bars and plots */
	bool ascii;                 /* plots use ASCII characters only */
	const char *before, *after; /* raw text around the document: constants, or NULL */
};

struct document {
	struct page page; /* first */
	const struct document_style *style;
	cmark_node *root;   /* the document */
	cmark_node *body;   /* the node that parts are added to: the frame, or the document */
	cmark_node *list;   /* the current list of fields; NULL: none */
	cmark_node *item;   /* the item of the last field */
	cmark_node *items;  /* the list below it */
	cmark_node *figure; /* added below the heading of the first part; NULL: none */
};

/* The input of the document: one is set, the others are NULL. */
struct document_subject {
	const struct export_input *report;
	const struct diff_input *diff;
	const struct causal_input *causal;
};

/* Builds the tree; document_release() releases it. `figure` may be NULL; the tree owns it. */
void document_make(const struct document_subject *subject, const struct document_style *style,
		   cmark_node *figure, struct document *out);
/* Also frees the text rendered from the tree. Only one document exists at a time. */
void document_release(struct document *document);

/* Returns the allocator of nodes and rendered text, which document_release() frees. */
cmark_mem *document_memory(void);
/* Returns a new node without a parent; `type` must be a valid node type of the library. */
cmark_node *document_node(cmark_node_type type);
/* Adds a text node with this literal. */
void document_add_text(cmark_node *parent, const char *text);

/* Returns the table extension, which escapes '|' if set (CommonMark needs it). */
cmark_syntax_extension *document_tables(bool escape_bars);

#endif
