/* SPDX-License-Identifier: MIT */
/*
 * reader_internal.h - the files that read a recording:
 * reader.c opens a recording and reads its description,
 * reader_file.c checks the file and opens the database,
 * reader_copy.c copies a recording that consists of several files,
 * reader_rows.c reads and checks the rows of a table, and reports errors of SQLite,
 * reader_load.c loads the profile,
 * reader_ticks.c reads ticks and computes the selected share of a span,
 * reader_joint.c adds up the ticks of recordings of the same seconds (reader_joint_internal.h),
 * reader_names.c reads the names of frames,
 * reader_cost.c reads the cost and the losses,
 * reader_causal.c reads the causal profile,
 * reader_spans.c reads the timeline.
 */
#ifndef WALLSAMPLE_RECORDING_READER_INTERNAL_H
#define WALLSAMPLE_RECORDING_READER_INTERNAL_H

#include <sqlite3.h>

#include "recording/recording_internal.h"
#include "recording/schema_internal.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/base/table.h"

/* Maps the rows of a table of the recording: id[n] is the id in the profile of row n. */
struct id_map {
	uint32_t *id;
	size_t count, capacity;
};

struct recorded_process {
	int64_t pid, parent;
	uint64_t start_time; /* in kernel clock ticks since the boot */
	const char *name, *cmdline;
};

struct recording {
	char *path; /* path that the caller passed, for messages */
	char *real; /* path without symbolic links; NULL if the database belongs to a recorder */
	struct strings *texts;
	struct recording_info info;
	sqlite3 *db;
	unsigned version;    /* schema version of the recording */
	uint64_t start_time; /* start of the process, in kernel clock ticks since the boot */
	/* All processes; the first one is that of `info`. */
	struct recorded_process *process;
	size_t process_count, process_capacity;
	uint64_t steps; /* steps of SQLite's virtual machine in the present query */
	bool borrowed;  /* the database belongs to a recorder and stays open */
	/* file system of the private copy; NULL: the file was not copied */
	struct place_vfs *vfs;
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	/* indexed by tick: true if the last load selected the tick; NULL: it selected all ticks */
	bool *wanted;
	/* indexed by tick: next tick where `wanted` changes, or tick_count; NULL like `wanted` */
	uint64_t *turn;
	/* indexed by tick, and the sum over all ticks: used during a load; else NULL */
	struct tick_sum *sums;
	const struct recording *group; /* first recording of the group; NULL: not loaded */
	/* The ticks, with the numbers of threads of the whole group; NULL: a group of one. */
	struct recording_tick *joint;
	/* One map for each table, filled by the last load; that of processes has an id for each row
	 * from the opening on. */
	struct id_map map[RECORDING_TABLE_COUNT];
	/* Profile of the last load, borrowed; NULL before the first load. */
	const struct profile *profile;
	bool threads_only; /* value of recording_load.threads_only at the last load */
	/* maps system call numbers in the recording to those on this machine */
	struct table syscalls;
};

/* --- reader_file.c */
struct reader_file {
	char *real;      /* path without symbolic links; the caller frees it, also after an error */
	bool is_written; /* a recorder has locked the file */
	bool has_log;    /* the database is in the format for write-ahead logs */
	/* The file has the journal of an unfinished commit, or a log. */
	bool in_parts;
	uint64_t size;    /* of the file and its log, in bytes */
	unsigned version; /* schema version of the recording */
};
/*
 * Checks header, journal, log and size of the file, and fills `file`. ERROR_FORMAT: the file is no
 * recording, or is truncated. ERROR_SYSTEM: the file cannot be read.
 */
int reader_file_check(const char *path, struct reader_file *file, struct error *err);
/*
 * Opens the database for reading. If the file has a log or the journal of an unfinished commit,
 * opens a private copy, in which the log is read or the commit is rolled back.
 */
int reader_file_open(struct recording *recording, const struct reader_file *file,
		     struct error *err);

/* --- reader_copy.c */
/*
 * Copies the file `path` to a file "x" in the directory, and its journal or log to one beside it.
 * Holes stay holes, and links are not followed. Returns false, with errno set, after an error;
 * EBUSY: the recorder has changed the files again and again.
 */
bool reader_copy_make(const char *path, const struct reader_file *file, int dirfd);
/* Removes the copies. */
void reader_copy_remove(int dirfd);

/* --- reader_rows.c: errors */
/*
 * Sets ERROR_FORMAT with the text "PATH is damaged: its WHAT cannot be right", and returns
 * -ERROR_FORMAT.
 */
int reader_damaged(const struct recording *recording, const char *what, struct error *err);
/*
 * Sets an error for SQLite's last error: ERROR_FORMAT if the file is damaged, else ERROR_SYSTEM.
 * Returns the negated kind.
 */
int reader_refuse(const struct recording *recording, struct error *err);

/* --- reader_rows.c: rows of one query */
struct rows {
	struct recording *recording;
	/* the table that is read; NULL for a query by rows_begin_sql */
	const struct recording_table_info *info;
	sqlite3_stmt *query;
	union recording_row row; /* the present row, in the union's member for the table */
	bool in_order;   /* rows are read in the order of their keys, which check_key checks */
	int64_t last_id; /* key of the previous row; -1 before the first row */
	/* number of rows, and number of bytes of texts, that the query has read */
	uint64_t count, bytes;
	bool bad; /* a value was out of range: rows_next returns false */
	int rc;
};

/*
 * Begins to read all columns of a table. `tail` is the SQL behind the name of the table, such as
 * WHERE and ORDER BY; NULL: rows in the order of their keys. The caller calls rows_end, also after
 * an error.
 */
void rows_begin(struct rows *rows, struct recording *recording, enum recording_table table,
		const char *tail);
void rows_begin_sql(struct rows *rows, struct recording *recording, const char *sql);
/*
 * Reads the next row into rows->row, and checks each value by the type of its column. Returns false
 * behind the last row and after an error; rows_end returns which of the two it was. Texts of the
 * row are valid until the next call.
 */
bool rows_next(struct rows *rows);
/*
 * Returns the integer in the column if it is in [least, most]. Else sets rows->bad and returns
 * `least`.
 */
int64_t rows_number(struct rows *rows, int column, int64_t least, int64_t most);
bool rows_is_null(const struct rows *rows, int column);
/*
 * Returns the text in the column up to its first zero byte; "" for NULL. If all texts that the
 * query has read have more than twice as many bytes as the file, or more than TEXT_MOST
 * (reader_rows.c), sets rows->bad and returns "". A recorder's database has no such limit.
 */
const char *rows_text(struct rows *rows, int column);
/*
 * Ends the query. Returns reader_damaged(what) if rows->bad is set; else 0 if rows_next has reached
 * the end of the rows; else (an error of SQLite, or rows are left) reader_refuse().
 */
int rows_end(struct rows *rows, const char *what, struct error *err);

/* `each` is called with each row of the table, in the order of the keys. */
struct row_reader {
	enum recording_table table;
	const char *what;                               /* name of the rows for rows_end */
	void (*each)(struct rows *rows, void *context); /* sets rows->bad to refuse a row */
};
/* Reads the table of each reader in turn, up to the first error. Returns 0 or this error. */
int rows_read(struct recording *recording, const struct row_reader *readers, size_t count,
	      void *context, struct error *err);

void id_map_add(struct id_map *map, uint32_t id);

/* --- reader_load.c */
/* Returns the span that a row of table spans describes. start_ns, end_ns and settled_tick are 0. */
struct recording_span reader_span_of(const struct recording *recording,
				     const struct spans_row *row);
/*
 * If *carrier is not 0, it is 1 + the id of the thread that ran the green task *thread: sets
 * *thread to that id, and *carrier to 0. Returns false if *thread is a task that no thread ran.
 */
bool reader_is_of_thread(const struct profile *profile, uint32_t *thread, uint32_t *carrier);

/* --- reader_ticks.c */
/* Converts a system call number of the recording to that on this machine; an unknown one stays. */
int32_t reader_syscall(const struct recording *recording, int32_t number);
int reader_load_ticks(struct recording *recording, struct error *err);

/* --- reader_names.c */
int reader_load_names(struct recording *recording, struct recorded_names *names,
		      const struct profile *profile, struct error *err);

/* --- reader_cost.c */
/* Merges the costs and losses of the recordings, after reader_join. */
int reader_load_stats(struct recording *const *recording, struct recording_load *load, size_t count,
		      struct error *err);
#endif
