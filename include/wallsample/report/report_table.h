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

struct report_table;

/* The source of a cell's value, and its format on a page. JSON has plain numbers. */
enum column_unit {
	COLUMN_TEXT,     /* text(): foreign bytes are escaped; JSON: null if empty */
	COLUMN_OPTIONAL, /* the same; JSON: no member if empty */
	COLUMN_TIME,     /* int64_t at `at`, in ns: "1.20s" */
	COLUMN_COUNT,    /* int64_t at `at`: "1,234" */
	COLUMN_COUNT32,  /* uint32_t at `at` */
	COLUMN_SHARE,    /* int64_t at `at`, of the whole: "12.34%" */
	COLUMN_BAR,      /* the same as a bar, on pages only */
	COLUMN_FUNCTION, /* uint32_t at `at`, a function of table->view: "name (module)". If there
			 * is no such function: text(), or nothing without text() */
	COLUMN_JSON,     /* not on pages; json() adds members to the object */
};

struct report_column {
	const char *title; /* on a page; NULL: not on pages */
	const char *key;   /* in JSON; NULL: not in JSON, except by json() */
	enum column_unit unit;
	size_t at;       /* offset of the value in the row */
	int64_t whole;   /* 100 % of shares and bars; 0: the table's */
	size_t whole_at; /* the same, as the offset of an int64_t in the row; 0: none */
	void (*text)(const struct report_table *table, const void *row, struct strbuf *out);
	void (*json)(const struct report_table *table, const void *row, struct json_stream *stream,
		     json_t *object);
	int place;         /* order on a page, from left to right; equal ones in array order */
	bool left;         /* aligned to the left */
	size_t most;       /* maximum width in cells on a page; 0: no limit */
	size_t from_width; /* minimum width of a page that shows the column */
};

struct report_table {
	const struct report_column *column;
	size_t column_count; /* at most COLUMNS_MAX */
	const void *row;     /* an array of `row_count` elements of `row_size` bytes */
	size_t row_size, row_count;
	size_t limit;            /* maximum rows on a page; 0: all. JSON has all rows */
	const char *one, *many;  /* noun of the rows beyond: "more state"; NULL: no line */
	int64_t whole;           /* 100 % of shares and bars */
	size_t bar;              /* cells of the longest bar */
	const struct view *view; /* for COLUMN_FUNCTION and callbacks */
	const void *context;     /* for callbacks */
};

/* A table of the arrays and at least one other member as a designated initializer. */
#define REPORT_TABLE(columns, rows, count, ...)                                                    \
	((struct report_table){ .column = (columns),                                               \
				.column_count = ARRAY_SIZE(columns),                               \
				.row = (rows),                                                     \
				.row_size = sizeof(*(rows)),                                       \
				.row_count = (count),                                              \
				__VA_ARGS__ })

/* Writes the table to the page, with the number of rows that are left out. */
void report_table_write(const struct report_table *table, struct page *page);

/* Writes a list of this name with one object per row. */
void report_table_write_json(const struct report_table *table, struct json_stream *stream,
			     const char *name);
/* Returns the same list as one value, which the caller owns; for short tables. */
json_t *report_table_json(const struct report_table *table, struct json_stream *stream);

/* Writes "… and 12 more functions" by `write`, a page operation; nothing if count <= limit. */
void report_table_write_rest(struct page *page, void (*write)(struct page *, const char *),
			     size_t count, size_t limit, const char *one, const char *many);

#endif
