/* SPDX-License-Identifier: MIT */
/*
 * reader_internal.h - what the files that read share.
 * reader.c        opens: what is it, is it whole
 * reader_file.c   the same for the file alone, before SQLite sees it
 * reader_load.c   rows to a profile
 * reader_ticks.c  ticks, and the share of a span that is wanted
 * reader_names.c  names of frames
 * reader_cost.c   what it cost
 * reader_causal.c what experiments found
 * reader_spans.c  the timeline
 */
#ifndef WALLSAMPLE_RECORDING_READER_INTERNAL_H
#define WALLSAMPLE_RECORDING_READER_INTERNAL_H

#include <sqlite3.h>

#include "recording/place_vfs_internal.h"
#include "recording/schema_internal.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/base/table.h"

/* A number that sums of them cannot overflow with: 36 years in ns. */
#define NUMBER_MOST (INT64_C(1) << 60)

/* Sums from the first tick up to (not including) this one. */
struct tick_sum {
	double all_ns, wanted_ns;           /* time */
	double all_latency, wanted_latency; /* time over runnable threads */
	double all_gap, wanted_gap;         /* time with none */
};

struct recording {
	char *path; /* for messages */
	char *real; /* the same without links; NULL: it is a recorder's */
	struct strings *texts;
	struct recording_info info;
	sqlite3 *db;
	unsigned version;       /* of its schema */
	size_t processes;       /* rows of table processes, at least 1 */
	uint64_t steps;         /* of SQLite, since the query began */
	bool borrowed;          /* it is a recorder's */
	struct place_vfs *vfs;  /* of the private copy */
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	bool *wanted;           /* by tick, at the last load; NULL: all */
	uint64_t *turn;         /* the tick after it at which that changes, or their number */
	/* Its numbers -> those of the profile it was loaded into last. */
	uint32_t *stack, *thread, *wait;
	const struct profile *profile; /* that one, borrowed; NULL: none yet */
	bool threads_only;      /* as it was asked for then */
	size_t stacks, threads, waits;
	struct table syscalls;  /* number in the recording -> number here */
};

/* --- reader_file.c */
struct reader_file {
	char *real; /* its path without links; the caller frees it, after an error, too */
	bool is_written; /* by somebody at this moment */
	bool is_torn;    /* there is a journal of a commit that was not finished */
	uint64_t size;
	unsigned version; /* of its schema */
};
/* ERROR_FORMAT for what is no recording, or no whole one; ERROR_SYSTEM if it cannot be read. */
int reader_file_check(const char *path, struct reader_file *file, struct error *err);
/* Opens the database for reading; after an unfinished commit a private copy of it, rolled back. */
int reader_file_open(struct recording *recording, const struct reader_file *file,
		     struct error *err);

/* --- reader_rows.c: errors. "PATH is damaged: its WHAT cannot be right" */
int reader_damaged(const struct recording *recording, const char *what, struct error *err);
/* Returns the error of the last call of SQLite. */
int reader_refuse(const struct recording *recording, struct error *err);

/* --- rows: a query that is walked once */
struct rows {
	struct recording *recording;
	sqlite3_stmt *query;
	int64_t last_id; /* ids go up */
	uint64_t count, bytes; /* so far: rows, and of texts */
	bool bad;        /* a value was not in its range */
	int rc;
};

/* All columns of a table, numbered by its enum; `tail` is the SQL behind FROM, such as ORDER BY. */
void rows_begin(struct rows *rows, struct recording *recording, enum recording_table table,
		const char *tail);
void rows_begin_sql(struct rows *rows, struct recording *recording, const char *sql);
/* False at the end, and when something is wrong. */
bool rows_next(struct rows *rows);
/* The same for rows whose first column is an id: it goes up from 0, below `limit`. */
bool rows_next_id(struct rows *rows, int64_t limit, int64_t *id);
/* The same for ids 0, 1, 2, ... below `limit`; `count` is the number of rows before. */
bool rows_next_dense(struct rows *rows, size_t count, size_t limit);
/* A value in [least, most]; else the rows are bad, and it returns `least`. */
int64_t rows_number(struct rows *rows, int column, int64_t least, int64_t most);
int64_t rows_index(struct rows *rows, int column, size_t count);         /* in [0, count) */
int64_t rows_index_or_none(struct rows *rows, int column, size_t count); /* the same, or -1 */
/* 0 for what is no number, or no finite one. */
double rows_fraction(struct rows *rows, int column);
/* The same in a range, outside of which the row is bad. */
double rows_real(struct rows *rows, int column, double least, double most);
bool rows_is_null(const struct rows *rows, int column);
/* Never NULL; cut at a zero byte. Valid until the next row. */
const char *rows_text(struct rows *rows, int column);
const char *rows_text_or_null(struct rows *rows, int column);
/* Of a word that is none of ours, as of NULL, nothing is known. */
enum gil rows_gil(struct rows *rows, int column);
int rows_end(struct rows *rows, const char *table, struct error *err);

/* --- reader_load.c */
/* The sample of a task becomes that of the thread that ran it; false: none did. */
bool reader_is_of_thread(const struct profile *profile, struct profile_entry *entry);

/* --- reader_ticks.c */
int32_t reader_syscall(const struct recording *recording, int32_t number);
int reader_load_ticks(struct recording *recording, struct error *err);
/* tick_count + 1 sums, which the caller frees; ticks that are wanted go to the profile. */
struct tick_sum *reader_sum_ticks(struct recording *recording, struct recording_load *load);
/* The entry's weights become those of the ticks that are wanted; false: nothing is left. */
bool reader_share(const struct recording *recording, const struct tick_sum *sums, uint64_t first,
		  uint64_t ticks, struct profile_entry *entry);

/* --- reader_names.c */
int reader_load_names(struct recording *recording, struct recorded_names *names,
		      const struct profile *profile, const uint32_t *frame_of, size_t frames,
		      struct error *err);

/* --- reader_cost.c */
int reader_load_stats(struct recording *recording, struct recording_load *load,
		      struct error *err);
#endif
