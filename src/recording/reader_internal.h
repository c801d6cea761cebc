/* SPDX-License-Identifier: MIT */
/*
 * reader_internal.h - the files that read a recording.
 * reader.c        opens a recording, reads its description
 * reader_file.c   checks the file and opens the database
 * reader_rows.c   rows of a table, errors
 * reader_load.c   loads the profile
 * reader_ticks.c  ticks, and the selected share of a span
 * reader_names.c  names of frames
 * reader_cost.c   cost and losses
 * reader_causal.c the causal profile
 * reader_spans.c  the timeline
 */
#ifndef WALLSAMPLE_RECORDING_READER_INTERNAL_H
#define WALLSAMPLE_RECORDING_READER_INTERNAL_H

#include <sqlite3.h>

#include "recording/recording_internal.h"
#include "recording/schema_internal.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/base/table.h"

/* Ids of rows of a table in the order of the rows -> ids in the profile. */
struct id_map {
	uint32_t *id;
	size_t count, capacity;
};

/* Sums of the ticks before this one; `wanted`: of those in the selection. */
struct tick_sum {
	double all_ns, wanted_ns;           /* time */
	double all_latency, wanted_latency; /* time over runnable threads */
	double all_gap, wanted_gap;         /* time with none */
};

struct recording {
	char *path; /* for messages */
	char *real; /* the path without links; NULL: a recorder's */
	struct strings *texts;
	struct recording_info info;
	sqlite3 *db;
	unsigned version;      /* of its schema */
	uint64_t start_time;   /* of the process, in clock ticks since the machine was booted */
	uint64_t steps;        /* of SQLite in the present query */
	bool borrowed;         /* the database belongs to a recorder */
	struct place_vfs *vfs; /* of the private copy */
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	bool *wanted;   /* by tick: selected at the last load; NULL: all */
	uint64_t *turn; /* by tick: the next tick where `wanted` changes, or the number of ticks */
	/* By table: filled for modules, frames, stacks, threads and waits by the last load; for
	 * processes, which have the same ids in both, when the recording is opened. */
	struct id_map map[RECORDING_TABLE_COUNT];
	const struct profile *profile; /* of the last load, borrowed; NULL before the first load */
	bool threads_only;             /* as in struct recording_load of the last load */
	struct table syscalls;         /* number in the recording -> number on this machine */
};

/* --- reader_file.c */
struct reader_file {
	char *real;      /* the path without links; the caller frees it, also after an error */
	bool is_written; /* a writer has locked it */
	bool is_torn;    /* it has the journal of an unfinished commit */
	uint64_t size;
	unsigned version; /* of its schema */
};
/* ERROR_FORMAT: not a recording, or truncated. ERROR_SYSTEM: the file cannot be read. */
int reader_file_check(const char *path, struct reader_file *file, struct error *err);
/* Opens the database for reading; after an unfinished commit a private copy of it, rolled back. */
int reader_file_open(struct recording *recording, const struct reader_file *file,
		     struct error *err);

/* --- reader_rows.c: errors. "PATH is damaged: its WHAT cannot be right" */
int reader_damaged(const struct recording *recording, const char *what, struct error *err);
/* Returns the error of the last call of SQLite. */
int reader_refuse(const struct recording *recording, struct error *err);

/* --- reader_rows.c: rows of one query */
struct rows {
	struct recording *recording;
	const struct recording_table_info *info; /* the table; NULL: rows_begin_sql was called */
	sqlite3_stmt *query;
	union recording_row row; /* the present row: the member of the table */
	bool in_order;           /* the rows are in the order of their keys, which are checked */
	int64_t last_id;         /* of the previous row; -1 before the first */
	uint64_t count, bytes;   /* number of rows, and bytes of texts, that were read */
	bool bad;                /* a value was out of range: there are no more rows */
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
 * Reads the next row into rows->row, and checks each value as its column type demands. False at the
 * end and after an error; rows_end distinguishes the two. Texts are valid until the next call.
 */
bool rows_next(struct rows *rows);
/* Returns a value in [least, most]; for another value sets `bad` and returns `least`. */
int64_t rows_number(struct rows *rows, int column, double least, double most);
/* Returns a text, which ends at its first zero byte; "" for NULL. */
const char *rows_text(struct rows *rows, int column);
/* `what` names the rows in the error: see reader_damaged. */
int rows_end(struct rows *rows, const char *what, struct error *err);

/* What is done with the rows of a table, in the order of their keys. */
struct row_reader {
	enum recording_table table;
	const char *what;                               /* as for rows_end */
	void (*each)(struct rows *rows, void *context); /* may set rows->bad */
};
/* Runs the readers, one after the other, up to the first error. */
int rows_read(struct recording *recording, const struct row_reader *readers, size_t count,
	      void *context, struct error *err);

void id_map_add(struct id_map *map, uint32_t id);

/* --- reader_load.c */
/* Returns what a row says of its samples; the times are not set. */
struct recording_span reader_span_of(const struct recording *recording,
				     const struct spans_row *row);
/* Replaces a task by its carrier, the thread that ran it; false if no thread ran the task. */
bool reader_is_of_thread(const struct profile *profile, uint32_t *thread, uint32_t *carrier);

/* --- reader_ticks.c */
int32_t reader_syscall(const struct recording *recording, int32_t number);
int reader_load_ticks(struct recording *recording, struct error *err);
/* Adds the selected ticks to the profile. Returns tick_count + 1 sums; the caller frees them. */
struct tick_sum *reader_sum_ticks(struct recording *recording, struct recording_load *load);
/* Scales the weights of the entry to its selected ticks; false: nothing is left. */
bool reader_share(const struct recording *recording, const struct tick_sum *sums, uint64_t first,
		  uint64_t ticks, struct profile_entry *entry);

/* --- reader_names.c */
int reader_load_names(struct recording *recording, struct recorded_names *names,
		      const struct profile *profile, struct error *err);

/* --- reader_cost.c */
int reader_load_stats(struct recording *recording, struct recording_load *load, struct error *err);
#endif
