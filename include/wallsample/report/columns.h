/* SPDX-License-Identifier: MIT */
/*
 * columns.h - text tables: each column is as wide as its widest cell, the last one is cut to the
 * remaining width. Widths are cells of a terminal (display.h).
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
	size_t most; /* maximum width; 0: no limit, the last column the remaining width */
};

struct cell {
	char *text;
	char *detail; /* in parentheses after the text; NULL: none */
	bool bar;     /* the cell is a bar; not every page can draw it */
	double part;  /* of a bar: the filled part of its column, from 0 to 1 */
};

struct columns {
	const struct column *column; /* borrowed */
	size_t column_count;
	struct cell *cell; /* row by row */
	size_t cell_count, cell_capacity;
};

/* Initializes an empty table; `column` is borrowed, `count` is at most COLUMNS_MAX. */
void columns_init(struct columns *table, const struct column *column, size_t count);
void columns_release(struct columns *table);
/* Adds the next cell of the row, or the first cell of the next row. The text is copied. */
void columns_add(struct columns *table, const char *text);
/* Adds the cell "text (detail)", of which the detail is cut first; "": no detail. */
void columns_add_detailed(struct columns *table, const char *text, const char *detail);
/* Adds a bar of `part` (0 to 1) of `cells` cells; at least one cell if `part` is above 0. */
void columns_add_bar(struct columns *table, double part, size_t cells);
/* Appends the text of a cell (index in order of addition), cut to `width`; 0: not cut. */
void columns_cell_text(const struct columns *table, size_t cell, size_t width, struct strbuf *out);
/* Sets the width of each column for a table of `width` cells. */
void columns_measure(const struct columns *table, size_t width, size_t *widths);
/* Writes titles and rows, in lines of at most `width` cells if the columns permit. */
void columns_write(const struct columns *table, FILE *out, size_t width);

#endif
