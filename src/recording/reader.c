/* SPDX-License-Identifier: MIT */
/* reader.c - opens a recording, which is hostile input, and reads its description. */
#include "recording/reader_internal.h"

#include <stdlib.h>
#include <string.h>

#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"

/* Seconds, up to the year 2106: in nanoseconds, plus times of the recording, they stay below 2^63,
 * so that sums of dates need no check. */
#define BEGAN_MOST (INT64_C(1) << 32)

/* --- tables ------------------------------------------------------------------------------- */

static bool
is_create_of(const struct recording *recording, enum recording_table table, const char *sql)
{
	struct strbuf wanted;
	bool same;

	strbuf_init(&wanted);
	schema_add_create(&wanted, table, recording->version);
	same = strcmp(wanted.data, sql) == 0;
	strbuf_release(&wanted);
	return same;
}

/*
 * A table of a hostile file could be a view, a virtual table, or have computed columns: its CREATE
 * statement must be the one that the recorder of that version runs.
 */
static int
check_tables(struct recording *recording, struct error *err)
{
	bool found[RECORDING_TABLE_COUNT] = { false };
	struct rows rows;
	int rc;

	rows_begin_sql(&rows, recording,
		       "SELECT name, sql FROM sqlite_master WHERE type = 'table'");
	while (rows_next(&rows)) {
		const char *name = rows_text(&rows, 0), *sql = rows_text(&rows, 1);

		for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
			if (strcmp(name, recording_tables[i].name) == 0)
				found[i] = is_create_of(recording, (enum recording_table)i, sql);
	}
	rc = rows_end(&rows, "list of tables", err);
	for (int i = 0; rc == 0 && i < RECORDING_TABLE_COUNT; i++)
		if (!found[i] && recording_tables[i].since <= recording->version)
			rc = error_set(err, ERROR_FORMAT,
				       "%s is damaged: its table '%s' is not there, or is not that "
				       "of a recording",
				       recording->path, recording_tables[i].name);
	return rc;
}

/* --- description ------------------------------------------------------------------------ */

static const char *
keep_text(struct recording *recording, const char *text)
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
		*fields[i].field = keep_text(recording, value);
		return true;
	}
	return false;
}

static void
take_number(struct rows *rows, struct recording_info *info, const char *key)
{
	if (strcmp(key, "pid") == 0)
		info->pid = rows_number(rows, META_value, 0, INT32_MAX);
	else if (strcmp(key, "began") == 0)
		info->began = rows_number(rows, META_value, 0, BEGAN_MOST);
	else if (strcmp(key, "clock_ns") == 0)
		info->clock_ns = (uint64_t)rows_number(rows, META_value, 0, NUMBER_MOST);
	else if (strcmp(key, "cpus") == 0)
		info->cpus = (uint32_t)rows_number(rows, META_value, 0, 1 << 20);
	else if (strcmp(key, "rate") == 0)
		info->rate_hz = rows_fraction(rows, META_value);
}

static void
take_end(struct recording_info *info, const char *end)
{
	info->ended = true;
	info->end = strcmp(end, "gone") == 0     ? RUN_END_EXITED :
		    strcmp(end, "duration") == 0 ? RUN_END_DURATION :
						   RUN_END_STOPPED;
}

static int
read_meta(struct recording *recording, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_META, "");
	while (rows_next(&rows)) {
		const char *key = rows_text(&rows, META_key);
		const char *value = rows_text(&rows, META_value);

		if (strcmp(key, "end") == 0)
			take_end(&recording->info, value);
		else if (!take_text(recording, key, value))
			take_number(&rows, &recording->info, key);
	}
	return rows_end(&rows, "table 'meta'", err);
}

/*
 * The first process is the one that the report is about. A recording that has no such table, or no
 * row because it was not committed yet, has one process, which is described in meta.
 */
static int
read_processes(struct recording *recording, struct error *err)
{
	struct recording_info *info = &recording->info;
	size_t count = 0;
	struct rows rows;

	rows_begin(&rows, recording, TABLE_PROCESSES, "ORDER BY id");
	while (rows_next_dense(&rows, count, UINT32_MAX)) {
		const int64_t pid = rows_number(&rows, PROCESSES_pid, 0, INT32_MAX);

		(void)rows_number(&rows, PROCESSES_start_time, 0, NUMBER_MOST);
		if (count++ > 0)
			continue;
		info->pid = pid;
		info->comm = keep_text(recording, rows_text(&rows, PROCESSES_name));
		info->cmdline = keep_text(recording, rows_text(&rows, PROCESSES_cmdline));
	}
	recording->processes = count > 0 ? count : 1;
	return rows_end(&rows, "table 'processes'", err);
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
		rows_begin_sql(&rows, recording, counts[i].sql);
		while (rows_next(&rows))
			*counts[i].count = (uint64_t)rows_number(&rows, 0, 0, NUMBER_MOST);
		rc = rows_end(&rows, "ids", err);
	}
	if (rc != 0)
		return rc;
	rows_begin(&rows, recording, TABLE_CAUSAL, "LIMIT 1");
	while (rows_next(&rows))
		info->causal = true;
	rc = rows_end(&rows, "table 'causal'", err);
	if (rc != 0)
		return rc;
	/* Counted row by row: count(*) is a single step, endless if pages form a ring. */
	rows_begin(&rows, recording, TABLE_SYMBOLS, "");
	while (rows_next(&rows))
		info->symbols++;
	return rows_end(&rows, "names", err);
}

/* Maps numbers of system calls of the recording's machine to those of this one. */
static int
read_syscalls(struct recording *recording, struct error *err)
{
	struct rows rows;

	rows_begin(&rows, recording, TABLE_SYSCALLS, "");
	while (rows_next(&rows)) {
		const int64_t number = rows_number(&rows, SYSCALLS_number, 0, INT32_MAX);
		const long here = syscall_number(rows_text(&rows, SYSCALLS_name));

		*table_insert(&recording->syscalls, (uint64_t)number, 0, 0, NULL) = (uint32_t)here;
	}
	return rows_end(&rows, "table 'syscalls'", err);
}

/* --- opening ----------------------------------------------------------------------------- */

static struct recording *
recording_create(const char *path)
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
read_description(struct recording *recording, struct error *err)
{
	int rc = 0;

	/* One transaction, so that all queries see the same moment. */
	if (!recording->borrowed &&
	    sqlite3_exec(recording->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		rc = reader_refuse(recording, err);
	if (rc == 0)
		rc = check_tables(recording, err);
	if (rc == 0)
		rc = read_meta(recording, err);
	if (rc == 0)
		rc = read_processes(recording, err);
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
	recording = recording_create(path);
	recording->real = file.real;
	recording->info.size = file.size;
	recording->info.being_written = file.is_written;
	recording->version = file.version;
	rc = reader_file_open(recording, &file, err);
	if (rc == 0)
		rc = read_description(recording, err);
	if (rc != 0)
		recording_close(recording);
	else
		*out = recording;
	return rc;
}

int
recording_of(struct recorder *recorder, struct recording **out, struct error *err)
{
	struct recording *recording = recording_create(recorder->path);
	int rc;

	*out = NULL;
	recording->db = recorder->db;
	recording->version = RECORDING_SCHEMA;
	recording->borrowed = true;
	rc = read_description(recording, err);
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
