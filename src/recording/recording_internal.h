/* SPDX-License-Identifier: MIT */
/*
 * recording_internal.h - what reader and recorder share, beside the schema.
 * fields.c     rows of the tables cost, causal and losses, which are fields of structs by name
 * place_vfs.c  files of SQLite below an open directory
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#include "recording/schema_internal.h"
#include "wallsample/causal/causal.h"
#include "wallsample/profile/run_stats.h"

/* --- fields.c ----------------------------------------------------------------------- */

/* How the values of several recordings become one. */
enum field_merge { MERGE_SUM, MERGE_MAX, MERGE_MIN, MERGE_FIRST };

struct field {
	const char *name;
	enum { FIELD_U64, FIELD_U32, FIELD_INT, FIELD_BOOL, FIELD_DOUBLE } type;
	size_t offset;          /* in the struct */
	enum field_merge merge; /* run_fields only */
	double most;            /* causal_fields only: the range is [0, most] */
};

/* Both end with a NULL name. The stop histogram and counts by reason have tables of their own. */
extern const struct field run_fields[];    /* of struct run_stats */
extern const struct field causal_fields[]; /* of struct causal_result */

/* Rows of table causal that hold texts. */
#define CAUSAL_KEY_UNIT "unit"
#define CAUSAL_KEY_COMMAND "command"

/* VALUE_REAL for FIELD_DOUBLE, else VALUE_INT. `object` is the struct. */
struct recording_value field_get(const struct field *field, const void *object);
bool field_differs(const struct field *field, const void *left, const void *right);
/* Stores value->real in a FIELD_DOUBLE, else value->number, which must be in range. */
void field_set(const struct field *field, void *object, const struct recording_value *value);
/* Merges the value of one more recording; a value outside the range of its type is ignored. */
void field_merge(const struct field *field, void *object, double value, bool first);

/* Names of loss reasons: kind "failed" and kind "chain". NULL behind the last. */
const char *loss_failure_word(size_t reason);
const char *loss_chain_word(size_t reason);

/* --- place_vfs.c ----------------------------------------------------------------------
 * SQLite opens files by name after a check for links, which leaves time to replace a directory of
 * the path. This file system looks names up below a directory descriptor. It never opens, finds or
 * deletes files other than the database and its journal, whatever a journal names.
 */

struct place_vfs;

/*
 * For the file `base` in the directory. An existing journal is rolled back only with `old_journal`,
 * else replaced. NULL if SQLite has no file system.
 */
struct place_vfs *place_vfs_create(int dirfd, const char *base, bool old_journal);
/* The database must have been closed. */
void place_vfs_free(struct place_vfs *vfs);
/* As sqlite3_open_v2. */
int place_vfs_open(struct place_vfs *vfs, int flags, sqlite3 **out);

#endif
