/* SPDX-License-Identifier: MIT */
/*
 * document.h - the report as a tree of cmark nodes, which the library renders.
 *
 * Nothing foreign is ever pasted: names are literals of text nodes, and the library escapes
 * them for each format. What is pasted (a page's frame, a bar) is made of our own constants
 * and numbers.
 */
#ifndef WALLSAMPLE_REPORT_DOCUMENT_H
#define WALLSAMPLE_REPORT_DOCUMENT_H

#include <cmark-gfm.h>

#include "wallsample/report/page.h"
#include "wallsample/report/export.h"

struct document_style {
	size_t width;       /* cells for a table; 0: as wide as it becomes */
	bool preformatted;  /* tables are blocks of aligned text */
	bool bars;          /* HTML can draw them, and plots */
	bool ascii;         /* plots have no other characters */
	const char *before, *after; /* the frame around it, of constants; may be NULL */
};

struct document {
	struct page page; /* first */
	const struct document_style *style;
	cmark_node *root;   /* the document */
	cmark_node *body;   /* what parts are added to: the frame, or the document */
	cmark_node *list;   /* of fields, while they follow each other */
	cmark_node *item;   /* the last field's */
	cmark_node *items;  /* the list below it */
	cmark_node *figure; /* goes below the heading of the first part; NULL: there is none */
};

/* What it is about: one of them. */
struct document_subject {
	const struct export_input *report;
	const struct diff_input *diff;
	const struct causal_input *causal;
};

/* Makes the tree; `figure` may be NULL, else it belongs to the tree then. */
void document_make(const struct document_subject *subject, const struct document_style *style,
		   cmark_node *figure, struct document *out);
/* Also frees what was rendered from it; there can be one document at a time. */
void document_release(struct document *document);

/* Where all nodes and what is rendered live, until document_release. */
cmark_mem *document_memory(void);
/* A new node for which the library must have a type. */
cmark_node *document_node(cmark_node_type type);
/* Adds a text node with this literal. */
void document_add_text(cmark_node *parent, const char *text);

/* The table extension, with '|' escaped (as CommonMark needs it) or not. */
cmark_syntax_extension *document_tables(bool escape_bars);

#endif
