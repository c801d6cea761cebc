/* SPDX-License-Identifier: MIT */
/* columns.c - collects the cells of a table, then writes the table with aligned columns. */
#include "wallsample/report/columns.h"
#include "wallsample/report/style.h"

#include <stdlib.h>
#include <string.h>

#include "wallsample/report/display.h"

/* Widths in cells of a terminal. */
#define GAP 2          /* space between two columns */
#define LAST_LEAST 16  /* the last column is not cut further, even if the line becomes too wide */
#define DETAIL_LEAST 8 /* minimum width to which a detail is cut */
#define PARENTHESES 3  /* width of the characters around a detail: " (" and ")" */

void
columns_init(struct columns *table, const struct column *column, size_t count)
{
	*table = (struct columns){ .column = column, .column_count = count };
}

void
columns_release(struct columns *table)
{
	for (size_t i = 0; i < table->cell_count; i++) {
		free(table->cell[i].text);
		free(table->cell[i].detail);
	}
	free(table->cell);
	*table = (struct columns){ 0 };
}

/* Returns a copy of the text, escaped by strbuf_add_escaped(). The caller frees the copy. */
static char *
copy_escaped(const char *text)
{
	struct strbuf copy = STRBUF_INIT;

	strbuf_add_escaped(&copy, text);
	return copy.data;
}

void
columns_add_detailed(struct columns *table, const char *text, const char *detail)
{
	table->cell = xgrow(table->cell, &table->cell_capacity, table->cell_count + 1,
			    sizeof(*table->cell));
	table->cell[table->cell_count++] = (struct cell){
		.text = copy_escaped(text),
		.detail = detail[0] != '\0' ? copy_escaped(detail) : NULL,
	};
}

void
columns_add(struct columns *table, const char *text)
{
	columns_add_detailed(table, text, "");
}

void
columns_add_bar(struct columns *table, double part, size_t cells)
{
	const size_t rounded = (size_t)(part * (double)cells + 0.5);
	const size_t length = part > 0 && rounded == 0 ? 1 : rounded;
	char *text = xcalloc(length + 1, 1);

	memset(text, '#', length);
	columns_add(table, text);
	table->cell[table->cell_count - 1].bar = true;
	table->cell[table->cell_count - 1].part = part;
	free(text);
}

static size_t
detail_width(const struct cell *cell)
{
	return cell->detail != NULL ? display_width(cell->detail) + PARENTHESES : 0;
}

static size_t
cell_width(const struct cell *cell)
{
	return display_width(cell->text) + detail_width(cell);
}

void
columns_cell_text(const struct columns *table, size_t at, size_t width, struct strbuf *out)
{
	const struct cell *cell = &table->cell[at];
	const size_t text = display_width(cell->text), detail = detail_width(cell);

	if (width == 0)
		width = SIZE_MAX;
	if (detail > 0 && (text + detail <= width || text + PARENTHESES + DETAIL_LEAST <= width)) {
		strbuf_add_format(out, "%s (", cell->text);
		display_add_fitted(out, cell->detail, width - text - PARENTHESES);
		strbuf_add_text(out, ")");
	} else if (detail > 0 && detail * 2 <= width) {
		/* The text is too long and is cut; it gets at least half of the width. */
		display_add_name(out, cell->text, width - detail);
		strbuf_add_format(out, " (%s)", cell->detail);
	} else {
		display_add_name(out, cell->text, width);
	}
}

void
columns_measure(const struct columns *table, size_t width, size_t *widths)
{
	const size_t last = table->column_count - 1;
	size_t before = 0;

	for (size_t c = 0; c <= last; c++)
		widths[c] = table->untitled ? 0 : display_width(table->column[c].title);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t c = i % table->column_count;
		const size_t cells = cell_width(&table->cell[i]);

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
	if (before + widths[last] > width)
		columns_narrow(table, (const bool[COLUMNS_MAX]){ false }, width, widths);
}

void
columns_narrow(const struct columns *table, const bool *left_out, size_t width, size_t *widths)
{
	for (;;) {
		size_t whole = 0, widest = 0;

		for (size_t c = 0; c < table->column_count; c++) {
			if (left_out[c])
				continue;
			whole += widths[c] + GAP;
			if (table->column[widest].right ||
			    (!table->column[c].right && widths[c] > widths[widest]))
				widest = c;
		}
		if (whole <= width + GAP || table->column[widest].right ||
		    widths[widest] <= LAST_LEAST)
			return;
		widths[widest]--;
	}
}

/* Writes the text of a cell in column `c`, which is `width` cells wide, and clears the text. `gap`
 * is the number of cells before it that are still to be written, so that no line ends with
 * spaces. */
static void
write_cell(const struct columns *table, FILE *out, size_t c, struct strbuf *text, size_t width,
	   size_t *gap)
{
	const size_t cells = display_width(text->data);
	const size_t space = cells < width ? width - cells : 0;

	*gap += c > 0 ? GAP : 0;
	if (cells == 0) {
		*gap += width;
		return;
	}
	display_pad(out, *gap + (table->column[c].right ? space : 0));
	if (table->column[c].marks)
		style_marks(out, table->colour, text->data);
	else
		fputs(text->data, out);
	*gap = table->column[c].right ? 0 : space;
	strbuf_clear(text);
}

void
columns_write(const struct columns *table, FILE *out, size_t width)
{
	size_t widths[COLUMNS_MAX], gap = 0;
	struct strbuf text = STRBUF_INIT;

	columns_measure(table, width, widths);
	for (size_t c = 0; c < table->column_count && !table->untitled; c++) {
		display_add_fitted(&text, table->column[c].title, widths[c]);
		write_cell(table, out, c, &text, widths[c], &gap);
	}
	if (!table->untitled)
		fputc('\n', out);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t c = i % table->column_count;

		gap = c == 0 ? 0 : gap;
		columns_cell_text(table, i, widths[c], &text);
		write_cell(table, out, c, &text, widths[c], &gap);
		if (c + 1 == table->column_count)
			fputc('\n', out);
	}
	strbuf_release(&text);
}
