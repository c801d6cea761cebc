/* SPDX-License-Identifier: MIT */
/*
 * recorder_log_internal.h - how a recording gets onto the disk while it is written:
 * recorder_log.c  writes the write-ahead log of the database
 * disk_sync.c     is a thread that calls fsync(2) for the files of the recording
 */
#ifndef WALLSAMPLE_RECORDING_RECORDER_LOG_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDER_LOG_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/base/error.h"

/*
 * --- disk_sync.c --------------------------------------------------------------------
 * The thread has all signals blocked, allocates no memory and calls no function of a file but
 * fsync, so that fork(2) may be called while it runs. Its CPU time is part of clock_own_cpu_ns().
 */

/* The files of a recording, in the order in which the thread calls fsync for them; SYNC_FILES is
 * their number. A parameter `files` is a set of bits 1 << SYNC_…. */
enum sync_file { SYNC_MAIN, SYNC_LOG, SYNC_FOLDER, SYNC_FILES };

struct disk_sync;

/*
 * Starts the thread for an array of SYNC_FILES descriptors, which the caller keeps open until
 * disk_sync_end; -1: there is no such file. Returns NULL, with errno set, if no thread can be
 * started.
 */
struct disk_sync *disk_sync_start(const int *fd);
/* Makes the thread write the files to the disk as soon as possible. Does not wait. */
void disk_sync_ask(struct disk_sync *sync, unsigned files);
/*
 * States that the files have changed: the thread writes them to the disk after `delay_ns`
 * nanoseconds, unless it is asked earlier. Does not wait.
 */
void disk_sync_note(struct disk_sync *sync, unsigned files, uint64_t delay_ns);
/*
 * Returns true if all that was asked for is on the disk or has failed. *number: errno of the first
 * fsync that has failed since disk_sync_start, or 0.
 */
bool disk_sync_is_idle(struct disk_sync *sync, int *number);
/* Waits until disk_sync_is_idle() is true. Returns the same errno. */
int disk_sync_wait(struct disk_sync *sync);
/* Waits until all files of disk_sync_ask() are on the disk, ends the thread and frees `sync`, which
 * may be NULL. Files that were only noted (disk_sync_note) are not written to the disk. */
void disk_sync_end(struct disk_sync *sync);

/* --- recorder_log.c ------------------------------------------------------------------ */

/* Step of the log. From LOG_FULL to LOG_EMPTIED commits are not possible, and the thread of
 * disk_sync.c calls fsync for the file that the comment of the step names. */
enum log_step {
	LOG_NONE,    /* a temporary recording, and after the end */
	LOG_OPEN,    /* commits append to the log */
	LOG_FULL,    /* the whole log, which is then copied into the database */
	LOG_COPIED,  /* the database, whose log is then truncated */
	LOG_EMPTIED, /* the empty log */
};

struct recorder_log {
	enum log_step step;
	uint64_t most;          /* size in bytes from which the log is copied into the database */
	struct disk_sync *sync; /* NULL before the first commit and after the end */
	int folder;             /* descriptor of the directory for fsync, or -1 */
	/* is_asked: an fsync of all files has been requested; is_durable: it has also returned. */
	bool is_asked, is_durable;
	uint64_t asked_ns; /* time of the recording at the last request */
	bool is_left;      /* the log is still needed, because recorder_log_conclude has failed */
};

struct recorder;

/*
 * Creates the log of a new database, so that commits append to it. A temporary database has none.
 * Returns 0, or ERROR_OUTPUT (negated) if the log cannot be created.
 */
int recorder_log_create(struct recorder *recorder, struct error *err);
/*
 * Begins the next step if the fsync of the current step has returned. With `wait`, waits for the
 * disk until recorder_log_takes_commits is true. Returns 0, or ERROR_OUTPUT (negated) if the disk
 * or SQLite has reported an error.
 */
int recorder_log_advance(struct recorder *recorder, bool wait, struct error *err);
/* Returns false from LOG_FULL to LOG_EMPTIED. */
bool recorder_log_takes_commits(const struct recorder *recorder);
/* True if commits are not possible, and recorder_log_advance would change something. */
bool recorder_log_can_advance(const struct recorder *recorder);
/*
 * To be called after a commit: requests an fsync if that is due, and does not wait for it. Returns
 * 0, or ERROR_OUTPUT (negated) if the thread cannot be started.
 */
int recorder_log_committed(struct recorder *recorder, struct error *err);
/* Returns the size of the log in bytes, 0 without a log. */
uint64_t recorder_log_size(const struct recorder *recorder);
/*
 * Copies the log into the database, removes it and waits until that is on the disk. Does nothing
 * without a log. After an error, which is returned, the log stays beside the database.
 */
int recorder_log_conclude(struct recorder *recorder, struct error *err);
/* Ends the thread, and leaves the log as it is. */
void recorder_log_end(struct recorder *recorder);

#endif
