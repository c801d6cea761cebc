/* SPDX-License-Identifier: MIT */
/*
 * report_table.h - describes a table of a report as data: its columns, and how each gets its value
 * from a row. Pages (a terminal or a document) and JSON are written from the same description.
 */
#ifndef WALLSAMPLE_REPORT_REPORT_TABLE_H
#define WALLSAMPLE_REPORT_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/report/json_stream.h"
#include "wallsample/report/page.h"
#include "wallsample/analysis/view.h"

/* The type of a cell's value, and its format on a page. JSON has plain numbers. */
enum column_unit {
	/* A text: what column->text() adds, or if that is NULL, the const char * at offset `at`
	 * of the row. Pages escape it (strbuf_add_escaped). JSON: null for an empty text. */
	COLUMN_TEXT,
	COLUMN_OPTIONAL, /* like COLUMN_TEXT, but JSON has no member for an empty text */
	COLUMN_TIME,     /* int64_t at `at`, in ns: "1.20s" */
	COLUMN_COUNT,    /* int64_t at `at`: "1,234" */
	COLUMN_COUNT32,  /* uint32_t at `at`: "1,234" */
	COLUMN_SHARE,    /* int64_t at `at`, as a part of the whole: "12.34%" */
	COLUMN_PART,     /* double at `at`, from 0 to 1: "12.34%"; on pages only */
	/* int64_t at `at`: a bar whose length shows the part of the whole; on pages only */
	COLUMN_BAR,
	/*
	 * uint32_t at `at`, a function of table->view: "name (module)"; on pages only. If the value
	 * is no function, the cell has what column->text() adds, or is empty if text() is NULL.
	 */
	COLUMN_FUNCTION,
	COLUMN_JSON, /* JSON only: column->json() adds members to the object of the row */
};

/* A cell for which a callback of its column is called. */
struct report_cell {
	const struct report_table *table;
	const struct report_column *column;
	const void *row;            /* an element of table->row */
	struct json_stream *stream; /* NULL on a page */
};

/* Returns the address of the cell's value: column->at bytes behind the start of the row. */
const void *report_cell_value(const struct report_cell *cell);

struct report_column {
	const char *title; /* title of the column on a page; NULL: pages do not have the column */
	/* name of the member in JSON; NULL: JSON has no such member, but json() may add some */
	const char *key;
	enum column_unit unit;
	size_t at; /* offset of the value in the row, in bytes */
	/* the value that is 100%; 0: table->whole is used. Neither is used if whole_at is set */
	int64_t whole;
	/* offset in the row of an int64_t that is 100%; 0: the row has no such value */
	size_t whole_at;
	void (*text)(const struct report_cell *cell, struct strbuf *out);
	/* Adds the text that a page shows in parentheses after the text of a COLUMN_TEXT. */
	void (*detail)(const struct report_cell *cell, struct strbuf *out);
	void (*json)(const struct report_cell *cell, json_t *object);
	bool left;         /* cells are aligned to the left */
	bool marks;        /* cells are bars of marks (style_marks) */
	size_t most;       /* maximum width in cells on a page; 0: no limit */
	size_t from_width; /* minimum width of a page that shows the column */
};

struct report_table {
	const struct report_column *column;
	size_t column_count; /* at most COLUMNS_MAX */
	const void *row;     /* an array of `row_count` elements of `row_size` bytes each */
	size_t row_size, row_count;
	size_t limit; /* maximum number of rows on a page; 0: all. JSON has all rows */
	/* noun for omitted rows: "state", "states"; NULL: the number of omitted rows is not
	 * written */
	const char *one, *many;
	int64_t whole; /* the value that is 100% in columns that do not set whole or whole_at */
	size_t bar;    /* length in cells of a bar for 100% */
	const struct view *view; /* used by COLUMN_FUNCTION and callbacks */
	const void *context;     /* used by callbacks */
	bool untitled;           /* a terminal shows no titles of columns */
};

/*
 * A struct report_table of the arrays `columns` and `rows`. The remaining arguments are designated
 * initializers of other members; at least one is needed.
 */
#define REPORT_TABLE(columns, rows, count, ...)                                                    \
	((struct report_table){ .column = (columns),                                               \
				.column_count = ARRAY_SIZE(columns),                               \
				.row = (rows),                                                     \
				.row_size = sizeof(*(rows)),                                       \
				.row_count = (count),                                              \
				__VA_ARGS__ })

/* Writes the table to the page, and below it the number of omitted rows. */
void report_table_write(const struct report_table *table, struct page *page);

/* Writes a JSON list named `name` with one object for each row. */
void report_table_write_json(const struct report_table *table, struct json_stream *stream,
			     const char *name);
/* Returns the JSON list as one value, which the caller owns; for tables of few rows. */
json_t *report_table_json(const struct report_table *table, struct json_stream *stream);

/*
 * Writes "… and 12 more functions", where 12 is count - limit, by calling `write`: page->ops->rest
 * or page->ops->lead. The nouns `one` and `many` may be "". Writes nothing if count <= limit.
 */
void report_table_write_rest(struct page *page, void (*write)(struct page *, const char *),
			     size_t count, size_t limit, const char *one, const char *many);

#endif
