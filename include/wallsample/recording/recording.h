/* SPDX-License-Identifier: MIT */
/*
 * recording.h - what was sampled, kept in a file that can be asked again: an SQLite database.
 *
 * The recording is a journal of what reaches the profile. Samples are kept as spans: a thread
 * that goes on doing the same is one row, however long. It is written about once a second, in
 * one transaction, so that who is killed loses no more than that.
 *
 * What is read is taken for hostile: nothing in it is run, it is never changed, every number is
 * checked. See recording_read.h; the tables are described in wallsample-recording(5).
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

/* "wsdb", in the file's header; the schema version that is written, and the oldest that is read. */
#define RECORDING_APPLICATION_ID 0x77736462
#define RECORDING_SCHEMA 6
#define RECORDING_SCHEMA_OLDEST 5

/* Of a causal profile no more are kept, the first ones: more than a day of them. */
#define RECORDING_EXPERIMENTS_MOST 100000

struct recording_config {
	int dirfd;               /* folder of the file; kept open by the caller */
	const char *base;        /* its name there; NULL: a temporary recording without a name */
	const char *path;        /* for messages */
	const struct modules *modules;
	double rate_hz;
	const char *command;     /* the words of the call; or NULL */
};

/* All borrowed. */
struct recorder;

/*
 * Makes the file, in place of one of that name unless another recorder is at work on it, and
 * listens to what is added to the profile from now on, which must be empty. ERROR_OUTPUT says
 * why it cannot be written. It never follows a link, and nobody else can put a file in its place
 * unnoticed.
 *
 * What had the name before lies beside it, as ".wallsample-…-old", until samples have been
 * written; it is put back when there are none.
 */
int recorder_create(const struct recording_config *config, struct profile *profile,
		    struct recorder **out, struct error *err);

/* What is sampled: before the first commit. */
void recorder_set_process(struct recorder *recorder, const struct process *process);

/* Is there anything older than half a second that has not been written? */
bool recorder_is_due(const struct recorder *recorder, uint64_t now_ns);
/* The same for a whole second. */
bool recorder_is_overdue(const struct recorder *recorder, uint64_t now_ns);

/*
 * Writes what has come since the last time. It may take long on a slow disk: see
 * sampler_leave. Somebody who reads the file just then is no error: it is written the next time.
 * After an error the recording holds what was written before, and no more is taken.
 */
int recorder_commit(struct recorder *recorder, const struct run_stats *stats,
		    struct error *err);

/*
 * What experiments found, once, before recorder_finish; of the profile that was taken before them
 * the recording is an ordinary one.
 */
int recorder_put_causal(struct recorder *recorder, const struct causal_result *result,
			struct error *err);

/*
 * The end: the rest, and the names of all frames. Afterwards the recording is whole. One with
 * fewer than all of its names is not an error.
 */
int recorder_finish(struct recorder *recorder, const struct run_stats *stats,
		    enum run_end end, struct symbols *symbols, struct error *err);

/* Stops listening and closes the file, which stays if samples have been written to it, or none
 * had its name before. */
void recorder_free(struct recorder *recorder);
/* The same, and removes the file: there was nothing to record. */
void recorder_discard(struct recorder *recorder);

/* Bytes of the file so far, and the CPU time it took to write. */
uint64_t recorder_size(const struct recorder *recorder);
uint64_t recorder_cpu_ns(const struct recorder *recorder);

#endif
