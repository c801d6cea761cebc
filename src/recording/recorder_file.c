/* SPDX-License-Identifier: MIT */
/* recorder_file.c - creates and locks the file of a recording, and detects its replacement. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/recorder_internal.h"
#include "wallsample/base/base.h"

/*
 * Number of names that are tried for the temporary file. Files that killed recorders have left may
 * have some of these names.
 */
#define TEMPORARY_TRIES 8
/*
 * Longest time in ms that the first transaction waits for other processes that read the file, which
 * has just got its name.
 */
#define LOCK_WAIT_MS 1000

static int
file_refuse(const struct recorder *recorder, const char *why, struct error *err)
{
	return error_set(err, ERROR_OUTPUT, "cannot write to %s: %s", recorder->path, why);
}

int
recorder_refuse(const struct recorder *recorder, struct error *err)
{
	const int code = recorder->db != NULL ? sqlite3_errcode(recorder->db) : SQLITE_NOMEM;
	int number = recorder->db != NULL ? sqlite3_system_errno(recorder->db) : 0;

	if (number == 0)
		number = recorder->error_number;
	if (code == SQLITE_FULL && number != EFBIG)
		return file_refuse(recorder, strerror(ENOSPC), err);
	if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN || code == SQLITE_FULL) && number != 0)
		return file_refuse(recorder, strerror(number), err);
	if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
		return file_refuse(recorder, "another program has opened it", err);
	return file_refuse(recorder, sqlite3_errstr(code), err);
}

/* Checks that the file to be replaced, if there is one, is a regular file without a writer. */
static int
check_old(const struct recorder *recorder, struct error *err)
{
	struct stat info;
	int fd, locked;

	if (fstatat(recorder->config.dirfd, recorder->base, &info, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : file_refuse(recorder, strerror(errno), err);
	if (!S_ISREG(info.st_mode))
		return file_refuse(recorder, "it is no regular file, and a recording must be one",
				   err);
	fd = openat(recorder->config.dirfd, recorder->base,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return 0; /* a file that cannot be read may be replaced */
	locked = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	close(fd);
	if (!locked)
		return 0;
	return file_refuse(recorder, "another wallsample is writing it; choose another name", err);
}

/*
 * Creates a file with a temporary name in the directory of the recording, so that the file can be
 * locked before it gets its name.
 */
static int
create_temporary(struct recorder *recorder, char *name, size_t size)
{
	for (int i = 0; i < TEMPORARY_TRIES; i++) {
		unsigned random = 0;

		(void)!getrandom(&random, sizeof(random), GRND_NONBLOCK);
		snprintf(name, size, ".wallsample-%d-%08x", (int)getpid(), random);
		recorder->fd = openat(recorder->config.dirfd, name,
				      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
				      recorder->config.is_private ? 0600 : 0644);
		if (recorder->fd >= 0 || errno != EEXIST)
			return recorder->fd;
	}
	return -1;
}

void
recorder_make_private(struct recorder *recorder)
{
	struct stat info;
	struct strbuf log;
	int fd;

	if (recorder->base == NULL || recorder->config.is_private)
		return;
	recorder->config.is_private = true;
	(void)fchmod(recorder->fd, 0600);
	/* A log that is created later gets the mode of the file (place_vfs.c). */
	strbuf_init(&log);
	strbuf_add_format(&log, "%s%s", recorder->base, RECORDING_LOG);
	fd = openat(recorder->config.dirfd, log.data,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	strbuf_release(&log);
	if (fd < 0)
		return;
	/* Another link may be the name of another file of this user. */
	if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_nlink == 1)
		(void)fchmod(fd, 0600);
	close(fd);
}

/* Files that a killed writer may have left beside a recording. */
static const char *const endings[] = { RECORDING_JOURNAL, RECORDING_LOG };

/* Renames a recording and what a killed writer may have left beside it. */
static int
move(const struct recorder *recorder, const char *from, const char *to)
{
	const int dirfd = recorder->config.dirfd;
	struct strbuf old, new;

	if (renameat(dirfd, from, dirfd, to) != 0)
		return -1;
	strbuf_init(&old);
	strbuf_init(&new);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		strbuf_clear(&old);
		strbuf_clear(&new);
		strbuf_add_format(&old, "%s%s", from, endings[i]);
		strbuf_add_format(&new, "%s%s", to, endings[i]);
		(void)renameat(dirfd, old.data, dirfd, new.data);
	}
	strbuf_release(&old);
	strbuf_release(&new);
	return 0;
}

/*
 * Renames the existing file, then gives its name to the new file. The old file is removed later,
 * when the recording has samples. Between the two calls of renameat no file has the name.
 */
static int
replace(struct recorder *recorder, const char *name)
{
	const int dirfd = recorder->config.dirfd;
	struct strbuf aside;

	strbuf_init(&aside);
	strbuf_add_format(&aside, "%s-old", name);
	if (move(recorder, recorder->base, aside.data) == 0)
		recorder->aside = aside.data;
	else
		strbuf_release(&aside);
	if (renameat(dirfd, name, dirfd, recorder->base) == 0)
		return 0;
	recorder_file_restore(recorder);
	return -1;
}

static int
take_name(struct recorder *recorder, struct error *err)
{
	char name[64];
	int rc = 0;

	if (create_temporary(recorder, name, sizeof(name)) < 0)
		return file_refuse(recorder, strerror(errno), err);
	if (flock(recorder->fd, LOCK_EX | LOCK_NB) != 0 ||
	    fstat(recorder->fd, &recorder->made) != 0)
		rc = file_refuse(recorder, strerror(errno), err);
	if (rc == 0)
		rc = check_old(recorder, err);
	if (rc == 0 && replace(recorder, name) != 0)
		rc = file_refuse(recorder, strerror(errno), err);
	if (rc != 0)
		(void)unlinkat(recorder->config.dirfd, name, 0);
	return rc;
}

void
recorder_file_settle(struct recorder *recorder)
{
	struct strbuf beside;

	if (recorder->aside == NULL)
		return;
	(void)unlinkat(recorder->config.dirfd, recorder->aside, 0);
	strbuf_init(&beside);
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		strbuf_clear(&beside);
		strbuf_add_format(&beside, "%s%s", recorder->aside, endings[i]);
		(void)unlinkat(recorder->config.dirfd, beside.data, 0);
	}
	strbuf_release(&beside);
	free(recorder->aside);
	recorder->aside = NULL;
}

void
recorder_file_restore(struct recorder *recorder)
{
	const int dirfd = recorder->config.dirfd;
	struct stat other;

	if (recorder->aside == NULL)
		return;
	if (recorder_file_check(recorder, NULL) == 0)
		(void)unlinkat(dirfd, recorder->base, 0);
	/*
	 * If another program has created a file of this name, that file is kept, and the replaced
	 * file keeps its temporary name.
	 */
	if (fstatat(dirfd, recorder->base, &other, AT_SYMLINK_NOFOLLOW) != 0)
		(void)move(recorder, recorder->aside, recorder->base);
	free(recorder->aside);
	recorder->aside = NULL;
}

int
recorder_file_check(const struct recorder *recorder, struct error *err)
{
	struct stat now;

	if (recorder->base == NULL)
		return 0;
	if (fstatat(recorder->config.dirfd, recorder->base, &now, AT_SYMLINK_NOFOLLOW) == 0 &&
	    now.st_dev == recorder->made.st_dev && now.st_ino == recorder->made.st_ino)
		return 0;
	return file_refuse(recorder, "the file was removed or replaced while it was written", err);
}

static int
open_database(struct recorder *recorder)
{
	static const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX |
				 SQLITE_OPEN_PRIVATECACHE;

	if (recorder->base == NULL)
		return sqlite3_open_v2("", &recorder->db, flags | SQLITE_OPEN_CREATE, NULL);
	recorder->vfs = place_vfs_create(recorder->config.dirfd, recorder->base, false);
	if (recorder->vfs == NULL)
		return SQLITE_NOMEM;
	return place_vfs_open(recorder->vfs, flags, &recorder->db);
}

void
recorder_keep_result(struct recorder *recorder, int rc)
{
	recorder->rc = rc;
	/* After some errors sqlite3_system_errno() does not return the errno. */
	if (rc != SQLITE_OK)
		recorder->error_number = errno;
}

void
recorder_execute(struct recorder *recorder, const char *sql)
{
	if (recorder->rc == SQLITE_OK)
		recorder_keep_result(recorder, sqlite3_exec(recorder->db, sql, NULL, NULL, NULL));
}

/* Creates a table, and prepares the statement that adds a row to it. */
static void
make_table(struct recorder *recorder, enum recording_table table)
{
	struct strbuf sql;

	strbuf_init(&sql);
	schema_add_create(&sql, table, RECORDING_SCHEMA);
	recorder_execute(recorder, sql.data);
	strbuf_clear(&sql);
	schema_add_insert(&sql, table);
	if (recorder->rc == SQLITE_OK)
		recorder->rc = sqlite3_prepare_v3(recorder->db, sql.data, -1,
						  SQLITE_PREPARE_PERSISTENT, &recorder->put[table],
						  NULL);
	strbuf_release(&sql);
}

/*
 * Creates tables, views and prepared statements. SQLite never calls fsync, which would take 10 ms
 * (median) to 184 ms in each commit; recorder_log.c does. This transaction needs no journal: if it
 * is interrupted, no samples are lost, because none were written yet.
 */
static int
make_tables(struct recorder *recorder)
{
	char sql[200];

	snprintf(sql, sizeof(sql),
		 "PRAGMA locking_mode=EXCLUSIVE; PRAGMA temp_store=MEMORY; PRAGMA synchronous=OFF; "
		 "PRAGMA journal_mode=MEMORY; PRAGMA application_id=%d; BEGIN IMMEDIATE",
		 RECORDING_APPLICATION_ID);
	recorder_execute(recorder, sql);
	for (int i = 0; i < RECORDING_TABLE_COUNT; i++)
		make_table(recorder, (enum recording_table)i);
	for (int i = 0; recording_views[i] != NULL; i++)
		recorder_execute(recorder, recording_views[i]);
	snprintf(sql, sizeof(sql), "PRAGMA user_version=%d; COMMIT", RECORDING_SCHEMA);
	recorder_execute(recorder, sql);
	return recorder->rc;
}

int
recorder_file_create(struct recorder *recorder, struct error *err)
{
	int rc = recorder->base != NULL ? take_name(recorder, err) : 0;

	if (rc != 0)
		return rc;
	if (open_database(recorder) != SQLITE_OK)
		return recorder_refuse(recorder, err);
	sqlite3_busy_timeout(recorder->db, LOCK_WAIT_MS);
	/*
	 * Before anything is written, checks that the name still refers to the file that the
	 * recorder created: SQLite has opened the file by this name.
	 */
	rc = recorder_file_check(recorder, err);
	if (rc == 0 && make_tables(recorder) != SQLITE_OK)
		rc = recorder_refuse(recorder, err);
	return rc;
}
