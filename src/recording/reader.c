/* SPDX-License-Identifier: MIT */
/* reader.c - opens a recording that anybody may have made, and reads what it says of itself. */
#include "recording/reader_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"

/* Longer than any text that is ours: a command line may have 2 MiB. */
#define VALUE_MOST (16 << 20)
/* Several times what any query takes of rows that are as short as they can be. */
#define STEPS_PER_BYTE 8
/* What SQLite may take: its schema could be made to, and what is sorted. */
#define HEAP_MOST (INT64_C(1) << 30)
/* Seconds, up to the year 2106: as nanoseconds, with times of the recording behind them, they stay
 * below 2^63, so that whoever makes a date of them need not look. */
#define BEGAN_MOST (INT64_C(1) << 32)

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

/* --- opening ----------------------------------------------------------------------------- */

/* "file:///tmp/x%20y.wsdb?immutable=1" */
static char *
uri_of(const char *path, bool immutable)
{
	struct strbuf uri;

	strbuf_init(&uri);
	strbuf_add_text(&uri, path[0] == '/' ? "file://" : "file:./");
	/* a path that begins with two of them would name a host */
	for (; path[0] == '/' && path[1] == '/'; path++)
		;
	for (; *path != '\0'; path++) {
		if (isalnum((unsigned char)*path) || strchr("/._-", *path) != NULL)
			strbuf_add(&uri, path, 1);
		else
			strbuf_add_format(&uri, "%%%02x", (unsigned char)*path);
	}
	strbuf_add_text(&uri, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
	return uri.data;
}

/* Called every so many steps of a query; a row takes fewer steps than it has bytes. */
#define STEPS 1000

static int
count_steps(void *context)
{
	struct recording *recording = context;

	recording->steps += STEPS;
	return recording->steps > STEPS * STEPS + STEPS_PER_BYTE * recording->info.size;
}

void
reader_be_wary(struct recording *recording)
{
	static const struct {
		int setting, value;
	} settings[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
	}, limits[] = {
		{ SQLITE_LIMIT_LENGTH, VALUE_MOST },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 16 },
		{ SQLITE_LIMIT_COLUMN, 64 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 50 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 4 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	sqlite3 *db = recording->db;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		(void)sqlite3_db_config(db, settings[i].setting, settings[i].value, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		(void)sqlite3_limit(db, limits[i].setting, limits[i].value);
	sqlite3_progress_handler(db, STEPS, count_steps, recording);
	(void)sqlite3_hard_heap_limit64(HEAP_MOST);
	(void)sqlite3_exec(db, "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; "
			       "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
}

static int
open_database(struct recording *recording, const struct reader_file *file, struct error *err)
{
	char *uri;
	int rc;

	if (file->is_torn)
		return reader_file_repair(recording, err);
	uri = uri_of(recording->real, !file->is_written);
	rc = sqlite3_open_v2(uri, &recording->db,
			     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
				     SQLITE_OPEN_PRIVATECACHE, NULL);
	free(uri);
	if (rc == SQLITE_OK) {
		reader_be_wary(recording);
		if (file->is_written)
			rc = sqlite3_busy_timeout(recording->db, 5000);
	}
	return rc == SQLITE_OK ? 0 : reader_refuse(recording, err);
}

/*
 * A table could be a view, a virtual table or have columns that are computed: it must have been
 * made with the very words that we use.
 */
static int
check_tables(struct recording *recording, struct error *err)
{
	bool found[RECORDING_TABLE_COUNT] = { false };
	struct rows rows;
	int rc;

	rows_begin(&rows, recording, "SELECT name, sql FROM sqlite_master WHERE type = 'table'");
	while (rows_next(&rows)) {
		const char *name = rows_text(&rows, 0), *sql = rows_text(&rows, 1);

		for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
			if (strcmp(name, recording_table_text[i].name) == 0)
				found[i] = strcmp(sql, recording_table_text[i].create) == 0;
	}
	rc = rows_end(&rows, "list of tables", err);
	for (int i = 0; rc == 0 && i < RECORDING_TABLE_COUNT; i++)
		if (!found[i])
			rc = error_set(err, ERROR_FORMAT,
				       "%s is damaged: its table '%s' is not there, or is not that "
				       "of a recording", recording->path,
				       recording_table_text[i].name);
	return rc;
}

/* --- what it says of itself -------------------------------------------------------------- */

static const char *
keep(struct recording *recording, const char *text)
{
	return strings_text(recording->texts, strings_intern(recording->texts, text));
}

static bool
take_text(struct recording *recording, const char *key, const char *value)
{
	struct recording_info *info = &recording->info;
	const struct {
		const char *key, **field;
	} fields[] = {
		{ "comm", &info->comm },       { "cmdline", &info->cmdline },
		{ "host", &info->host },       { "machine", &info->machine },
		{ "kernel", &info->kernel },   { "version", &info->version },
		{ "command", &info->command }, { "runtime", &info->runtime },
	};

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		if (strcmp(fields[i].key, key) != 0)
			continue;
		*fields[i].field = keep(recording, value);
		return true;
	}
	return false;
}

static void
take_number(struct rows *rows, struct recording_info *info, const char *key)
{
	if (strcmp(key, "pid") == 0)
		info->pid = rows_number(rows, 1, 0, INT32_MAX);
	else if (strcmp(key, "began") == 0)
		info->began = rows_number(rows, 1, 0, BEGAN_MOST);
	else if (strcmp(key, "clock_ns") == 0)
		info->clock_ns = (uint64_t)rows_number(rows, 1, 0, NUMBER_MOST);
	else if (strcmp(key, "cpus") == 0)
		info->cpus = (uint32_t)rows_number(rows, 1, 0, 1 << 20);
	else if (strcmp(key, "rate") == 0)
		info->rate_hz = rows_fraction(rows, 1);
}

static void
take_end(struct recording_info *info, const char *end)
{
	info->ended = true;
	info->end = strcmp(end, "gone") == 0	 ? RUN_END_EXITED :
		    strcmp(end, "duration") == 0 ? RUN_END_DURATION :
						   RUN_END_STOPPED;
}

static int
read_meta(struct recording *recording, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, "SELECT key, value FROM meta");
	while (rows_next(&rows)) {
		const char *key = rows_text(&rows, 0);

		if (strcmp(key, "end") == 0)
			take_end(&recording->info, rows_text(&rows, 1));
		else if (!take_text(recording, key, rows_text(&rows, 1)))
			take_number(&rows, &recording->info, key);
	}
	return rows_end(&rows, "table 'meta'", err);
}

static int
read_counts(struct recording *recording, struct error *err)
{
	struct recording_info *info = &recording->info;
	const struct {
		const char *sql;
		uint64_t *count;
	} counts[] = {
		{ "SELECT coalesce(max(id) + 1, 0) FROM modules", &info->modules },
		{ "SELECT coalesce(max(id) + 1, 0) FROM threads", &info->threads },
		{ "SELECT coalesce(max(id) + 1, 0) FROM frames", &info->frames },
		{ "SELECT coalesce(max(id) + 1, 0) FROM stacks", &info->stacks },
		{ "SELECT coalesce(max(id) + 1, 0) FROM spans", &info->spans },
	};
	struct rows rows;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_SIZE(counts); i++) {
		rows_begin(&rows, recording, counts[i].sql);
		while (rows_next(&rows))
			*counts[i].count = (uint64_t)rows_number(&rows, 0, 0, NUMBER_MOST);
		rc = rows_end(&rows, "ids", err);
	}
	if (rc != 0)
		return rc;
	rows_begin(&rows, recording, "SELECT key FROM causal LIMIT 1");
	while (rows_next(&rows))
		info->causal = true;
	rc = rows_end(&rows, "table 'causal'", err);
	if (rc != 0)
		return rc;
	/* One by one: count(*) is a single step, which goes round a ring of pages for ever. */
	rows_begin(&rows, recording, "SELECT frame FROM symbols");
	while (rows_next(&rows))
		info->symbols++;
	return rows_end(&rows, "names", err);
}

/* Numbers of system calls are those of the machine that it was made on. */
static int
read_syscalls(struct recording *recording, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, "SELECT number, name FROM syscalls");
	while (rows_next(&rows)) {
		const int64_t number = rows_number(&rows, 0, 0, INT32_MAX);
		const long here = syscall_number(rows_text(&rows, 1));

		*table_place(&recording->syscalls, (uint64_t)number, 0, 0, NULL) = (uint32_t)here;
	}
	return rows_end(&rows, "table 'syscalls'", err);
}

/* --- the life ---------------------------------------------------------------------------- */

static struct recording *
create(const char *path)
{
	struct recording *recording = xcalloc(1, sizeof(*recording));
	struct recording_info *info = &recording->info;

	recording->path = xstrdup(path);
	recording->texts = strings_create();
	table_init(&recording->syscalls);
	info->path = recording->path;
	info->comm = info->cmdline = info->host = info->machine = info->kernel = info->version =
		info->command = info->runtime = "";
	return recording;
}

static int
read_all(struct recording *recording, struct error *err)
{
	int rc = 0;

	/* one moment, whoever writes */
	if (!recording->borrowed &&
	    sqlite3_exec(recording->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		rc = reader_refuse(recording, err);
	if (rc == 0)
		rc = check_tables(recording, err);
	if (rc == 0)
		rc = read_meta(recording, err);
	if (rc == 0)
		rc = read_counts(recording, err);
	if (rc == 0)
		rc = read_syscalls(recording, err);
	if (rc == 0)
		rc = reader_load_ticks(recording, err);
	return rc;
}

int
recording_open(const char *path, struct recording **out, struct error *err)
{
	struct recording *recording;
	struct reader_file file;
	int rc = reader_file_check(path, &file, err);

	*out = NULL;
	if (rc != 0) {
		free(file.real);
		return rc;
	}
	recording = create(path);
	recording->real = file.real;
	recording->info.size = file.size;
	recording->info.being_written = file.is_written;
	rc = open_database(recording, &file, err);
	if (rc == 0)
		rc = read_all(recording, err);
	if (rc != 0)
		recording_close(recording);
	else
		*out = recording;
	return rc;
}

int
recording_of(struct recorder *recorder, struct recording **out, struct error *err)
{
	struct recording *recording = create(recorder->path);
	int rc;

	*out = NULL;
	recording->db = recorder->db;
	recording->borrowed = true;
	rc = read_all(recording, err);
	if (rc != 0)
		recording_close(recording);
	else
		*out = recording;
	return rc;
}

void
recording_close(struct recording *recording)
{
	if (recording == NULL)
		return;
	if (!recording->borrowed)
		sqlite3_close(recording->db);
	place_vfs_free(recording->vfs);
	table_release(&recording->syscalls);
	strings_free(recording->texts);
	free(recording->tick);
	free(recording->wanted);
	free(recording->turn);
	free(recording->stack);
	free(recording->thread);
	free(recording->wait);
	free(recording->path);
	free(recording->real);
	free(recording);
}

const struct recording_info *
recording_info(const struct recording *recording)
{
	return &recording->info;
}
