/* SPDX-License-Identifier: MIT */
/*
 * columns.c - collects the cells of a table, then writes it aligned.
 */
#include "wallsample/report/columns.h"

#include <stdlib.h>

#include "wallsample/report/display.h"

#define GAP 2          /* cells between columns */
#define LAST_LEAST 16  /* minimum width of the last column, on any terminal */
#define DETAIL_LEAST 8 /* minimum width of a cut detail */
#define PARENTHESES 3  /* " (" and ")" */

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

void
columns_add_detailed(struct columns *table, const char *text, const char *detail)
{
	table->cell = xgrow(table->cell, &table->cell_capacity, table->cell_count + 1,
			    sizeof(*table->cell));
	table->cell[table->cell_count++] = (struct cell){
		.text = xstrdup(text),
		.detail = detail[0] != '\0' ? xstrdup(detail) : NULL,
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
	size_t length = (size_t)(part * (double)cells + 0.5);
	struct strbuf sb = STRBUF_INIT;

	strbuf_add_text(&sb, "");
	if (part > 0 && length == 0)
		length = 1;
	while (length-- > 0)
		strbuf_add_text(&sb, "#");
	columns_add(table, sb.data);
	table->cell[table->cell_count - 1].bar = true;
	table->cell[table->cell_count - 1].part = part;
	strbuf_release(&sb);
}

static size_t
cell_width(const struct cell *cell)
{
	const size_t detail = cell->detail != NULL ? display_width(cell->detail) + PARENTHESES : 0;

	return display_width(cell->text) + detail;
}

static void
add_fitted(struct strbuf *out, const struct cell *cell, size_t width)
{
	const size_t taken = display_width(cell->text) + PARENTHESES;

	if (cell->detail == NULL) {
		display_add_name(out, cell->text, width);
		return;
	}
	if (cell_width(cell) > width && taken + DETAIL_LEAST > width) {
		const size_t detail = display_width(cell->detail) + PARENTHESES;

		/* Cuts a long name; the detail stays if the name keeps half of the width. */
		if (detail * 2 > width) {
			display_add_name(out, cell->text, width);
			return;
		}
		display_add_name(out, cell->text, width - detail);
		strbuf_add_format(out, " (%s)", cell->detail);
		return;
	}
	strbuf_add_text(out, cell->text);
	strbuf_add_text(out, " (");
	display_add_fitted(out, cell->detail, width - taken);
	strbuf_add_text(out, ")");
}

void
columns_cell_text(const struct columns *table, size_t cell, size_t width, struct strbuf *out)
{
	add_fitted(out, &table->cell[cell], width > 0 ? width : SIZE_MAX);
}

/* The width of the widest cell, limited by column->most. */
void
columns_measure(const struct columns *table, size_t width, size_t *widths)
{
	const size_t last = table->column_count - 1;
	size_t before = 0;

	for (size_t c = 0; c <= last; c++)
		widths[c] = display_width(table->column[c].title);
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
}

/* Writes a cell, and clears its text, which fits the column. */
static void
write_cell(const struct columns *table, FILE *out, size_t c, struct strbuf *text, size_t width)
{
	const size_t cells = display_width(text->data);
	const size_t space = cells < width ? width - cells : 0;

	/* No spaces at the end of a line. */
	if (cells == 0 && c + 1 == table->column_count)
		return;
	if (c > 0)
		display_pad(out, GAP);
	if (table->column[c].right)
		display_pad(out, space);
	fputs(text->data, out);
	if (!table->column[c].right && c + 1 < table->column_count)
		display_pad(out, space);
	strbuf_clear(text);
}

void
columns_write(const struct columns *table, FILE *out, size_t width)
{
	size_t widths[COLUMNS_MAX];
	struct strbuf text = STRBUF_INIT;

	columns_measure(table, width, widths);
	for (size_t c = 0; c < table->column_count; c++) {
		display_add_fitted(&text, table->column[c].title, widths[c]);
		write_cell(table, out, c, &text, widths[c]);
	}
	fputc('\n', out);
	for (size_t i = 0; i < table->cell_count; i++) {
		const size_t c = i % table->column_count;

		add_fitted(&text, &table->cell[i], widths[c]);
		write_cell(table, out, c, &text, widths[c]);
		if (c + 1 == table->column_count)
			fputc('\n', out);
	}
	strbuf_release(&text);
}
