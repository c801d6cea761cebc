/* SPDX-License-Identifier: MIT */
/*
 * columns.h - tables of text: columns as wide as their widest cell, the last one cut
 * to what is left.
 */
#ifndef WALLSAMPLE_COLUMNS_H
#define WALLSAMPLE_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "wallsample/base.h"

#define COLUMNS_MAX 9

struct column {
	const char *title;
	bool right;  /* aligned to the right */
	size_t most; /* widest it may become, 0: no limit (the last: what is left) */
};

struct cell {
	char *text;
	char *detail; /* in parentheses behind the text; NULL: none */
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
/* Writes titles and rows, no line wider than `width` cells if that can be. */
void columns_write(const struct columns *table, FILE *out, size_t width);

#endif
