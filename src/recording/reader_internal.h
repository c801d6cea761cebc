/* SPDX-License-Identifier: MIT */
/*
 * reader_internal.h - the files that read a recording:
 * reader.c opens a recording and reads its description,
 * reader_file.c checks the file and opens the database,
 * reader_rows.c reads the rows of a table and makes errors,
 * reader_load.c loads the profile,
 * reader_ticks.c reads ticks and computes the selected share of a span,
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

/* Ids of a table: id[n] is the id that row n of the table has in the profile. */
struct id_map {
	uint32_t *id;
	size_t count, capacity;
};

/* Sums of the ticks before a tick: [0] of all these ticks, [1] of the selected ones. */
struct tick_sum {
	double ns[2];      /* sum of their spans */
	double latency[2]; /* sum of spans divided by the number of runnable threads */
	double gap[2];     /* sum of spans without a runnable thread */
};

struct recording {
	char *path; /* as the caller gave it, for messages */
	char *real; /* path without symbolic links; NULL for the database of a recorder */
	struct strings *texts;
	struct recording_info info;
	sqlite3 *db;
	unsigned version;      /* schema version of the recording */
	uint64_t start_time;   /* start of the process, in clock ticks after the boot */
	uint64_t steps;        /* steps of SQLite in the present query */
	bool borrowed;         /* the database belongs to a recorder and stays open */
	struct place_vfs *vfs; /* of the private copy; NULL without a copy */
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	bool *wanted;   /* by tick: the last load selected it; NULL: the last load selected all */
	uint64_t *turn; /* by tick: the next tick where `wanted` changes, or the number of ticks */
	/*
	 * By table. The last load filled those of modules, frames, stacks, threads and waits. That
	 * of processes is filled when the recording is opened: a process has the same id in the
	 * profile.
	 */
	struct id_map map[RECORDING_TABLE_COUNT];
	/* Profile of the last load, borrowed; NULL before the first load. */
	const struct profile *profile;
	bool threads_only;     /* value of recording_load.threads_only at the last load */
	struct table syscalls; /* system call number in the recording -> on this machine */
};

/* --- reader_file.c */
struct reader_file {
	char *real;      /* path without symbolic links; the caller frees it, also after an error */
	bool is_written; /* a recorder has locked the file */
	bool is_torn;    /* the file has the journal of an unfinished commit */
	uint64_t size;
	unsigned version; /* schema version of the recording */
};
/*
 * Checks header, journal and size of the file, and fills `file`. ERROR_FORMAT: the file is not a
 * recording, or is truncated. ERROR_SYSTEM: the file cannot be read.
 */
int reader_file_check(const char *path, struct reader_file *file, struct error *err);
/*
 * Opens the database for reading. After an unfinished commit, opens a private copy in which the
 * commit is rolled back.
 */
int reader_file_open(struct recording *recording, const struct reader_file *file,
		     struct error *err);

/* --- reader_rows.c: errors. "PATH is damaged: its WHAT cannot be right" */
int reader_damaged(const struct recording *recording, const char *what, struct error *err);
/* Sets the error of the last call of SQLite, and returns it. */
int reader_refuse(const struct recording *recording, struct error *err);

/* --- reader_rows.c: rows of one query */
struct rows {
	struct recording *recording;
	const struct recording_table_info *info; /* the table; NULL after rows_begin_sql */
	sqlite3_stmt *query;
	union recording_row row; /* the present row, in the member of the table */
	bool in_order;           /* rows are in the order of their keys, and check_key is called */
	int64_t last_id;         /* key of the previous row; -1 before the first row */
	uint64_t count, bytes;   /* numbers of rows and of bytes of texts that were read */
	bool bad;                /* a value was out of range: rows_next returns false */
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
 * behind the last row and after an error, which rows_end distinguishes. Texts of the row are valid
 * until the next call.
 */
bool rows_next(struct rows *rows);
/* Returns an integer in [least, most]. For any other value sets rows->bad and returns `least`. */
int64_t rows_number(struct rows *rows, int column, double least, double most);
/* Returns a text up to its first zero byte; "" for NULL. Too many bytes of texts set rows->bad. */
const char *rows_text(struct rows *rows, int column);
/*
 * Ends the query. Returns 0 if all rows were read, else an error, in which `what` names the rows.
 */
int rows_end(struct rows *rows, const char *what, struct error *err);

/* A function that is called with each row of a table, in the order of the keys. */
struct row_reader {
	enum recording_table table;
	const char *what;                               /* name of the rows for rows_end */
	void (*each)(struct rows *rows, void *context); /* refuses a row by rows->bad */
};
/* Reads the tables of the readers one after the other, up to the first error. */
int rows_read(struct recording *recording, const struct row_reader *readers, size_t count,
	      void *context, struct error *err);

void id_map_add(struct id_map *map, uint32_t id);

/* --- reader_load.c */
/* Returns the values of a row. start_ns, end_ns and settled_tick are not set. */
struct recording_span reader_span_of(const struct recording *recording,
				     const struct spans_row *row);
/*
 * Replaces a task by the thread that ran it, if *carrier is not 0, and sets *carrier to 0. Returns
 * false if no thread ran the task.
 */
bool reader_is_of_thread(const struct profile *profile, uint32_t *thread, uint32_t *carrier);

/* --- reader_ticks.c */
int32_t reader_syscall(const struct recording *recording, int32_t number);
int reader_load_ticks(struct recording *recording, struct error *err);
/*
 * Adds the selected ticks to the profile. Returns an array of tick_count + 1 sums, which the caller
 * frees.
 */
struct tick_sum *reader_sum_ticks(struct recording *recording, struct recording_load *load);
/*
 * Scales the weights of an entry, which has `ticks` ticks from `first` on, to the selected ones
 * among these ticks. Returns false if none is selected.
 */
bool reader_share(const struct recording *recording, const struct tick_sum *sums, uint64_t first,
		  uint64_t ticks, struct profile_entry *entry);

/* --- reader_names.c */
int reader_load_names(struct recording *recording, struct recorded_names *names,
		      const struct profile *profile, struct error *err);

/* --- reader_cost.c */
int reader_load_stats(struct recording *recording, struct recording_load *load, struct error *err);
#endif
