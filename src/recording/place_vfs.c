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

struct place_vfs {
	sqlite3_vfs base; /* first member: SQLite passes a pointer to it */
	sqlite3_vfs *real;
	int dirfd;
	bool old_journal;
	/* Paths that SQLite uses: "/proc/self/fd/3/x.wsdb" and "/proc/self/fd/3/x.wsdb-journal". */
	char *main, *journal;
	char *journal_base;
	char name[48];
};

static struct place_vfs *
of(sqlite3_vfs *vfs)
{
	return (struct place_vfs *)vfs;
}

static bool
is_journal(const struct place_vfs *vfs, const char *name)
{
	return strcmp(name, vfs->journal) == 0;
}

/*
 * Creates the journal as a new file, because an existing file of that name could be a link that
 * another user has made. The journal gets the permissions of the database, because a reader needs
 * both files after an unfinished commit.
 */
static bool
make_journal(const struct place_vfs *vfs)
{
	struct stat main;
	bool good;
	int fd;

	if (unlinkat(vfs->dirfd, vfs->journal_base, 0) != 0 && errno != ENOENT)
		return false;
	fd = openat(vfs->dirfd, vfs->journal_base,
		    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return false;
	good = lstat(vfs->main, &main) == 0 && fchmod(fd, 0600 | (main.st_mode & 0044)) == 0;
	close(fd);
	return good;
}

static int
place_open(sqlite3_vfs *base, sqlite3_filename name, sqlite3_file *file, int flags, int *out)
{
	struct place_vfs *vfs = of(base);

	file->pMethods = NULL;
	if (name != NULL && strcmp(name, vfs->main) != 0 && !is_journal(vfs, name))
		return SQLITE_CANTOPEN;
	if (name != NULL && is_journal(vfs, name) && !vfs->old_journal && !make_journal(vfs))
		return SQLITE_CANTOPEN;
	return vfs->real->xOpen(vfs->real, name, file, flags, out);
}

static int
place_delete(sqlite3_vfs *base, const char *name, int sync)
{
	struct place_vfs *vfs = of(base);

	(void)sync;
	if (!is_journal(vfs, name))
		return SQLITE_IOERR_DELETE;
	return unlinkat(vfs->dirfd, vfs->journal_base, 0) == 0 || errno == ENOENT ?
		       SQLITE_OK :
		       SQLITE_IOERR_DELETE;
}

/*
 * Stores in *out whether the file exists. SQLite calls this for the journal, to learn whether a
 * commit must be rolled back: a journal is reported as missing unless old_journal is set.
 */
static int
place_access(sqlite3_vfs *base, const char *name, int flags, int *out)
{
	struct place_vfs *vfs = of(base);

	*out = 0;
	if (strcmp(name, vfs->main) == 0 || (is_journal(vfs, name) && vfs->old_journal))
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
place_vfs_create(int dirfd, const char *base, bool old_journal)
{
	sqlite3_vfs *real = sqlite3_vfs_find("unix");
	struct place_vfs *vfs;

	if (real == NULL)
		return NULL;
	vfs = xcalloc(1, sizeof(*vfs));
	vfs->base = *real;
	vfs->real = real;
	vfs->dirfd = dirfd;
	vfs->old_journal = old_journal;
	vfs->main = join(dirfd, base, "");
	vfs->journal = join(dirfd, base, "-journal");
	vfs->journal_base = join(-1, base, "-journal");
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
	free(vfs->main);
	free(vfs->journal);
	free(vfs->journal_base);
	free(vfs);
}

int
place_vfs_open(struct place_vfs *vfs, int flags, sqlite3 **out)
{
	return sqlite3_open_v2(vfs->main, out, flags, vfs->name);
}
