/* SPDX-License-Identifier: MIT */
/*
 * report_table.h - a table of a report, described once as data: its columns, and how each follows
 * from a row. A page (a terminal or a document) and JSON are made from the same description.
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

/* Where the value of a cell comes from, and how a page shows it. JSON has bare numbers. */
enum column_unit {
	COLUMN_TEXT,     /* text(): bytes of any origin, which are escaped; JSON: null if empty */
	COLUMN_OPTIONAL, /* the same; JSON has no member if it is empty */
	COLUMN_TIME,     /* int64_t at `at`, in ns: "1.20s" */
	COLUMN_COUNT,    /* int64_t at `at`: "1,234" */
	COLUMN_COUNT32,  /* uint32_t at `at` */
	COLUMN_SHARE,    /* int64_t at `at`, of the whole: "12.34%" */
	COLUMN_BAR,      /* the same as a bar, on a page alone */
	COLUMN_FUNCTION, /* uint32_t at `at`, a function of table->view: "name (module)"; text()
			 * if there is no such function, or nothing */
	COLUMN_JSON,     /* nothing on pages; json() adds members to the object */
};

struct report_column {
	const char *title; /* on a page; NULL: it is not on pages */
	const char *key;   /* in JSON; NULL: it is not in JSON, except for json() */
	enum column_unit unit;
	size_t at;         /* offset of the value in the row */
	int64_t whole;     /* of shares and bars; 0: the table's */
	size_t whole_at; /* the same as the offset of an int64_t in the row; 0: none */
	void (*text)(const struct report_table *table, const void *row, struct strbuf *out);
	void (*json)(const struct report_table *table, const void *row, struct json_stream *stream,
		     json_t *object);
	int place;         /* on a page: from left to right, equal ones as in the array */
	bool left;         /* aligned to the left */
	size_t most;       /* cells that it may take on a page; 0: no limit */
	size_t from_width; /* it is on pages of at least this width */
};

struct report_table {
	const struct report_column *column;
	size_t column_count; /* at most COLUMNS_MAX */
	const void *row;     /* an array of `row_count` elements of `row_size` bytes */
	size_t row_size, row_count;
	size_t limit;        /* rows on a page, JSON has all; 0: all */
	const char *one, *many; /* what the rows beyond are called: "more state"; NULL: nothing */
	int64_t whole;       /* of shares and bars */
	size_t bar;          /* cells of the longest bar */
	const struct view *view; /* of functions; for callbacks, as is the next */
	const void *context;
};

/* A table of three arrays, and what else it has as designated members, at least one. */
#define REPORT_TABLE(columns, rows, count, ...)                                                  \
	((struct report_table){ .column = (columns), .column_count = ARRAY_SIZE(columns),        \
				.row = (rows), .row_size = sizeof(*(rows)),                      \
				.row_count = (count), __VA_ARGS__ })

/* Lays the table out on the page, and says how many rows are left out. */
void report_table_write(const struct report_table *table, struct page *page);

/* Writes a list of this name, with an object for each row. */
void report_table_write_json(const struct report_table *table, struct json_stream *stream,
			     const char *name);
/* The same as one value, which the caller owns; for short tables. */
json_t *report_table_json(const struct report_table *table, struct json_stream *stream);

/* "… and 12 more functions", by one of the page's writers; nothing if count <= limit. */
void report_table_write_rest(struct page *page, void (*write)(struct page *, const char *),
			     size_t count, size_t limit, const char *one, const char *many);

#endif
