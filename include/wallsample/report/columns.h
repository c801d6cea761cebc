/* SPDX-License-Identifier: MIT */
/*
 * columns.h - tables of text: columns as wide as their widest cell, the last one cut
 * to what is left.
 */
#ifndef WALLSAMPLE_REPORT_COLUMNS_H
#define WALLSAMPLE_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wallsample/base/base.h"

#define COLUMNS_MAX 24

struct column {
	const char *title;
	bool right;  /* aligned to the right */
	size_t most; /* widest it may become, 0: no limit (the last: what is left) */
};

struct cell {
	char *text;
	char *detail; /* in parentheses behind the text; NULL: none */
	bool bar;     /* a bar, which not every page can draw */
	double part;  /* of its column, from 0 to 1, which a bar fills */
};

struct columns {
	const struct column *column; /* borrowed */
	size_t column_count;
	struct cell *cell; /* row by row */
	size_t cell_count, cell_capacity;
};

void columns_init(struct columns *table, const struct column *column, size_t count);
void columns_release(struct columns *table);
/* The next cell of the row, or the first of the next row. The text is copied. */
void columns_add(struct columns *table, const char *text);
/* "text (detail)": the detail is what is cut first. Empty: none. */
void columns_add_detailed(struct columns *table, const char *text, const char *detail);
/* A bar that fills this part of `cells`, at least one if it is more than nothing. */
void columns_add_bar(struct columns *table, double part, size_t cells);
/* Adds a cell, row by row as they came, so that it fits in `width`; 0: as it is. */
void columns_cell_text(const struct columns *table, size_t cell, size_t width, struct strbuf *out);
/* Width of each column in a table of this width. */
void columns_measure(const struct columns *table, size_t width, size_t *widths);
/* Writes titles and rows, no line wider than `width` cells if that can be. */
void columns_write(const struct columns *table, FILE *out, size_t width);

#endif
