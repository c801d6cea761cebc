/* SPDX-License-Identifier: MIT */
/* place_vfs.c - a file system for SQLite that opens its files below a directory descriptor. */
#include "recording/recording_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* The files beside the database that SQLite makes. */
enum companion { COMPANION_JOURNAL, COMPANION_LOG, COMPANION_COUNT };

struct place_vfs {
	sqlite3_vfs base; /* first member: SQLite passes a pointer to it */
	sqlite3_vfs *real;
	int dirfd;
	bool old_files;
	/* Paths that SQLite uses: "/proc/self/fd/3/x.wsdb" and "/proc/self/fd/3/x.wsdb-journal". */
	char *main, *path[COMPANION_COUNT];
	char *file[COMPANION_COUNT]; /* names in the directory */
	int log; /* descriptor of the log that make_companion has created, or -1 */
	char name[48];
};

static struct place_vfs *
of(sqlite3_vfs *vfs)
{
	return (struct place_vfs *)vfs;
}

/* Returns the companion of this path, or COMPANION_COUNT. */
static enum companion
find_companion(const struct place_vfs *vfs, const char *name)
{
	enum companion i = COMPANION_JOURNAL;

	while (i < COMPANION_COUNT && strcmp(name, vfs->path[i]) != 0)
		i++;
	return i;
}

/*
 * Creates the journal or the log as a new file, because an existing file of that name could be a
 * link that another user has made. The file gets the permissions of the database, because a reader
 * needs both files.
 */
static bool
make_companion(struct place_vfs *vfs, enum companion companion)
{
	const char *file = vfs->file[companion];
	struct stat main;
	bool good;
	int fd;

	if (unlinkat(vfs->dirfd, file, 0) != 0 && errno != ENOENT)
		return false;
	fd = openat(vfs->dirfd, file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	good = lstat(vfs->main, &main) == 0 && fchmod(fd, 0600 | (main.st_mode & 0044)) == 0;
	if (!good || companion != COMPANION_LOG) {
		close(fd);
		return good;
	}
	/* SQLite holds no POSIX lock on the log, so that closing this descriptor releases none. */
	if (vfs->log >= 0)
		close(vfs->log);
	vfs->log = fd;
	return true;
}

static int
place_open(sqlite3_vfs *base, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
	struct place_vfs *vfs = of(base);
	enum companion companion;

	file->pMethods = NULL;
	if (name != NULL && strcmp(name, vfs->main) != 0) {
		companion = find_companion(vfs, name);
		if (companion == COMPANION_COUNT ||
		    (!vfs->old_files && !make_companion(vfs, companion)))
			return SQLITE_CANTOPEN;
	}
	return vfs->real->xOpen(vfs->real, name, file, flags, out);
}

/* True if the name in the directory belongs to another file than the log that was created. */
static bool
is_foreign(const struct place_vfs *vfs, enum companion companion)
{
	struct stat made, now;

	return companion == COMPANION_LOG && vfs->log >= 0 && fstat(vfs->log, &made) == 0 &&
	       fstatat(vfs->dirfd, vfs->file[companion], &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	       (made.st_dev != now.st_dev || made.st_ino != now.st_ino);
}

static int
place_delete(sqlite3_vfs *base, const char *name, int sync)
{
	struct place_vfs *vfs = of(base);
	const enum companion companion = find_companion(vfs, name);

	(void)sync;
	if (companion == COMPANION_COUNT)
		return SQLITE_IOERR_DELETE;
	if (is_foreign(vfs, companion))
		return SQLITE_OK;
	return unlinkat(vfs->dirfd, vfs->file[companion], 0) == 0 || errno == ENOENT ?
		       SQLITE_OK :
		       SQLITE_IOERR_DELETE;
}

/*
 * Stores in *out whether the file exists. SQLite calls this to learn whether a journal must be
 * rolled back, or a log read: both are reported as missing unless old_files is set.
 */
static int
place_access(sqlite3_vfs *base, const char *name, int flags, int *out)
{
	struct place_vfs *vfs = of(base);

	*out = 0;
	if (strcmp(name, vfs->main) == 0 ||
	    (vfs->old_files && find_companion(vfs, name) != COMPANION_COUNT))
		return vfs->real->xAccess(vfs->real, name, flags, out);
	return SQLITE_OK;
}

static int
place_full_name(sqlite3_vfs *base, const char *name, int size, char *out)
{
	(void)base;
	if (strlen(name) >= (size_t)size)
		return SQLITE_CANTOPEN;
	memcpy(out, name, strlen(name) + 1);
	return SQLITE_OK;
}

static char *
join(int dirfd, const char *base, const char *ending)
{
	struct strbuf path;

	strbuf_init(&path);
	if (dirfd >= 0)
		strbuf_add_format(&path, "/proc/self/fd/%d/", dirfd);
	strbuf_add_format(&path, "%s%s", base, ending);
	return path.data;
}

struct place_vfs *
place_vfs_create(int dirfd, const char *base, bool old_files)
{
	static const char *const endings[COMPANION_COUNT] = {
		[COMPANION_JOURNAL] = RECORDING_JOURNAL,
		[COMPANION_LOG] = RECORDING_LOG,
	};
	sqlite3_vfs *real = sqlite3_vfs_find("unix");
	struct place_vfs *vfs;

	if (real == NULL)
		return NULL;
	vfs = xcalloc(1, sizeof(*vfs));
	vfs->base = *real;
	vfs->real = real;
	vfs->dirfd = dirfd;
	vfs->old_files = old_files;
	vfs->log = -1;
	vfs->main = join(dirfd, base, "");
	for (int i = 0; i < COMPANION_COUNT; i++) {
		vfs->path[i] = join(dirfd, base, endings[i]);
		vfs->file[i] = join(-1, base, endings[i]);
	}
	snprintf(vfs->name, sizeof(vfs->name), "wallsample-%p", (void *)vfs);
	vfs->base.pNext = NULL;
	vfs->base.zName = vfs->name;
	vfs->base.xOpen = place_open;
	vfs->base.xDelete = place_delete;
	vfs->base.xAccess = place_access;
	vfs->base.xFullPathname = place_full_name;
	if (sqlite3_vfs_register(&vfs->base, 0) == SQLITE_OK)
		return vfs;
	vfs->base.zName = NULL;
	place_vfs_free(vfs);
	return NULL;
}

void
place_vfs_free(struct place_vfs *vfs)
{
	if (vfs == NULL)
		return;
	if (vfs->base.zName != NULL)
		sqlite3_vfs_unregister(&vfs->base);
	if (vfs->log >= 0)
		close(vfs->log);
	for (int i = 0; i < COMPANION_COUNT; i++) {
		free(vfs->path[i]);
		free(vfs->file[i]);
	}
	free(vfs->main);
	free(vfs);
}

int
place_vfs_log(const struct place_vfs *vfs)
{
	return vfs->log;
}

void
place_vfs_remove_log(struct place_vfs *vfs)
{
	if (vfs->log >= 0)
		(void)place_delete(&vfs->base, vfs->path[COMPANION_LOG], 0);
}

int
place_vfs_open(struct place_vfs *vfs, int flags, sqlite3 **out)
{
	return sqlite3_open_v2(vfs->main, out, flags, vfs->name);
}
