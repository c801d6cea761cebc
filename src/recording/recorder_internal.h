/* SPDX-License-Identifier: MIT */
/*
 * recorder_internal.h - what the files that write share.
 * recorder.c       the life of a recording that is being made
 * recorder_file.c  its file: made, locked, watched
 * recorder_rows.c  what is new, as rows
 * recorder_causal.c what experiments found, as rows
 * spans.c          samples that go on become one
 */
#ifndef WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDER_INTERNAL_H

#include <sqlite3.h>
#include <sys/stat.h>

#include "recording/place_vfs_internal.h"
#include "recording/schema_internal.h"
#include "recording/spans_internal.h"
#include "wallsample/recording/recording.h"
#include "wallsample/base/table.h"

/* How much of the profile has been written. */
struct written {
	size_t modules, frames, renamed, stacks, threads, waits;
	uint32_t *names; /* of the threads, as they were written */
	size_t name_capacity;
	uint32_t *most;  /* of the waits, the same */
	size_t most_capacity;
	struct table syscalls;
};

struct recorder {
	struct recording_config config;
	char *base, *path;
	const struct process *process; /* NULL until it is known */
	bool process_written;
	struct profile *profile;
	struct profile_recorder listener;
	struct spans spans;
	struct written written;
	struct run_stats stats; /* as they were written */
	bool stats_written;

	struct place_vfs *vfs;
	char *aside;        /* what had its name before, until there are samples; or NULL */
	int fd;             /* on the file, with a lock that says somebody writes it; -1: none */
	struct stat made;   /* what it was when it was made */
	sqlite3 *db;
	sqlite3_stmt *put[RECORDING_TABLE_COUNT];
	int error_number;   /* of the system, of the last transaction that failed */
	uint64_t last_ns;   /* when it was written last */
	uint64_t cpu_ns;
	bool failed;
};

/* --- recorder_file.c ------------------------------------------------------------- */
int recorder_file_create(struct recorder *recorder, struct error *err);
/* What had the name before is removed, or put back in place of the recording. */
void recorder_file_settle(struct recorder *recorder);
void recorder_file_restore(struct recorder *recorder);
/* Is it still what its name stands for? */
int recorder_file_check(const struct recorder *recorder, struct error *err);
/* ERROR_OUTPUT, with what SQLite or the system says. */
int recorder_refuse(const struct recorder *recorder, struct error *err);

/* --- recorder_rows.c ----------------------------------------------------------------
 * SQLITE_OK, or what SQLite says. */

/* Puts one row; `row` is the row struct of the table. Pointers in it are borrowed. */
int recorder_put(struct recorder *recorder, enum recording_table table, const void *row);
/* The same from designated initializers: RECORDER_PUT(recorder, STOPS, stops, .bucket = 1) */
#define RECORDER_PUT(recorder, TABLE, table, ...)                                               \
	recorder_put(recorder, TABLE_##TABLE, &(const struct table##_row){ __VA_ARGS__ })
/* All that has come since the last time, as far as it is not marked as written. */
int recorder_put_news(struct recorder *recorder, const struct run_stats *stats);
/* The transaction went well. */
void recorder_mark_written(struct recorder *recorder, const struct run_stats *stats);
int recorder_put_names(struct recorder *recorder, struct symbols *symbols);

/* --- recorder_causal.c: the same */
int recorder_put_causal_rows(struct recorder *recorder, const struct causal_result *result);

#endif
