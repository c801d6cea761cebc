/* SPDX-License-Identifier: MIT */
/*
 * recorder_internal.h - the files that write a recording.
 * recorder.c        creates, commits, finishes
 * recorder_file.c   creates and locks the file, detects its replacement
 * recorder_rows.c   writes the rows of a profile
 * recorder_causal.c writes the rows of a causal profile
 * spans.c           sums consecutive equal samples
 */
#ifndef WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "recording/recording_internal.h"
#include "recording/schema_internal.h"
#include "wallsample/recording/recording.h"
#include "wallsample/base/table.h"

/* --- spans.c ------------------------------------------------------------------------
 * A span is consecutive samples of one thread with the same stack and state: one row.
 *
 * Its ticks are its place in time, its samples and times its weight. The two may differ: what the
 * sampler corrects later (sampler.h) has a weight, even a negative one, and no place in time.
 */

struct span {
	int64_t id; /* 0, 1, 2, ... in the order in which the spans began */
	struct profile_entry sum;
	uint64_t first, ticks;
};

struct open_span {
	struct span span;
	bool is_open, changed; /* changed: since it was last written */
	uint64_t next;         /* first tick that the thread has no sample of yet */
	uint64_t first_added;  /* tick at which its first sample was added */
	int64_t extra;         /* samples that were added, less ticks */
};

struct tick_row {
	uint64_t start_ns, span_ns;
	uint32_t parallelism, runnable, ready;
};

/* The blame of a holder between two commits, in the ticks [first, end). */
struct blame_span {
	struct profile_blame sum;
	uint64_t first, end;
};

struct spans {
	const struct profile *profile; /* borrowed */
	struct open_span *open;        /* by thread of the profile */
	size_t open_count, open_capacity;
	/*
	 * Spans of sums of threads or tasks (task 0, thread 0), which have several stacks and
	 * states at one tick: one span for each. Of their position only `next` is used.
	 */
	struct open_span *side;
	size_t side_count, side_capacity;
	struct table doings; /* (GIL, state and system call, wait and carrier) -> number */
	struct table sides;  /* (thread and stack, that number) -> index */
	struct span *closed; /* not written yet, like tick and blame */
	size_t closed_count, closed_capacity;
	struct tick_row *tick;
	size_t tick_count, tick_capacity;
	struct blame_span *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* (wait and thread, stack and state) */
	uint64_t blame_written;   /* number of rows that were written before */
	uint64_t ticks;           /* number of the tick in progress */
	uint64_t written;         /* `ticks` at the last commit */
	uint64_t wall_ns;
	uint64_t clock_ns, date_ns; /* CLOCK_MONOTONIC, CLOCK_REALTIME when tick 0 began */
	int64_t next_id;
	/* Ticks [gap_first, gap_end) without a runnable thread, not charged to a wait yet. */
	uint64_t gap_first, gap_end;
};

void spans_init(struct spans *spans, const struct profile *profile);
void spans_release(struct spans *spans);

/* The four of struct profile_recorder. */
void spans_sample(void *context, const struct profile_entry *sample);
void spans_charge(void *context, const struct profile_entry *entry, int64_t latency_ns);
void spans_blame(void *context, const struct profile_blame *blame);
void spans_tick(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		uint32_t ready);

/* Forgets the rows, which have been written. */
void spans_written(struct spans *spans);

/* --- recorder.c --------------------------------------------------------------------- */

/* The number of rows that have been written, of tables whose rows do not change. */
struct written {
	size_t modules, frames, renamed, stacks;
};

struct recorder {
	struct recording_config config;
	char *base, *path;
	const struct process *process; /* borrowed; NULL until it is known */
	bool process_written;
	struct profile *profile;
	struct profile_recorder listener;
	struct spans spans;
	struct written written, committed; /* with and without the transaction in progress */
	/* (table, id) -> what a row was last written with: the name of a thread, `most` of a wait,
	 * 0 for a system call. Cleared when a transaction is rolled back. */
	struct table values;
	struct run_stats stats; /* at the last commit */
	bool stats_written;

	struct place_vfs *vfs;
	char *aside;      /* name of the replaced file until there are samples; or NULL */
	int fd;           /* of the file, with the lock of its writer; -1: none */
	struct stat made; /* device and inode when the file was created */
	sqlite3 *db;
	sqlite3_stmt *put[RECORDING_TABLE_COUNT];
	int rc;           /* of SQLite in the present transaction: after an error nothing is done */
	int error_number; /* errno of the last failed transaction */
	uint64_t last_ns; /* time of the last commit */
	uint64_t cpu_ns;
	bool failed;
};

/* --- recorder_file.c ------------------------------------------------------------- */
int recorder_file_create(struct recorder *recorder, struct error *err);
/* Removes the replaced file, or restores it in place of the recording. */
void recorder_file_settle(struct recorder *recorder);
void recorder_file_restore(struct recorder *recorder);
/* ERROR_OUTPUT if the name no longer refers to the created file. */
int recorder_file_check(const struct recorder *recorder, struct error *err);
/* Sets ERROR_OUTPUT with the text of SQLite or of errno. */
int recorder_refuse(const struct recorder *recorder, struct error *err);

/* Runs SQL unless the transaction has failed, and stores the result in recorder->rc. */
void recorder_execute(struct recorder *recorder, const char *sql);

/* --- recorder_rows.c ----------------------------------------------------------------
 * Like recorder_execute, these do nothing after an error and store theirs in recorder->rc. */

/* Writes one row; `row` is the row struct of the table. Pointers in it are borrowed. */
void recorder_put(struct recorder *recorder, enum recording_table table, const void *row);
/* The same from designated initializers: RECORDER_PUT(recorder, STOPS, stops, .bucket = 1) */
#define RECORDER_PUT(recorder, TABLE, table, ...)                                                  \
	recorder_put(recorder, TABLE_##TABLE, &(const struct table##_row){ __VA_ARGS__ })
/* Writes what the profile and the statistics have in addition to what was written before. */
void recorder_put_news(struct recorder *recorder, const struct run_stats *stats);
/* Writes the names of all frames. */
void recorder_put_frame_names(struct recorder *recorder, struct symbols *symbols);

/* --- recorder_causal.c: the same */
void recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result);

#endif
