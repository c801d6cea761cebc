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

/* Bound on numbers, so that their sums do not overflow: 36 years in ns. */
#define NUMBER_MOST (INT64_C(1) << 60)

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
	size_t processes;      /* rows of table processes, at least 1 */
	uint64_t steps;        /* of SQLite in the present query */
	bool borrowed;         /* the database is a recorder's */
	struct place_vfs *vfs; /* of the private copy */
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	bool *wanted;   /* by tick: selected at the last load; NULL: all */
	uint64_t *turn; /* by tick: the next one where `wanted` changes, or their number */
	/* Ids in the recording -> ids in the profile that it was last loaded into. */
	uint32_t *stack, *thread, *wait;
	const struct profile *profile; /* that profile, borrowed; NULL: none yet */
	bool threads_only;             /* of the last load */
	size_t stacks, threads, waits;
	struct table syscalls; /* number in the recording -> number on this machine */
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
	sqlite3_stmt *query;
	int64_t last_id;       /* of the row before; -1: none */
	uint64_t count, bytes; /* rows, and bytes of texts, that were read */
	bool bad;              /* a value was out of range: there are no more rows */
	int rc;
};

/* All columns of a table, numbered by its enum; `tail` is the SQL behind FROM, such as ORDER BY. */
void rows_begin(struct rows *rows, struct recording *recording, enum recording_table table,
		const char *tail);
void rows_begin_sql(struct rows *rows, struct recording *recording, const char *sql);
/* False at the end and after an error; rows_end distinguishes the two. */
bool rows_next(struct rows *rows);
/* The same for rows whose first column is an id, ascending from 0, below `limit`. */
bool rows_next_id(struct rows *rows, int64_t limit, int64_t *id);
/* The same for ids 0, 1, 2, ... below `limit`; `count` is the number of rows before. */
bool rows_next_dense(struct rows *rows, size_t count, size_t limit);
/* A value in [least, most]; else the rows are bad, and it returns `least`. */
int64_t rows_number(struct rows *rows, int column, int64_t least, int64_t most);
int64_t rows_index(struct rows *rows, int column, size_t count);         /* in [0, count) */
int64_t rows_index_or_none(struct rows *rows, int column, size_t count); /* the same, or -1 */
/* 0 for a value that is not a finite number. */
double rows_fraction(struct rows *rows, int column);
/* A number in [least, most]; else the rows are bad, and it returns `least`. */
double rows_real(struct rows *rows, int column, double least, double most);
bool rows_is_null(const struct rows *rows, int column);
/* "" for NULL; ends at the first zero byte. Valid until the next row. */
const char *rows_text(struct rows *rows, int column);
const char *rows_text_or_null(struct rows *rows, int column);
/* GIL_UNKNOWN for NULL and for unknown words. */
enum gil rows_gil(struct rows *rows, int column);
int rows_end(struct rows *rows, const char *table, struct error *err);

/* --- reader_load.c */
/* Makes the sample of a task one of the thread that ran it; false: no thread did. */
bool reader_is_of_thread(const struct profile *profile, struct profile_entry *entry);

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
		      const struct profile *profile, const uint32_t *frame_of, size_t frames,
		      struct error *err);

/* --- reader_cost.c */
int reader_load_stats(struct recording *recording, struct recording_load *load, struct error *err);
#endif
