/* SPDX-License-Identifier: MIT */
/* report_table.c - writes a table from its description. */
#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

const void *
report_cell_value(const struct report_cell *cell)
{
	return (const char *)cell->row + cell->column->at;
}

static int64_t
number_of(const struct report_cell *cell)
{
	return cell->column->unit == COLUMN_COUNT32 ? *(const uint32_t *)report_cell_value(cell) :
						      *(const int64_t *)report_cell_value(cell);
}

static double
whole_of(const struct report_cell *cell)
{
	const struct report_column *column = cell->column;

	if (column->whole_at > 0)
		return (double)*(const int64_t *)((const char *)cell->row + column->whole_at);
	return (double)(column->whole > 0 ? column->whole : cell->table->whole);
}

static struct report_cell
cell_at(const struct report_table *table, size_t row, const struct report_column *column)
{
	return (struct report_cell){
		.table = table,
		.column = column,
		.row = (const char *)table->row + row * table->row_size,
	};
}

static void
add_raw_text(const struct report_cell *cell, struct strbuf *out)
{
	strbuf_add_text(out, "");
	if (cell->column->text != NULL)
		cell->column->text(cell, out);
	else if (cell->column->unit != COLUMN_FUNCTION)
		strbuf_add_text(out, *(const char *const *)report_cell_value(cell));
}

static size_t
limit_of(const struct report_table *table)
{
	return table->limit > 0 ? table->limit : table->row_count;
}

/* --- pages ---------------------------------------------------------------------------------- */

/* Stores in `chosen` the columns that a page of this width shows, and returns their number. */
static size_t
choose_columns(const struct report_table *table, size_t width, const struct report_column **chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++)
		if (table->column[i].title != NULL && width >= table->column[i].from_width)
			chosen[count++] = &table->column[i];
	return count;
}

static void
add_text(const struct report_cell *cell, struct columns *out)
{
	struct strbuf text = STRBUF_INIT, detail = STRBUF_INIT;

	strbuf_add_text(&detail, "");
	add_raw_text(cell, &text);
	if (cell->column->detail != NULL)
		cell->column->detail(cell, &detail);
	columns_add_detailed(out, text.data, detail.data);
	strbuf_release(&text);
	strbuf_release(&detail);
}

/*
 * Adds the name of a function. The module follows in parentheses unless the name determines it. If
 * the value is no function, adds what the text() of the column adds.
 */
static void
add_function(const struct report_cell *cell, struct columns *out)
{
	const uint32_t id = *(const uint32_t *)report_cell_value(cell);

	if (id < view_function_count(cell->table->view)) {
		const struct view_function *function = view_function(cell->table->view, id);

		columns_add_detailed(out, function->name,
				     function->needs_module ? function->place : "");
	} else {
		add_text(cell, out);
	}
}

static void
add_cell(const struct report_cell *cell, struct columns *out)
{
	switch (cell->column->unit) {
	case COLUMN_TIME:
		columns_add(out, quantity_time(number_of(cell)).text);
		break;
	case COLUMN_COUNT:
	case COLUMN_COUNT32:
		columns_add(out, quantity_count((uint64_t)number_of(cell)).text);
		break;
	case COLUMN_SHARE:
		columns_add(out, quantity_share((double)number_of(cell), whole_of(cell)).text);
		break;
	case COLUMN_PART:
		columns_add(out, quantity_share(*(const double *)report_cell_value(cell), 1).text);
		break;
	case COLUMN_BAR:
		columns_add_bar(out,
				whole_of(cell) > 0 ? (double)number_of(cell) / whole_of(cell) : 0,
				cell->table->bar);
		break;
	case COLUMN_FUNCTION:
		add_function(cell, out);
		break;
	default:
		add_text(cell, out);
	}
}

void
report_table_write(const struct report_table *table, struct page *page)
{
	const struct report_column *chosen[COLUMNS_MAX];
	const size_t count = choose_columns(table, page->width, chosen);
	struct column column[COLUMNS_MAX];
	struct columns cells;

	for (size_t c = 0; c < count; c++)
		column[c] = (struct column){ .title = chosen[c]->title,
					     .right = !chosen[c]->left,
					     .most = chosen[c]->most,
					     .marks = chosen[c]->marks };
	columns_init(&cells, column, count);
	cells.untitled = table->untitled;
	cells.colour = page->colour;
	for (size_t i = 0; i < table->row_count && i < limit_of(table); i++)
		for (size_t c = 0; c < count; c++) {
			const struct report_cell cell = cell_at(table, i, chosen[c]);

			add_cell(&cell, &cells);
		}
	page->ops->table(page, &cells);
	if (table->one != NULL)
		report_table_write_rest(page, page->ops->rest, table->row_count, limit_of(table),
					table->one, table->many);
	columns_release(&cells);
}

void
report_table_write_rest(struct page *page, void (*write)(struct page *, const char *), size_t count,
			size_t limit, const char *one, const char *many)
{
	if (count > limit)
		page_write(page, write, "… and %s more%s%s", quantity_count(count - limit).text,
			   one[0] != '\0' ? " " : "", count - limit == 1 ? one : many);
}

/* --- JSON ----------------------------------------------------------------------------------- */

/*
 * Returns the text as a JSON string. For an empty text it returns JSON's null; in a COLUMN_OPTIONAL
 * it returns the pointer NULL, and json_object_set_new() then adds no member.
 */
static json_t *
text_value(const struct report_cell *cell)
{
	struct strbuf text = STRBUF_INIT;
	json_t *value = NULL;

	add_raw_text(cell, &text);
	if (text.length > 0)
		value = json_stream_text(cell->stream, text.data);
	else if (cell->column->unit == COLUMN_TEXT)
		value = json_null();
	strbuf_release(&text);
	return value;
}

static void
add_members(const struct report_cell *cell, json_t *object)
{
	const struct report_column *column = cell->column;

	if (column->json != NULL)
		column->json(cell, object);
	if (column->key == NULL)
		return;
	if (column->unit == COLUMN_TEXT || column->unit == COLUMN_OPTIONAL)
		json_object_set_new(object, column->key, text_value(cell));
	else
		json_object_set_new(object, column->key, json_integer(number_of(cell)));
}

static json_t *
row_object(const struct report_table *table, size_t row, struct json_stream *stream)
{
	json_t *object = json_object();

	for (size_t c = 0; c < table->column_count; c++) {
		struct report_cell cell = cell_at(table, row, &table->column[c]);

		cell.stream = stream;
		add_members(&cell, object);
	}
	return object;
}

json_t *
report_table_json(const struct report_table *table, struct json_stream *stream)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->row_count; i++)
		json_array_append_new(list, row_object(table, i, stream));
	return list;
}

void
report_table_write_json(const struct report_table *table, struct json_stream *stream,
			const char *name)
{
	json_stream_begin_list(stream, name);
	for (size_t i = 0; i < table->row_count; i++)
		json_stream_put(stream, NULL, row_object(table, i, stream));
	json_stream_end(stream);
}
