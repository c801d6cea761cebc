/* SPDX-License-Identifier: MIT */
/*
 * columns.h - text tables. Each column but the last is as wide as its title or its widest cell,
 * whichever is wider, but at most column.most wide. The last column is cut to the width that the
 * others leave. Widths are in cells of a terminal (display.h).
 */
#ifndef WALLSAMPLE_REPORT_COLUMNS_H
#define WALLSAMPLE_REPORT_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wallsample/base/base.h"

/* Maximum number of columns of a table. */
#define COLUMNS_MAX 24

struct column {
	const char *title;
	bool right;  /* the cells are aligned to the right */
	size_t most; /* maximum width; 0: no limit. Ignored for the last column */
	bool marks;  /* the cells are written by style_marks */
};

struct cell {
	char *text;
	char *detail; /* shown in parentheses after the text; NULL: no detail */
	bool bar;     /* the cell is a bar; its text is a row of '#' */
	double part;  /* length of a bar as a part of the longest possible one, from 0 to 1 */
};

struct columns {
	const struct column *column; /* borrowed */
	size_t column_count;
	struct cell *cell; /* in order of addition: row by row */
	size_t cell_count, cell_capacity;
	bool untitled; /* a terminal shows no titles */
	bool colour;   /* titles are bold, and marks have colours */
};

/* Initializes an empty table; `column` is borrowed, `count` is at most COLUMNS_MAX. */
void columns_init(struct columns *table, const struct column *column, size_t count);
void columns_release(struct columns *table);
/*
 * Adds the next cell of the row, or the first cell of the next row. The text is copied, and escaped
 * as by strbuf_add_escaped().
 */
void columns_add(struct columns *table, const char *text);
/*
 * Adds the cell "text (detail)", both escaped, or "text" if the detail is "". columns_cell_text()
 * says how the text and the detail of a cell are cut.
 */
void columns_add_detailed(struct columns *table, const char *text, const char *detail);
/*
 * Adds a cell with a bar. `part` (0 to 1) is its length, `cells` the width on a terminal of a bar
 * of length 1. A bar with part > 0 has at least one '#'.
 */
void columns_add_bar(struct columns *table, double part, size_t cells);
/*
 * Appends to `out` the text and the detail of table->cell[cell], cut to `width` cells of a
 * terminal, or not cut if `width` is 0. If they are too wide, the detail is cut, but to no less
 * than 8 cells. If that is not enough, and the whole detail with its parentheses takes at most half
 * of the width, the text is cut instead. Otherwise the detail is left out, and the text is cut if
 * it is wider than `width`.
 */
void columns_cell_text(const struct columns *table, size_t cell, size_t width, struct strbuf *out);
/* Stores in widths[] the width of each column when the whole table may be `width` cells wide. */
void columns_measure(const struct columns *table, size_t width, size_t *widths);
/*
 * Lowers widths[] until the whole table is at most `width` cells wide, or until no column of text
 * is wider than 16 cells. The widest column of text is narrowed first. left_out[] is true for the
 * columns that are not written.
 */
void columns_narrow(const struct columns *table, const bool *left_out, size_t width,
		    size_t *widths);
/*
 * Writes titles and rows as lines. A line exceeds `width` cells only if the other columns leave
 * less than 16 cells for the last one.
 */
void columns_write(const struct columns *table, FILE *out, size_t width);

#endif
