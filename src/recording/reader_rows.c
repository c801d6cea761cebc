/* SPDX-License-Identifier: MIT */
/* reader_rows.c - the rows of a query, each value within its range. */
#include <math.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/* Bound for any size of file: a sparse file is larger than its disk space. */
#define TEXT_MOST (UINT64_C(1) << 29)

int
reader_damaged(const struct recording *recording, const char *what, struct error *err)
{
	return error_set(err, ERROR_FORMAT, "%s is damaged: its %s cannot be right",
			 recording->path, what);
}

int
reader_refuse(const struct recording *recording, struct error *err)
{
	const int code = recording->db != NULL ? sqlite3_errcode(recording->db) : SQLITE_NOMEM;

	if (code == SQLITE_INTERRUPT)
		return reader_damaged(recording, "pages", err);
	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT || code == SQLITE_TOOBIG ||
	    code == SQLITE_ERROR)
		return error_set(err, ERROR_FORMAT, "%s is damaged: %s", recording->path,
				 sqlite3_errmsg(recording->db));
	return error_set(err, ERROR_SYSTEM, "cannot read %s: %s", recording->path,
			 sqlite3_errstr(code));
}

void
rows_begin_sql(struct rows *rows, struct recording *recording, const char *sql)
{
	*rows = (struct rows){ .recording = recording, .last_id = -1 };
	recording->steps = 0;
	rows->rc = sqlite3_prepare_v2(recording->db, sql, -1, &rows->query, NULL);
}

void
rows_begin(struct rows *rows, struct recording *recording, enum recording_table table,
	   const char *tail)
{
	struct strbuf sql;

	strbuf_init(&sql);
	schema_add_select(&sql, table, recording->version, tail);
	rows_begin_sql(rows, recording, sql.data);
	strbuf_release(&sql);
}

bool
rows_next(struct rows *rows)
{
	if (rows->rc != SQLITE_OK && rows->rc != SQLITE_ROW)
		return false;
	if (rows->bad)
		return false;
	rows->rc = sqlite3_step(rows->query);
	/* Pages that form a ring give endless rows. A row takes more than one byte of the file. */
	if (rows->rc == SQLITE_ROW && !rows->recording->borrowed &&
	    ++rows->count > rows->recording->info.size)
		rows->bad = true;
	return rows->rc == SQLITE_ROW && !rows->bad;
}

bool
rows_next_id(struct rows *rows, int64_t limit, int64_t *id)
{
	if (!rows_next(rows))
		return false;
	*id = rows_number(rows, 0, rows->last_id + 1, limit - 1);
	rows->last_id = *id;
	return !rows->bad;
}

bool
rows_next_dense(struct rows *rows, size_t count, size_t limit)
{
	if (!rows_next(rows))
		return false;
	(void)rows_number(rows, 0, (int64_t)count, (int64_t)count);
	rows->bad |= count >= limit;
	return !rows->bad;
}

int64_t
rows_number(struct rows *rows, int column, int64_t least, int64_t most)
{
	const int64_t value = sqlite3_column_int64(rows->query, column);

	if (value >= least && value <= most &&
	    sqlite3_column_type(rows->query, column) == SQLITE_INTEGER)
		return value;
	rows->bad = true;
	return least;
}

int64_t
rows_index(struct rows *rows, int column, size_t count)
{
	return rows_number(rows, column, 0, (int64_t)count - 1);
}

int64_t
rows_index_or_none(struct rows *rows, int column, size_t count)
{
	return rows_number(rows, column, -1, (int64_t)count - 1);
}

double
rows_fraction(struct rows *rows, int column)
{
	const double value = sqlite3_column_double(rows->query, column);

	return isfinite(value) ? value : 0;
}

double
rows_real(struct rows *rows, int column, double least, double most)
{
	const double value = sqlite3_column_double(rows->query, column);
	const int type = sqlite3_column_type(rows->query, column);

	/* Comparisons with NaN are false. */
	if ((type == SQLITE_FLOAT || type == SQLITE_INTEGER) && value >= least && value <= most)
		return value;
	rows->bad = true;
	return least;
}

bool
rows_is_null(const struct rows *rows, int column)
{
	return sqlite3_column_type(rows->query, column) == SQLITE_NULL;
}

const char *
rows_text(struct rows *rows, int column)
{
	const unsigned char *text = sqlite3_column_text(rows->query, column);
	const uint64_t size = rows->recording->info.size;

	if (text == NULL)
		return "";
	/* Rows may share pages, so that each text may be the whole file; UTF-16 becomes longer. */
	rows->bytes += (uint64_t)sqlite3_column_bytes(rows->query, column);
	if (!rows->recording->borrowed &&
	    rows->bytes > (2 * size < TEXT_MOST ? 2 * size : TEXT_MOST)) {
		rows->bad = true;
		return "";
	}
	return (const char *)text;
}

const char *
rows_text_or_null(struct rows *rows, int column)
{
	return rows_is_null(rows, column) ? NULL : rows_text(rows, column);
}

enum gil
rows_gil(struct rows *rows, int column)
{
	enum gil gil;

	return gil_parse(rows_text(rows, column), &gil) ? gil : GIL_UNKNOWN;
}

int
rows_end(struct rows *rows, const char *table, struct error *err)
{
	int rc = 0;

	if (rows->bad)
		rc = reader_damaged(rows->recording, table, err);
	else if (rows->rc != SQLITE_DONE)
		rc = reader_refuse(rows->recording, err);
	sqlite3_finalize(rows->query);
	rows->query = NULL;
	return rc;
}
