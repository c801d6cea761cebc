/* SPDX-License-Identifier: MIT */
/*
 * recording_internal.h - what reader and recorder share, beside the schema.
 * fields.c     members of structs that are stored as rows: name and value
 * place_vfs.c  SQLite's files below an open directory
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

/* A member of a struct that is stored as a row with its name and value. */
struct field {
	const char *name;
	enum { FIELD_U64, FIELD_U32, FIELD_INT, FIELD_BOOL, FIELD_DOUBLE, FIELD_TEXT } type;
	size_t offset;          /* in the struct */
	enum field_merge merge; /* for field_merge */
	double most;            /* for field_take: a number is in [0, most] */
};

/* Both end with a NULL name. Counts by reason and the histogram of stops have other tables. */
extern const struct field run_fields[];    /* table cost: struct run_stats */
extern const struct field causal_fields[]; /* table causal: struct causal_result */

/* Rows of table causal that hold texts. */
#define CAUSAL_KEY_UNIT "unit"
#define CAUSAL_KEY_COMMAND "command"

/* The kinds of reasons in table losses: counters of struct run_stats. */
#define LOSS_KINDS 2
struct loss_kind {
	const char *kind;
	const struct field *fields;
};
extern const struct loss_kind loss_kinds[LOSS_KINDS];

/* Returns the field of this name, or NULL. */
const struct field *field_find(const struct field *fields, const char *name);
/* Returns the member of `object`. */
struct recording_value field_get(const struct field *field, const void *object);
bool field_differs(const struct field *field, const void *left, const void *right);
/* Stores the value, whose text is borrowed; false if it has another type or is out of range. */
bool field_take(const struct field *field, void *object, const struct recording_value *value);
/*
 * Merges the value of one more recording with the member; `first`: of the first recording. A value
 * outside of the range of the member's type is ignored.
 */
void field_merge(const struct field *field, void *object, double value, bool first);

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
