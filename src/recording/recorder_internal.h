/* SPDX-License-Identifier: MIT */
/*
 * recorder_internal.h - the files that write a recording.
 * recorder.c        creates a recording, commits to it and finishes it
 * recorder_file.c   creates and locks the file, detects whether another file has taken its name
 * recorder_log.c    writes the log of the database, see recorder_log_internal.h
 * recorder_rows.c   writes the rows of a profile
 * recorder_causal.c writes the rows of a causal profile
 * spans.c           sums consecutive equal samples
 */
#ifndef WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "recording/recorder_log_internal.h"
#include "recording/recording_internal.h"
#include "recording/schema_internal.h"
#include "wallsample/profile/profile_recorder.h"
#include "wallsample/recording/recording_read.h"
#include "wallsample/base/table.h"

/*
 * --- spans.c ------------------------------------------------------------------------
 * A span is a row of table spans: consecutive samples of one thread that are equal in all members
 * of struct profile_entry except `samples` and `ns`.
 *
 * The ticks of a span are its place in time; its samples and times are its weight. The number of
 * ticks and of samples may differ: a correction of the sampler (sampler.h) has a weight, which may
 * be negative, and no place in time.
 */

struct span {
	int64_t id; /* 0, 1, 2, ... in the order in which the spans began */
	struct profile_entry sum;
	/* the ticks [first, first + ticks) */
	uint64_t first, ticks;
	bool correction; /* its weights correct those of other spans (profile_correct) */
};

/* The latest span of a thread: samples that are equal to its samples extend it. */
struct open_span {
	struct span span;
	bool is_open, changed; /* changed: the span differs from its last written row */
	uint64_t next; /* first tick after the thread's last sample; UINT64_MAX: no sample yet */
	/* tick that was in progress when the thread's first sample was added */
	uint64_t first_added;
	int64_t extra; /* number of samples that were added, minus number of ticks they occupy */
};

/* Sum of the equal blame (profile_find_blame) since the last commit, in ticks [first, end). */
struct blame_span {
	struct profile_blame sum;
	uint64_t first, end;
};

struct spans {
	const struct profile *profile; /* borrowed */
	struct open_span *open;        /* indexed by thread of the profile: its latest span */
	size_t open_count, open_capacity;
	/*
	 * Latest spans of shared records (profile.h: tid 0, or green_id 0 of a green task). Such a
	 * record may have several stacks and states at one tick, and has a span for each. The
	 * members first_added and extra are not used here.
	 */
	struct open_span *side;
	size_t side_count, side_capacity;
	struct table doings; /* parameter `doings` of profile_find_entry */
	/* profile_find_entry() uses it to find the index in `side` */
	struct table sides;
	struct span *closed; /* completed spans that are not written yet */
	size_t closed_count, closed_capacity;
	struct recording_tick *tick;
	size_t tick_count, tick_capacity;
	struct blame_span *blame;
	size_t blame_count, blame_capacity;
	struct table blame_table; /* profile_find_blame() uses it to find the index in `blame` */
	uint64_t blame_written;   /* number of rows of table blame that have been written */
	uint64_t ticks;           /* number of the tick in progress */
	uint64_t written;         /* value of the member `ticks` at the last commit */
	/* sum of the spans of all ticks */
	uint64_t wall_ns;
	/* CLOCK_MONOTONIC and CLOCK_REALTIME at the beginning of tick 0. */
	uint64_t clock_ns, date_ns;
	int64_t next_id;
	/*
	 * Ticks [gap_first, gap_end) had no runnable thread, and their time is not yet charged to a
	 * wait.
	 */
	uint64_t gap_first, gap_end;
};

void spans_release(struct spans *spans);

/* The callbacks of struct profile_recorder. `context` is a struct spans. */
void spans_sample(void *context, const struct profile_entry *sample);
void spans_correct(void *context, const struct profile_entry *correction, uint64_t first_tick,
		   uint64_t ticks);
void spans_charge(void *context, const struct profile_entry *entry, int64_t latency_ns);
void spans_blame(void *context, const struct profile_blame *blame);
void spans_tick(void *context, uint64_t span_ns, uint32_t parallelism, uint32_t runnable,
		uint32_t ready);

/* Removes closed spans, ticks and blame after they were written. */
void spans_written(struct spans *spans);

/* --- recorder.c --------------------------------------------------------------------- */

/* Numbers of modules, frames, renamed frames and stacks that have been written. */
struct written {
	size_t modules, frames, renamed, stacks;
};

struct recorder {
	struct recording_config config;
	char *base, *path;
	const struct process *process; /* borrowed; NULL before recorder_set_process */
	bool process_written;          /* the description of the target is written */
	struct profile *profile;
	struct profile_recorder listener;
	struct spans spans;
	struct written written; /* with the rows of the present transaction */
	/*
	 * Maps (table; id) to a value in the last written row with this id: the name of a thread,
	 * `most` of a wait, 0 for a system call.
	 */
	struct table values;
	struct run_stats stats; /* statistics at the last commit */
	bool stats_written;

	struct place_vfs *vfs;
	struct recorder_log log;
	/* present name of the file that had the recording's name before; NULL: there is none */
	char *aside;
	int fd;           /* locked descriptor of the file; -1 for a temporary recording */
	struct stat made; /* device and inode of the created file */
	sqlite3 *db;
	sqlite3_stmt *put[RECORDING_TABLE_COUNT];
	int rc;           /* first error of SQLite in the present transaction, or SQLITE_OK */
	int error_number; /* errno after the last error in a transaction */
	uint64_t last_ns; /* time of the last commit */
	uint64_t cpu_ns;  /* CPU time that commits have taken */
	bool has_samples; /* samples have been committed */
	bool failed;      /* a commit has failed: nothing more is written */
};

/* --- recorder_file.c ------------------------------------------------------------- */
int recorder_file_create(struct recorder *recorder, struct error *err);
/*
 * recorder_file_settle removes the file `aside`. recorder_file_restore removes the recording and
 * gives the file `aside` its old name back, unless another program has created a file of that name.
 * Both functions do nothing if `aside` is NULL.
 */
void recorder_file_settle(struct recorder *recorder);
void recorder_file_restore(struct recorder *recorder);
/*
 * Returns ERROR_OUTPUT if the file's name no longer refers to the file that the recorder created.
 */
int recorder_file_check(const struct recorder *recorder, struct error *err);
/* Sets ERROR_OUTPUT with a text for SQLite's last error: for an error of input or output, the text
 * of its errno. Returns ERROR_OUTPUT. */
int recorder_refuse(const struct recorder *recorder, struct error *err);

/* Runs SQL unless the transaction has failed, and stores the result in recorder->rc. */
void recorder_execute(struct recorder *recorder, const char *sql);
/* Stores a result of SQLite in recorder->rc; if it is an error, stores errno in error_number. */
void recorder_keep_result(struct recorder *recorder, int rc);

/*
 * --- recorder_rows.c ----------------------------------------------------------------
 * The functions of recorder_rows.c do nothing if recorder->rc is an error, and store an error in
 * recorder->rc.
 */

/* Writes one row; `row` is the row struct of the table. Pointers in it are borrowed. */
void recorder_put(struct recorder *recorder, enum recording_table table, const void *row);
/* Writes one row from designated initializers: RECORDER_PUT(recorder, STOPS, stops, .bucket = 1) */
#define RECORDER_PUT(recorder, TABLE, table, ...)                                                  \
	recorder_put(recorder, TABLE_##TABLE, &(const struct table##_row){ __VA_ARGS__ })
/* Write a row of table meta; no effect if the text is NULL. */
void recorder_put_text(struct recorder *recorder, const char *key, const char *value);
void recorder_put_number(struct recorder *recorder, const char *key, uint64_t value);
/* Writes additions to the profile, and changes of the statistics, since the last commit. */
void recorder_put_news(struct recorder *recorder, const struct run_stats *stats);
/* Writes the names of all frames. */
void recorder_put_frame_names(struct recorder *recorder, struct symbols *symbols);

/* --- recorder_causal.c. Errors are stored in recorder->rc. */
void recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result);

#endif
