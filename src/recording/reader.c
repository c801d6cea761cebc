/* SPDX-License-Identifier: MIT */
/* reader.c - opens a recording and reads its description. The file is hostile input. */
#include "recording/reader_internal.h"
#include "recording/reader_joint_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"

/*
 * Bound on the date of a recording, in seconds since 1970: the year 2106. In nanoseconds, the date
 * plus any time of the recording is below 2^63, so that sums of dates need no check.
 */
#define BEGAN_MOST 0x1p32

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
 * Checks that the CREATE statement of each table is the one that a recorder of this schema version
 * runs: in a hostile file a table could be a view, a virtual table, or have computed columns.
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

#define META(key, member, kind, greatest)                                                          \
	{                                                                                          \
		.name = key, .type = FIELD_##kind, .offset = offsetof(struct recording, member),   \
		.most = greatest                                                                   \
	}

static const struct field meta_fields[] = {
	META("comm", info.comm, TEXT, 0),
	META("cmdline", info.cmdline, TEXT, 0),
	META("host", info.host, TEXT, 0),
	META("machine", info.machine, TEXT, 0),
	META("kernel", info.kernel, TEXT, 0),
	META("version", info.version, TEXT, 0),
	META("command", info.command, TEXT, 0),
	META("runtime", info.runtime, TEXT, 0),
	META("unread", info.unread, TEXT, 0),
	META("others", info.others, TEXT, 0),
	META("cpu_group", info.cpu_group, TEXT, 0),
	META("pid", info.pid, U64, INT32_MAX),
	META("start_time", start_time, U64, NUMBER_MOST),
	META("began", info.began, U64, BEGAN_MOST),
	META("clock_ns", info.clock_ns, U64, NUMBER_MOST),
	META("cpus", info.cpus, U32, 1 << 20),
	{ .name = NULL },
};

static void
read_meta(struct rows *rows, void *context)
{
	struct meta_row *row = &rows->row.meta;
	const struct field *field = field_find(meta_fields, row->key);
	struct recording *recording = context;
	struct recording_info *info = &recording->info;

	if (strcmp(row->key, "end") == 0) {
		info->ended = true;
		info->end = strcmp(row->value.text, "gone") == 0     ? RUN_END_EXITED :
			    strcmp(row->value.text, "duration") == 0 ? RUN_END_DURATION :
								       RUN_END_STOPPED;
	}
	if (strcmp(row->key, "rate") == 0)
		info->rate_hz = isfinite(row->value.real) ? row->value.real : 0;
	if (field != NULL && field->type == FIELD_TEXT)
		row->value.text = keep_text(recording, row->value.text);
	if (field != NULL && !field_take(field, recording, &row->value))
		rows->bad = true;
}

static bool
texts_differ(const char *meta, const char *text)
{
	return meta[0] != '\0' && strcmp(meta, text) != 0;
}

static bool
numbers_differ(uint64_t meta, int64_t number)
{
	return meta != 0 && meta != (uint64_t)number;
}

static void
add_process(struct recording *recording, const struct recorded_process *process)
{
	id_map_add(&recording->map[TABLE_PROCESSES], (uint32_t)recording->process_count);
	recording->process = xgrow(recording->process, &recording->process_capacity,
				   recording->process_count + 1, sizeof(*recording->process));
	recording->process[recording->process_count++] = *process;
}

/*
 * Row 0 of table processes describes the same process as table meta. The row is refused if they
 * differ in a value that both have. Values that table meta does not have are taken from the row.
 */
static void
read_process(struct rows *rows, void *context)
{
	const struct processes_row *row = &rows->row.processes;
	struct recording *recording = context;
	struct recording_info *info = &recording->info;

	if (row->id == 0) {
		if (numbers_differ((uint64_t)info->pid, row->pid) ||
		    numbers_differ(recording->start_time, row->start_time) ||
		    texts_differ(info->comm, row->name) ||
		    texts_differ(info->cmdline, row->cmdline))
			rows->bad = true;
		info->pid = row->pid;
		info->comm = keep_text(recording, row->name);
		info->cmdline = keep_text(recording, row->cmdline);
	}
	add_process(recording, &(struct recorded_process){
				       .pid = row->pid,
				       .parent = row->parent,
				       .start_time = (uint64_t)row->start_time,
				       .name = keep_text(recording, row->name),
				       .cmdline = keep_text(recording, row->cmdline),
			       });
}

/*
 * Stores in recording->syscalls, for a system call number of the machine that made the recording,
 * the number on this machine.
 */
static void
read_syscall(struct rows *rows, void *context)
{
	const struct syscalls_row *row = &rows->row.syscalls;
	struct recording *recording = context;

	if (row->number > INT32_MAX) {
		rows->bad = true;
		return;
	}
	*table_insert(&recording->syscalls, (uint64_t)row->number, 0, 0,
		      NULL) = (uint32_t)syscall_number(row->name);
}

static int
read_counts(struct recording *recording, struct error *err)
{
	struct recording_info *info = &recording->info;
	uint64_t *const counts[] = { &info->modules, &info->threads, &info->frames, &info->stacks,
				     &info->spans };
	struct rows rows;
	int rc;

	rows_begin_sql(&rows, recording,
		       "SELECT (SELECT coalesce(max(id) + 1, 0) FROM modules), "
		       "(SELECT coalesce(max(id) + 1, 0) FROM threads), "
		       "(SELECT coalesce(max(id) + 1, 0) FROM frames), "
		       "(SELECT coalesce(max(id) + 1, 0) FROM stacks), "
		       "(SELECT coalesce(max(id) + 1, 0) FROM spans), "
		       "EXISTS(SELECT * FROM causal)");
	while (rows_next(&rows)) {
		for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
			*counts[i] = (uint64_t)rows_number(&rows, (int)i, 0, NUMBER_MOST);
		info->causal = rows_number(&rows, ARRAY_SIZE(counts), 0, 1) != 0;
	}
	rc = rows_end(&rows, "ids", err);
	if (rc != 0)
		return rc;
	/*
	 * The rows of table symbols are counted one by one: SQLite runs count(*) in a single step,
	 * which does not end if the pages of a hostile file form a ring.
	 */
	rows_begin_sql(&rows, recording, "SELECT frame FROM symbols WHERE source <> 'none'");
	while (rows_next(&rows))
		info->symbols++;
	return rows_end(&rows, "names", err);
}

/* --- opening ----------------------------------------------------------------------------- */

static struct recording *
recording_create(const char *path)
{
	struct recording *recording = xcalloc(1, sizeof(*recording));
	struct recording_info *info = &recording->info;

	recording->path = xstrdup(path);
	recording->texts = strings_create();
	info->path = recording->path;
	info->comm = info->cmdline = info->host = info->machine = info->kernel = info->version =
		info->command = info->runtime = info->unread = info->others = info->cpu_group = "";
	return recording;
}

static int
read_description(struct recording *recording, struct error *err)
{
	static const struct row_reader readers[] = {
		{ TABLE_META, "table 'meta'", read_meta },
		{ TABLE_PROCESSES, "table 'processes'", read_process },
		{ TABLE_SYSCALLS, "table 'syscalls'", read_syscall },
	};
	int rc = 0;

	/*
	 * All queries are in one transaction, so that they see the same state of a growing
	 * recording.
	 */
	if (!recording->borrowed &&
	    sqlite3_exec(recording->db, "BEGIN", NULL, NULL, NULL) != SQLITE_OK)
		rc = reader_refuse(recording, err);
	if (rc == 0)
		rc = check_tables(recording, err);
	if (rc == 0)
		rc = rows_read(recording, readers, ARRAY_SIZE(readers), recording, err);
	/*
	 * Recordings of version 5, and recordings without a commit, have one process and no row for
	 * it.
	 */
	if (recording->process_count == 0)
		add_process(recording, &(struct recorded_process){
					       .pid = recording->info.pid,
					       .start_time = recording->start_time,
					       .name = recording->info.comm,
					       .cmdline = recording->info.cmdline,
				       });
	recording->info.processes = recording->process_count;
	if (rc == 0)
		rc = read_counts(recording, err);
	if (rc == 0)
		rc = reader_load_ticks(recording, err);
	return rc;
}

/*
 * Completes the opening of a recording. `rc` is the result of opening its file; after an error the
 * recording is closed and *out is NULL.
 */
static int
recording_begin(struct recording *recording, int rc, struct recording **out, struct error *err)
{
	if (rc == 0)
		rc = read_description(recording, err);
	if (rc != 0)
		recording_close(recording);
	*out = rc == 0 ? recording : NULL;
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
	return recording_begin(recording, reader_file_open(recording, &file, err), out, err);
}

int
recording_of(struct recorder *recorder, struct recording **out, struct error *err)
{
	struct recording *recording = recording_create(recorder->path);

	recording->db = recorder->db;
	recording->version = RECORDING_SCHEMA;
	recording->borrowed = true;
	return recording_begin(recording, 0, out, err);
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
	free(recording->process);
	free(recording->tick);
	reader_release_joint(recording);
	for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
		free(recording->map[i].id);
	free(recording->path);
	free(recording->real);
	free(recording);
}

const struct recording_info *
recording_info(const struct recording *recording)
{
	return &recording->info;
}
