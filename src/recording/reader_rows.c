/* SPDX-License-Identifier: MIT */
/* reader_rows.c - reads the rows of a query, and checks the range of each value. */
#include "recording/reader_internal.h"
#include "wallsample/base/base.h"

/*
 * Most bytes of texts that a query may read, however large the file is: a sparse file may be very
 * large.
 */
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
	rows->info = &recording_tables[table];
	rows->in_order = tail == NULL;
	strbuf_release(&sql);
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
	/*
	 * In a hostile file many rows may share pages, and each of their texts may be as long as
	 * the file, hence a bound on the sum. It is twice the file's size, because text in UTF-16
	 * becomes longer when SQLite converts it.
	 */
	rows->bytes += (uint64_t)sqlite3_column_bytes(rows->query, column);
	if (!rows->recording->borrowed &&
	    rows->bytes > (2 * size < TEXT_MOST ? 2 * size : TEXT_MOST)) {
		rows->bad = true;
		return "";
	}
	return (const char *)text;
}

/*
 * Reads the id of a row of another table, or of an earlier row of the same table. Returns the id
 * that this row has in the profile; UINT32_MAX if the column stands for no row, or if the id is out
 * of range (rows->bad).
 */
static int64_t
read_reference(struct rows *rows, int column, const struct column_type_info *type)
{
	const struct id_map *map = &rows->recording->map[type->table];
	const int64_t id = rows_number(rows, column, type->least, (int64_t)map->count - 1);

	return id < 0 || rows->bad ? UINT32_MAX : map->id[id];
}

static double
read_real(struct rows *rows, int column, const struct column_type_info *type)
{
	const double value = sqlite3_column_double(rows->query, column);
	const int storage = sqlite3_column_type(rows->query, column);

	/* Comparisons with NaN are false. */
	if ((storage == SQLITE_FLOAT || storage == SQLITE_INTEGER) && value >= type->real_least &&
	    value <= type->real_most)
		return value;
	rows->bad = true;
	return type->real_least;
}

static struct recording_value
read_value(struct rows *rows, int column)
{
	const int storage = sqlite3_column_type(rows->query, column);
	struct recording_value value = {
		.type = storage == SQLITE_INTEGER ? VALUE_INT :
			storage == SQLITE_FLOAT   ? VALUE_REAL :
						    VALUE_TEXT,
		.real = sqlite3_column_double(rows->query, column),
	};

	if (storage == SQLITE_INTEGER)
		value.number = sqlite3_column_int64(rows->query, column);
	/* The text is read last, because its conversion may change the type of the column. */
	value.text = rows_text(rows, column);
	return value;
}

static void
read_column(struct rows *rows, int column, const struct column_type_info *type, void *to)
{
	const bool null = rows_is_null(rows, column);

	switch (type->class) {
	case CLASS_NUMBER:
		*(int64_t *)to = rows_number(rows, column, type->least, type->most);
		break;
	case CLASS_OPTIONAL:
		*(struct recording_optional *)to = (struct recording_optional){
			.known = !null,
			.number = null ? 0 : rows_number(rows, column, type->least, type->most),
		};
		break;
	case CLASS_REFERENCE:
		*(int64_t *)to = read_reference(rows, column, type);
		break;
	case CLASS_REFERENCE_OR_NULL:
		*(int64_t *)to = null ? UINT32_MAX : read_reference(rows, column, type);
		break;
	case CLASS_REAL:
		*(double *)to = read_real(rows, column, type);
		break;
	case CLASS_TEXT:
		*(const char **)to = rows_text(rows, column);
		break;
	case CLASS_TEXT_OR_NULL:
		*(const char **)to = null ? NULL : rows_text(rows, column);
		break;
	case CLASS_VALUE:
		*(struct recording_value *)to = read_value(rows, column);
		break;
	}
}

/*
 * If the first column is a KEY, checks that its values have no gap; if it is ASCENDING, that they
 * ascend. Both checks detect pages that are read twice.
 */
static void
check_key(struct rows *rows)
{
	const enum column_type type = rows->info->column[0].type;

	if (type != COLUMN_KEY && type != COLUMN_ASCENDING)
		return;
	(void)rows_number(rows, 0, rows->last_id + 1,
			  type == COLUMN_KEY ? rows->last_id + 1 : NUMBER_MOST);
	rows->last_id = sqlite3_column_int64(rows->query, 0);
}

bool
rows_next(struct rows *rows)
{
	if ((rows->rc != SQLITE_OK && rows->rc != SQLITE_ROW) || rows->bad)
		return false;
	rows->rc = sqlite3_step(rows->query);
	if (rows->rc != SQLITE_ROW)
		return false;
	/*
	 * If the pages of a hostile file form a ring, the rows do not end. The query is refused
	 * when it has more rows than the file has bytes: a row takes more than one byte.
	 */
	if (++rows->count > rows->recording->info.size && !rows->recording->borrowed)
		rows->bad = true;
	if (rows->in_order)
		check_key(rows);
	for (size_t i = 0; !rows->bad && rows->info != NULL && i < rows->info->column_count; i++) {
		const struct recording_column *column = &rows->info->column[i];

		read_column(rows, (int)i, &column_types[column->type],
			    (char *)&rows->row + column->offset);
	}
	return !rows->bad;
}

int
rows_end(struct rows *rows, const char *what, struct error *err)
{
	int rc = 0;

	if (rows->bad)
		rc = reader_damaged(rows->recording, what, err);
	else if (rows->rc != SQLITE_DONE)
		rc = reader_refuse(rows->recording, err);
	sqlite3_finalize(rows->query);
	return rc;
}

int
rows_read(struct recording *recording, const struct row_reader *readers, size_t count,
	  void *context, struct error *err)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct rows rows;

		rows_begin(&rows, recording, readers[i].table, NULL);
		while (rows_next(&rows))
			readers[i].each(&rows, context);
		rc = rows_end(&rows, readers[i].what, err);
	}
	return rc;
}

void
id_map_add(struct id_map *map, uint32_t id)
{
	map->id = xgrow(map->id, &map->capacity, map->count + 1, sizeof(*map->id));
	map->id[map->count++] = id;
}
