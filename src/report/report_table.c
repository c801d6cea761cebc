/* SPDX-License-Identifier: MIT */
/*
 * report_table.c - writes a table from its description.
 */

#include "wallsample/report/quantity.h"
#include "report/report_internal.h"

static const void *
row_at(const struct report_table *table, size_t index)
{
	return (const char *)table->row + index * table->row_size;
}

static int64_t
number_at(const void *row, size_t member)
{
	return *(const int64_t *)((const char *)row + member);
}

static uint32_t
number32_at(const void *row, size_t member)
{
	return *(const uint32_t *)((const char *)row + member);
}

static int64_t
value_of(const struct report_column *column, const void *row)
{
	return column->unit == COLUMN_COUNT32 ? number32_at(row, column->at) :
						number_at(row, column->at);
}

static double
whole_of(const struct report_table *table, const struct report_column *column, const void *row)
{
	if (column->whole_at > 0)
		return (double)number_at(row, column->whole_at);
	return (double)(column->whole > 0 ? column->whole : table->whole);
}

static size_t
limit_of(const struct report_table *table)
{
	return table->limit > 0 ? table->limit : table->row_count;
}

/* --- pages ---------------------------------------------------------------------------------- */

/* Fills `chosen` with the columns of a page of this width, from left to right. */
static size_t
choose_columns(const struct report_table *table, size_t width, const struct report_column **chosen)
{
	size_t count = 0;

	for (size_t i = 0; i < table->column_count; i++) {
		const struct report_column *column = &table->column[i];
		size_t at = count;

		if (column->title == NULL || width < column->from_width)
			continue;
		for (; at > 0 && chosen[at - 1]->place > column->place; at--)
			chosen[at] = chosen[at - 1];
		chosen[at] = column;
		count++;
	}
	return count;
}

static void
add_bar(const struct report_table *table, const struct report_column *column, const void *row,
	struct columns *out)
{
	const double whole = whole_of(table, column, row);

	columns_add_bar(out, whole > 0 ? (double)value_of(column, row) / whole : 0, table->bar);
}

static void
add_text(const struct report_table *table, const struct report_column *column, const void *row,
	 struct strbuf *out)
{
	struct strbuf raw;

	strbuf_init(&raw);
	if (column->text != NULL)
		column->text(table, row, &raw);
	strbuf_add_escaped(out, raw.length > 0 ? raw.data : "");
	strbuf_release(&raw);
}

static void
add_cell(const struct report_table *table, const struct report_column *column, const void *row,
	 struct columns *out)
{
	struct strbuf sb;

	if (column->unit == COLUMN_BAR) {
		add_bar(table, column, row, out);
		return;
	}
	if (column->unit == COLUMN_FUNCTION &&
	    number32_at(row, column->at) < view_function_count(table->view)) {
		report_add_function_cell(out,
					 view_function(table->view, number32_at(row, column->at)));
		return;
	}
	strbuf_init(&sb);
	if (column->unit == COLUMN_TIME)
		quantity_add_time(&sb, value_of(column, row));
	else if (column->unit == COLUMN_SHARE)
		quantity_add_share(&sb, (double)value_of(column, row),
				   whole_of(table, column, row));
	else if (column->unit == COLUMN_COUNT || column->unit == COLUMN_COUNT32)
		quantity_add_count(&sb, (uint64_t)value_of(column, row));
	else
		add_text(table, column, row, &sb);
	columns_add(out, sb.data);
	strbuf_release(&sb);
}

void
report_table_write(const struct report_table *table, struct page *page)
{
	const struct report_column *chosen[COLUMNS_MAX];
	const size_t count = choose_columns(table, page->width, chosen);
	struct column column[COLUMNS_MAX];
	struct columns cells;

	for (size_t c = 0; c < count; c++)
		column[c] = (struct column){ chosen[c]->title, !chosen[c]->left, chosen[c]->most };
	columns_init(&cells, column, count);
	for (size_t i = 0; i < table->row_count && i < limit_of(table); i++)
		for (size_t c = 0; c < count; c++)
			add_cell(table, chosen[c], row_at(table, i), &cells);
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
	struct strbuf sb;

	if (count <= limit)
		return;
	strbuf_init(&sb);
	strbuf_add_text(&sb, "… and ");
	quantity_add_things(&sb, count - limit, one, many);
	write(page, sb.data);
	strbuf_release(&sb);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void
add_members(const struct report_table *table, const struct report_column *column, const void *row,
	    struct json_stream *stream, json_t *object)
{
	struct strbuf text;

	if (column->json != NULL)
		column->json(table, row, stream, object);
	if (column->key == NULL)
		return;
	if (column->unit != COLUMN_TEXT && column->unit != COLUMN_OPTIONAL) {
		json_object_set_new(object, column->key, json_integer(value_of(column, row)));
		return;
	}
	strbuf_init(&text);
	column->text(table, row, &text);
	if (text.length > 0)
		json_object_set_new(object, column->key, json_stream_text(stream, text.data));
	else if (column->unit == COLUMN_TEXT)
		json_object_set_new(object, column->key, json_null());
	strbuf_release(&text);
}

static json_t *
row_object(const struct report_table *table, size_t index, struct json_stream *stream)
{
	json_t *object = json_object();

	for (size_t c = 0; c < table->column_count; c++)
		add_members(table, &table->column[c], row_at(table, index), stream, object);
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
