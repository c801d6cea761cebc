/* SPDX-License-Identifier: MIT */
/*
 * place_vfs_internal.h - SQLite's files at one place, below a folder that is held open.
 *
 * SQLite opens files by name, and finds out about links first, which leaves time to swap a
 * folder of the path for another. Here names are looked up from the folder's descriptor. Nothing
 * but the database and its journal is ever opened, looked for or deleted, whatever a journal
 * asks for.
 */
#ifndef WALLSAMPLE_RECORDING_PLACE_VFS_INTERNAL_H
#define WALLSAMPLE_RECORDING_PLACE_VFS_INTERNAL_H

#include <stdbool.h>

#include <sqlite3.h>

struct place_vfs;

/*
 * For the file `base` in the folder. A journal that lies there already is used (to undo what a
 * killed writer had begun) only with `old_journal`; else it is somebody's leftover and replaced.
 * NULL when SQLite has no file system.
 */
struct place_vfs *place_vfs_create(int dirfd, const char *base, bool old_journal);
/* The database must have been closed. */
void place_vfs_free(struct place_vfs *vfs);

/* As sqlite3_open_v2. */
int place_vfs_open(struct place_vfs *vfs, int flags, sqlite3 **out);

#endif
