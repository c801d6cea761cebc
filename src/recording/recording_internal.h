/* SPDX-License-Identifier: MIT */
/*
 * recording_internal.h - what the reader and the recorder share, except the schema:
 * fields.c reads and writes members of structs that are stored as rows of a name and a value,
 * place_vfs.c opens the files of SQLite below an open directory.
 */
#ifndef WALLSAMPLE_RECORDING_RECORDING_INTERNAL_H
#define WALLSAMPLE_RECORDING_RECORDING_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

#include "recording/schema_internal.h"
#include "wallsample/causal/causal.h"
#include "wallsample/profile/run_stats.h"
#include "wallsample/recording/recording.h"

/* --- fields.c ----------------------------------------------------------------------- */

/* How field_merge merges the values that a member has in several recordings. */
enum field_merge { MERGE_SUM, MERGE_MAX, MERGE_MIN, MERGE_FIRST };

/* A member of a struct. Its name and its value are stored as a row of a table. */
struct field {
	const char *name;
	enum { FIELD_U64, FIELD_U32, FIELD_INT, FIELD_BOOL, FIELD_DOUBLE, FIELD_TEXT } type;
	size_t offset; /* offset of the member in the struct */
	enum field_merge merge;
	/* Highest value that field_take accepts; the lowest is 0. Below 2^63 for integers. */
	double most;
};

/*
 * Each array ends with a NULL name. Two groups of members of struct run_stats are not in
 * run_fields: the counters of losses by reason are in loss_kinds, and the buckets of the histogram
 * of stops are stored in table stops, without fields.
 */
extern const struct field run_fields[];    /* table cost: struct run_stats */
extern const struct field causal_fields[]; /* table causal: struct causal_result */

/* Names of the rows of table causal whose value is a text. */
#define CAUSAL_KEY_UNIT "unit"
#define CAUSAL_KEY_COMMAND "command"

/*
 * Kinds of rows in table losses. `fields` are the counters of struct run_stats that have this kind.
 */
#define LOSS_KINDS 2
struct loss_kind {
	const char *kind;
	const struct field *fields;
};
extern const struct loss_kind loss_kinds[LOSS_KINDS];

/* Returns the field of this name, or NULL. */
const struct field *field_find(const struct field *fields, const char *name);
/* Returns the value of the member of `object` that the field describes. */
struct recording_value field_get(const struct field *field, const void *object);
bool field_differs(const struct field *field, const void *left, const void *right);
/*
 * Stores the value in the member of `object` that the field describes; a text is borrowed. A member
 * that is a text accepts values of all types, because each value has a text. Returns false, with
 * the member unchanged, if the member is a number and the value has another type or is out of
 * range.
 */
bool field_take(const struct field *field, void *object, const struct recording_value *value);
/*
 * Merges a value of one more recording into the member of `object` that the field describes.
 * `first` is true for the first recording, whose value replaces the member's old value. The member
 * stays unchanged if the merged value is out of range: negative (unless the member is an int), or
 * above INT32_MAX for a 32-bit member, 2^62 for any other member.
 */
void field_merge(const struct field *field, void *object, double value, bool first);

/* Ending of the rollback journal, as of RECORDING_LOG (recording.h). */
#define RECORDING_JOURNAL "-journal"

/*
 * --- place_vfs.c ----------------------------------------------------------------------
 * SQLite checks a path for symbolic links and then opens it by name, which leaves time to replace a
 * directory of the path. This file system looks names up below a directory descriptor. It never
 * opens, finds or deletes files other than the database, its journal and its log, even if a journal
 * names other files.
 */

struct place_vfs;

/*
 * Creates a file system for the file `base` in the directory. If `old_files` is true, SQLite
 * rolls an existing journal back and reads an existing log; else SQLite reads neither, and a new
 * file replaces it when SQLite creates one. Returns NULL if SQLite has no file system for Unix.
 */
struct place_vfs *place_vfs_create(int dirfd, const char *base, bool old_files);
/* Frees the file system, which may be NULL. The database must have been closed. */
void place_vfs_free(struct place_vfs *vfs);
/* Opens the database; flags and result are those of sqlite3_open_v2. */
int place_vfs_open(struct place_vfs *vfs, int flags, sqlite3 **out);
/* Returns a descriptor of the log that SQLite has created, borrowed until place_vfs_free, or -1. */
int place_vfs_log(const struct place_vfs *vfs);
/* Removes the log that SQLite has created, unless its name belongs to another file by now. */
void place_vfs_remove_log(struct place_vfs *vfs);

#endif
