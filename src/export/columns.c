/* SPDX-License-Identifier: MIT */
/*
 * columns.c - collects the cells of a table, then writes it aligned.
 */
#include "columns.h"

#include <stdlib.h>

#include "display.h"

#define GAP 2         /* cells between columns */
#define LAST_LEAST 16 /* the last column is never narrower, whatever the terminal */

void
columns_init(struct columns *table, const struct column *column, size_t count)
{
	*table = (struct columns){ .column = column, .column_count = count };
}

void
columns_release(struct columns *table)
{
	for (size_t i = 0; i < table->cell_count; i++)
		free(table->cell[i]);
	free(table->cell);
	*table = (struct columns){ 0 };
}

void
columns_add(struct columns *table, const char *text)
{
	table->cell = xgrow(table->cell, &table->cell_capacity, table->cell_count + 1,
			    sizeof(*table->cell));
	table->cell[table->cell_count++] = xstrdup(text);
}

/* Width of each column: its widest cell, but at most what it may be. */
static void
measure(const struct columns *table, size_t width, size_t *widths)
{
	const size_t last = table->column_count - 1;
	size_t before = 0;

	for (size_t c = 0; c <= last; c++)
		widths[c] = display_width(table->column[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t c = i % table->column_count;
		const size_t cells = display_width(table->cell[i]);

		if (cells > widths[c])
			widths[c] = cells;
	}
	for (size_t c = 0; c < last; c++) {
		if (table->column[c].most > 0 && widths[c] > table->column[c].most)
			widths[c] = table->column[c].most;
		before += widths[c] + GAP;
	}
	if (before + widths[last] > width)
		widths[last] = width > before + LAST_LEAST ? width - before : LAST_LEAST;
}

static void
write_cell(const struct columns *table, FILE *out, size_t c, const char *text, size_t width)
{
	struct strbuf fitted;
	size_t space;

	strbuf_init(&fitted);
	strbuf_add_text(&fitted, "");
	display_add_fitted(&fitted, text, width);
	space = display_width(fitted.data);
	space = space < width ? width - space : 0;
	if (c > 0)
		display_pad(out, GAP);
	if (table->column[c].right)
		display_pad(out, space);
	fputs(fitted.data, out);
	/* No spaces at the end of a line. */
	if (!table->column[c].right && c + 1 < table->column_count)
		display_pad(out, space);
	strbuf_release(&fitted);
}

void
columns_write(const struct columns *table, FILE *out, size_t width)
{
	size_t widths[COLUMNS_MAX];

	measure(table, width, widths);
	for (size_t c = 0; c < table->column_count; c++)
		write_cell(table, out, c, table->column[c].title, widths[c]);
	fputc('\n', out);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t c = i % table->column_count;

		write_cell(table, out, c, table->cell[i], widths[c]);
		if (c + 1 == table->column_count)
			fputc('\n', out);
	}
}
