/* SPDX-License-Identifier: MIT */
/*
 * recording.h - writes a recording: an SQLite database of everything that is added to a profile.
 *
 * Consecutive samples of a thread with the same stack, state, system call, wait, GIL state and
 * carrier (profile.h) are stored in one row, a span. Once or twice a second the new rows are
 * written in one transaction (a commit): a recorder that is killed loses about the last second.
 *
 * Until it is completed, a recording is two files: the database and its write-ahead log, to which
 * commits append, and which no other process but a reader (recording_read.h) can read. A thread of
 * the recorder calls fsync(2) for the log after 3 to 4 seconds of samples: a power cut loses these
 * and what is sampled while the disk writes them. No other thread waits for the disk, except in
 * recorder_put_causal, recorder_finish and recorder_free.
 *
 * recording_read.h reads recordings; wallsample-recording(5) describes the tables.
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_H
#define WALLSAMPLE_RECORDING_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/causal/causal.h"
#include "wallsample/base/error.h"
#include "wallsample/process/module.h"
#include "wallsample/process/process.h"
#include "wallsample/profile/profile.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/symbol/symbol.h"

/*
 * The application id "wsdb" in the file's header; the schema version that is written; the oldest
 * schema version that can be read.
 */
#define RECORDING_APPLICATION_ID 0x77736462
#define RECORDING_SCHEMA 8
#define RECORDING_SCHEMA_OLDEST 5

/* What SQLite appends to the name of a database for its write-ahead log:
 * https://www.sqlite.org/tempfiles.html, section 2.2. */
#define RECORDING_LOG "-wal"

/* Largest number of experiments (causal.h) that a recording stores, more than a run of a day makes.
 * Later experiments are not stored. */
#define RECORDING_EXPERIMENTS_MOST 100000

struct recording_config {
	int dirfd; /* descriptor of the file's directory; the caller keeps it open */
	/* Name of the file in dirfd; NULL: a temporary recording without a name. */
	const char *base;
	const char *path; /* path of the file, for messages */
	const struct modules *modules;
	double rate_hz;
	const char *command; /* command line of wallsample; NULL: not stored */
	bool is_private;     /* only the owner of the file may read it */
};

struct recorder;

/*
 * Creates the file and a recorder, which becomes the recorder of the profile; the profile must be
 * empty. The members of `config` and the profile are borrowed until recorder_free. An existing
 * regular file of the same name is replaced. Symbolic links are not followed. Returns 0, or
 * ERROR_OUTPUT (negated) with *out NULL: the file cannot be written, another recorder writes it, or
 * the name belongs to something other than a regular file.
 *
 * The replaced file is kept in the same directory, as ".wallsample-...-old", until samples are on
 * the disk. recorder_free restores it if there are no samples.
 */
int recorder_create(const struct recording_config *config, struct profile *profile,
		    struct recorder **out, struct error *err);

/* Lets only the owner of the file read it from now on, as config.is_private. A program that has
 * opened the file before may still read it. */
void recorder_make_private(struct recorder *recorder);

/* Sets the sampled process, which is borrowed, before the first commit. */
void recorder_set_process(struct recorder *recorder, const struct process *process);

/*
 * Returns true if recorder_commit() has work. That is the case half a second after the last commit;
 * while the log is copied into the database, as soon as the disk has finished a step. If `held` is
 * true because threads of the target are held, it is never the case within a second of the last
 * commit. Returns false after an error.
 */
bool recorder_is_due(const struct recorder *recorder, uint64_t now_ns, bool held);

/*
 * Writes additions to the profile since the last commit. To be called only while no thread of the
 * target is stopped, because write(2) can block for long when memory is short. Returns 0,
 * also while the log is copied into the database: a later commit then writes the rows. Returns
 * ERROR_OUTPUT (negated) if the file cannot be written, or another program has removed or replaced
 * it. After an error the recording holds the earlier commits, and every later commit fails.
 */
int recorder_commit(struct recorder *recorder, const struct run_stats *stats, struct error *err);

/*
 * Writes a causal profile, the results of experiments, next to the profile that was sampled before
 * the experiments. To be called at most once, before recorder_finish. Returns 0, or ERROR_OUTPUT
 * (negated) if the file cannot be written. After an earlier error does nothing and returns 0.
 */
int recorder_put_causal(struct recorder *recorder, const struct causal_result *result,
			struct error *err);

/*
 * Completes the recording: writes what was added since the last commit, the reason for the end of
 * the run, and, unless `symbols` is NULL, the names of all frames, then makes it one file and waits
 * until that is on the disk. Frames without a name are no error. Returns 0, or ERROR_OUTPUT
 * (negated) if the file cannot be written. After an earlier error does nothing and returns 0.
 */
int recorder_finish(struct recorder *recorder, const struct run_stats *stats, enum run_end end,
		    struct symbols *symbols, struct error *err);

/*
 * Makes the recording one file after an error. Returns false if that is not possible, as on a full
 * disk: the log, PATH with RECORDING_LOG appended, then stays, and is a part of the recording.
 */
bool recorder_join(struct recorder *recorder);

/*
 * Closes the file and frees the recorder, which may be NULL. A recording without samples that has
 * replaced another file is removed, and the other file is restored.
 */
void recorder_free(struct recorder *recorder);
/* Removes the file, unless another program has replaced it, and calls recorder_free. */
void recorder_discard(struct recorder *recorder);

/* Returns the time from the beginning of the run up to which all samples are in the file, in ns; 0:
 * none are. */
uint64_t recorder_kept_ns(const struct recorder *recorder);

/*
 * Return the size of the file and its log in bytes (0 for a temporary recording), and the CPU time
 * that the commits have used.
 */
uint64_t recorder_size(const struct recorder *recorder);
uint64_t recorder_cpu_ns(const struct recorder *recorder);

#endif
