/* SPDX-License-Identifier: MIT */
/*
 * recording.h - writes a recording: an SQLite database of all that is added to a profile.
 *
 * Samples are stored as spans: a thread whose stack and state do not change is one row, however
 * long that lasts. Rows are written about once a second, each time in one transaction, so that a
 * killed wallsample loses about a second.
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

/* "wsdb", in the file's header; the schema version that is written, and the oldest that is read. */
#define RECORDING_APPLICATION_ID 0x77736462
#define RECORDING_SCHEMA 6
#define RECORDING_SCHEMA_OLDEST 5

/* Bound on experiments that are stored; the first ones are kept. More than a day of them. */
#define RECORDING_EXPERIMENTS_MOST 100000

struct recording_config {
	int dirfd;        /* directory of the file; kept open by the caller */
	const char *base; /* name of the file; NULL: a temporary recording without a name */
	const char *path; /* of the file, for messages */
	const struct modules *modules;
	double rate_hz;
	const char *command; /* the command line of wallsample; or NULL */
};

struct recorder;

/*
 * Creates the file and becomes the recorder of the profile, which must be empty. The members of
 * `config` and the profile are borrowed until recorder_free. A file of that name is replaced unless
 * another recorder writes it. ERROR_OUTPUT: the file cannot be written. Links are not followed, and
 * a file that replaces the recording is detected.
 *
 * The replaced file is kept beside the new one, as ".wallsample-...-old", until samples have been
 * written; it is restored when there are none.
 */
int recorder_create(const struct recording_config *config, struct profile *profile,
		    struct recorder **out, struct error *err);

/* Sets the sampled process, which is borrowed, before the first commit. */
void recorder_set_process(struct recorder *recorder, const struct process *process);

/*
 * True if the last commit was half a second ago; if threads of the target are held, a second ago.
 * False after an error.
 */
bool recorder_is_due(const struct recorder *recorder, uint64_t now_ns, bool held);

/*
 * Writes what was added since the last commit. This may take long on a slow disk: no thread of the
 * target may be stopped meanwhile. If another process is reading the file, the rows stay for the
 * next commit, and 0 is returned. After an error the recording holds the earlier commits, and every
 * later commit fails.
 */
int recorder_commit(struct recorder *recorder, const struct run_stats *stats, struct error *err);

/*
 * Writes a causal profile, once, before recorder_finish. The recording also holds the profile that
 * was sampled before the experiments.
 */
int recorder_put_causal(struct recorder *recorder, const struct causal_result *result,
			struct error *err);

/*
 * Writes the rest and the names of all frames (`symbols` may be NULL): the recording is complete.
 * Frames without a name are no error.
 */
int recorder_finish(struct recorder *recorder, const struct run_stats *stats, enum run_end end,
		    struct symbols *symbols, struct error *err);

/* Closes the file. A recording without samples is removed if it had replaced another file, which is
 * restored. */
void recorder_free(struct recorder *recorder);
/* Closes and removes the file. */
void recorder_discard(struct recorder *recorder);

/* Size of the file in bytes, and the CPU time that was used to write it. */
uint64_t recorder_size(const struct recorder *recorder);
uint64_t recorder_cpu_ns(const struct recorder *recorder);

#endif
