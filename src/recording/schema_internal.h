/* SPDX-License-Identifier: MIT */
/*
 * schema_internal.h - what the macros below make of the lists in columns_internal.h: a struct for
 * the rows of each table, the ranges that the reader checks, and the SQL that creates, fills and
 * reads a table.
 */
#ifndef WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H
#define WALLSAMPLE_RECORDING_SCHEMA_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "recording/columns_internal.h"

struct strbuf;

/* A value of a column without an SQL type, such as `value` in the tables meta, cost and causal. */
struct recording_value {
	enum { VALUE_INT, VALUE_REAL, VALUE_TEXT } type;
	int64_t number;   /* 0 unless the type is VALUE_INT */
	double real;      /* value of a VALUE_REAL; the reader converts other types to it */
	const char *text; /* value of a VALUE_TEXT; the reader converts other types to it */
};

/* A number that may be NULL in the database. */
struct recording_optional {
	bool known; /* false: the column is NULL */
	int64_t number;
};

enum recording_table {
#define X(id, name, since, ending) TABLE_##id,
	RECORDING_TABLES(X) RECORDING_TABLE_COUNT,
#undef X
	TABLE_NONE = RECORDING_TABLE_COUNT
};

/* For each table a row struct, such as "struct threads_row { int64_t id; int64_t tid; ... };". */
#define X(class, c_type) typedef c_type class_##class;
COLUMN_CLASSES(X)
#undef X
#define X(name, class, sql, least, most, table) typedef class_##class column_##name;
COLUMN_TYPES(X)
#undef X
#define C(table, name, type) column_##type name;
#define ADDED(table, name, type, since, fallback) column_##type name;
#define X(id, name, since, ending)                                                                 \
	struct name##_row {                                                                        \
		id##_COLUMNS(C, ADDED, id)                                                         \
	};
RECORDING_TABLES(X)
#undef X
#undef ADDED
#undef C

union recording_row {
#define X(id, name, since, ending) struct name##_row name;
	RECORDING_TABLES(X)
#undef X
};

enum column_class {
#define X(class, c_type) CLASS_##class,
	COLUMN_CLASSES(X)
#undef X
};

enum column_type {
#define X(name, class, sql, least, most, table) COLUMN_##name,
	COLUMN_TYPES(X)
#undef X
};

struct column_type_info {
	enum column_class class;
	const char *sql;
	int64_t least, most;          /* bounds of an integer */
	double real_least, real_most; /* bounds of a CLASS_REAL */
	enum recording_table table;
};

extern const struct column_type_info column_types[];

struct recording_column {
	const char *name;
	enum column_type type;
	unsigned since;       /* schema version that added the column; 0: that of the table */
	const char *fallback; /* SQL literal for recordings of versions before `since` */
	size_t offset;        /* offset of the member in the row struct */
};

struct recording_table_info {
	const char *name, *ending; /* ending: end of the CREATE statement, behind the columns */
	unsigned since;            /* schema version that added the table */
	const struct recording_column *column;
	size_t column_count;
};

extern const struct recording_table_info recording_tables[RECORDING_TABLE_COUNT];

/* Each function appends an SQL statement. `version` is the schema version of the recording. */
void schema_add_create(struct strbuf *sql, enum recording_table table, unsigned version);
void schema_add_insert(struct strbuf *sql, enum recording_table table);
/*
 * Appends a query of all columns. `tail` is the SQL after the name of the table; NULL stands for
 * "ORDER BY 1, 2", which orders each table by its primary key. If schema `version` does not have
 * the table, the query returns no rows.
 */
void schema_add_select(struct strbuf *sql, enum recording_table table, unsigned version,
		       const char *tail);

/*
 * CREATE statements of views for users of SQL; wallsample does not read them. The last element is
 * NULL.
 */
extern const char *const recording_views[];

#endif
