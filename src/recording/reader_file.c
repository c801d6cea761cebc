/* SPDX-License-Identifier: MIT */
/* reader_file.c - checks a recording and its journal without SQLite, then opens the database. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording/reader_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/base/bytes.h"

/* Most bytes of one value. The longest is a command line, which may have 2 MiB. */
#define VALUE_MOST (16 << 20)
/*
 * Most steps of SQLite's virtual machine in a query, for each byte of the file; a million steps are
 * always permitted. Reading a table of the smallest rows takes a fraction of these steps.
 */
#define STEPS_PER_BYTE 8
/* Bound on the heap of SQLite, which a hostile schema or sorting could fill. */
#define HEAP_MOST (INT64_C(1) << 30)

/*
 * Header of a database file; AT_... are byte offsets. https://www.sqlite.org/fileformat.html,
 * section 1.3
 */
#define HEADER_SIZE 100
#define MAGIC "SQLite format 3"
#define AT_PAGE_SIZE 16
#define AT_WRITE_VERSION 18 /* file format write version; 1: rollback journal, 2: write-ahead log */
/* file format read version, 1 or 2 as above; SQLite obeys this byte when it reads */
#define AT_READ_VERSION 19
#define AT_PAGES 28
#define AT_USER_VERSION 60
#define AT_APPLICATION_ID 68

static int
check_header(const char *path, const uint8_t *header, unsigned *out, struct error *err)
{
	const uint32_t version = bytes_big(header + AT_USER_VERSION, 4);

	if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0 ||
	    bytes_big(header + AT_APPLICATION_ID, 4) != RECORDING_APPLICATION_ID ||
	    header[AT_WRITE_VERSION] != 1 || header[AT_READ_VERSION] != 1)
		return error_set(err, ERROR_FORMAT, "%s is not a recording of wallsample", path);
	if (version > RECORDING_SCHEMA)
		return error_set(err, ERROR_FORMAT,
				 "%s was made by a newer wallsample (its schema is %u, this one "
				 "knows %d): read it with that one",
				 path, version, RECORDING_SCHEMA);
	if (version > 0 && version < RECORDING_SCHEMA_OLDEST)
		return error_set(err, ERROR_FORMAT,
				 "%s was made by an older wallsample (its schema is %u, this one "
				 "reads %d to %d): read it with that one",
				 path, version, RECORDING_SCHEMA_OLDEST, RECORDING_SCHEMA);
	if (version == 0)
		return error_set(err, ERROR_FORMAT, "%s is a recording that was never begun", path);
	*out = version;
	return 0;
}

/*
 * Returns an error if the file is smaller than its header states. To be called only for a file
 * without a writer and without an unfinished commit.
 */
static int
check_size(const char *path, const uint8_t *header, uint64_t size, struct error *err)
{
	const uint64_t page = bytes_big(header + AT_PAGE_SIZE, 2);
	const uint64_t whole = bytes_big(header + AT_PAGES, 4) * (page == 1 ? 65536 : page);

	if (whole <= size)
		return 0;
	return error_set(err, ERROR_FORMAT, "%s is truncated: it has %llu of %llu bytes", path,
			 (unsigned long long)size, (unsigned long long)whole);
}

/*
 * Sets file->is_torn. A journal that begins with the magic bytes belongs to an unfinished commit. A
 * journal that cannot be read is an error, because without it half a commit would be read as a
 * whole one.
 */
static int
check_journal(const char *path, struct reader_file *file, struct error *err)
{
	static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	uint8_t begin[sizeof(magic)];
	struct strbuf name;
	int fd, rc = 0;

	strbuf_init(&name);
	strbuf_add_format(&name, "%s-journal", file->real);
	fd = open(name.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd < 0 && (errno == EACCES || errno == EPERM))
		rc = error_set(err, ERROR_SYSTEM,
			       "cannot read %s: its writer was killed and has left %s, without "
			       "which it is not whole: %s",
			       path, name.data, strerror(errno));
	file->is_torn = fd >= 0 && read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
			memcmp(begin, magic, sizeof(magic)) == 0;
	if (fd >= 0)
		close(fd);
	strbuf_release(&name);
	return rc;
}

int
reader_file_check(const char *path, struct reader_file *file, struct error *err)
{
	uint8_t header[HEADER_SIZE];
	struct stat info;
	ssize_t got = -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc;

	*file = (struct reader_file){ .real = NULL };
	if (fd < 0)
		return error_set(err, ERROR_SYSTEM, "cannot read %s: %s", path, strerror(errno));
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s is not a file, and so no recording", path);
	}
	file->size = (uint64_t)info.st_size;
	file->is_written = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	got = pread(fd, header, sizeof(header), 0);
	close(fd);
	/* The journal is in the directory of the file itself, not in that of a link to the file. */
	file->real = realpath(path, NULL);
	if (file->real == NULL)
		file->real = xstrdup(path);
	if (got == 0)
		return error_set(err, ERROR_FORMAT, "%s is empty: nothing was recorded", path);
	if (got < (ssize_t)sizeof(header))
		return error_set(err, ERROR_FORMAT, "%s is not a recording of wallsample", path);
	rc = check_header(path, header, &file->version, err);
	if (rc == 0 && !file->is_written)
		rc = check_journal(path, file, err);
	if (rc == 0 && !file->is_written && !file->is_torn)
		rc = check_size(path, header, file->size, err);
	return rc;
}

/* --- the database ---------------------------------------------------------------------------- */

/* Number of steps after which SQLite calls count_steps. */
#define STEPS 1000

static int
count_steps(void *context)
{
	struct recording *recording = context;

	recording->steps += STEPS;
	return recording->steps > STEPS * STEPS + STEPS_PER_BYTE * recording->info.size;
}

/*
 * Forbids SQLite to run code that the file contains. Bounds the steps of a query by the size of the
 * file, the memory of SQLite by HEAP_MOST, and a value by VALUE_MOST. To be called before the first
 * query.
 */
static void
limit_database(struct recording *recording)
{
	static const struct {
		int setting, value;
	} settings[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_ENABLE_VIEW, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0 },
	}, limits[] = {
		{ SQLITE_LIMIT_LENGTH, VALUE_MOST },
		{ SQLITE_LIMIT_SQL_LENGTH, 1 << 16 },
		{ SQLITE_LIMIT_COLUMN, 64 },
		{ SQLITE_LIMIT_EXPR_DEPTH, 50 },
		{ SQLITE_LIMIT_COMPOUND_SELECT, 4 },
		{ SQLITE_LIMIT_ATTACHED, 0 },
		{ SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
		{ SQLITE_LIMIT_WORKER_THREADS, 0 },
	};

	sqlite3 *db = recording->db;

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		(void)sqlite3_db_config(db, settings[i].setting, settings[i].value, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(limits); i++)
		(void)sqlite3_limit(db, limits[i].setting, limits[i].value);
	sqlite3_progress_handler(db, STEPS, count_steps, recording);
	(void)sqlite3_hard_heap_limit64(HEAP_MOST);
	(void)sqlite3_exec(db,
			   "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0; "
			   "PRAGMA temp_store=MEMORY",
			   NULL, NULL, NULL);
}

/* --- an unfinished commit ----------------------------------------------------------------- */

static bool
copy_range(int from, int to, off_t at, off_t end)
{
	char bytes[1 << 16];

	while (at < end) {
		const off_t left = end - at, most = (off_t)sizeof(bytes);
		const ssize_t got = pread(from, bytes, (size_t)(left < most ? left : most), at);
		ssize_t put;

		if (got <= 0)
			return got == 0; /* 0: the file became shorter after its size was read */
		put = pwrite(to, bytes, (size_t)got, at);
		if (put < 0)
			return false;
		at += put; /* a short write is continued from here */
	}
	return true;
}

/* Copies a file. Holes stay holes, so that a hostile sparse file cannot fill the disk. */
static bool
copy_all(int from, int to, off_t size)
{
	off_t at = 0, end;

	while ((at = lseek(from, at, SEEK_DATA)) >= 0) {
		end = lseek(from, at, SEEK_HOLE);
		if (end < 0 || !copy_range(from, to, at, end))
			return false;
		at = end;
	}
	return errno == ENXIO && ftruncate(to, size) == 0;
}

/*
 * Copies the file whose name is `path` with the ending appended to a new file `base` in the
 * directory. Returns false, with errno set, if that fails or the source is not a regular file.
 */
static bool
copy_file(const char *path, const char *ending, int dirfd, const char *base)
{
	struct strbuf name;
	struct stat info;
	bool good = false;
	int from, to, number;

	strbuf_init(&name);
	strbuf_add_format(&name, "%s%s", path, ending);
	from = open(name.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	to = openat(dirfd, base, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (from >= 0 && to >= 0 && fstat(from, &info) == 0) {
		errno = EINVAL;
		good = S_ISREG(info.st_mode) && copy_all(from, to, info.st_size);
	}
	number = errno;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	strbuf_release(&name);
	errno = number;
	return good;
}

/*
 * Opens the private copy, a file "x" in the directory, with its journal. SQLite rolls the
 * unfinished commit back at the first read.
 */
static int
open_copy(struct recording *recording, int dirfd)
{
	int rc;

	recording->vfs = place_vfs_create(dirfd, "x", true);
	if (recording->vfs == NULL)
		return SQLITE_NOMEM;
	rc = place_vfs_open(recording->vfs, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    &recording->db);
	if (rc != SQLITE_OK)
		return rc;
	limit_database(recording);
	return sqlite3_exec(recording->db,
			    "PRAGMA locking_mode=EXCLUSIVE; "
			    "SELECT 1 FROM sqlite_master LIMIT 1",
			    NULL, NULL, NULL);
}

static int
repair_in(struct recording *recording, int dirfd, const char *folder, struct error *err)
{
	int rc;

	if (dirfd < 0 || !copy_file(recording->real, "", dirfd, "x") ||
	    !copy_file(recording->real, "-journal", dirfd, "x-journal"))
		return error_set(err, ERROR_SYSTEM,
				 "%s was not finished, and a copy of it to be put in order cannot "
				 "be made in %s: %s; TMPDIR may name another folder",
				 recording->path, folder, strerror(errno));
	rc = open_copy(recording, dirfd);
	if (rc == SQLITE_OK)
		return 0;
	return error_set(err, ERROR_FORMAT,
			 "%s was not finished, and could not be put in order: %s", recording->path,
			 sqlite3_errstr(rc));
}

static int
repair_copy(struct recording *recording, struct error *err)
{
	const char *folder = secure_getenv("TMPDIR");
	struct strbuf name;
	int dirfd = -1, rc;

	folder = folder != NULL && folder[0] == '/' ? folder : "/var/tmp";
	strbuf_init(&name);
	strbuf_add_format(&name, "%s/wallsample-XXXXXX", folder);
	if (mkdtemp(name.data) != NULL)
		dirfd = open(name.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = repair_in(recording, dirfd, folder, err);
	if (dirfd >= 0) {
		(void)unlinkat(dirfd, "x", 0);
		(void)unlinkat(dirfd, "x-journal", 0);
		close(dirfd);
		(void)rmdir(name.data);
	}
	strbuf_release(&name);
	return rc;
}

/*
 * Returns a URI such as "file:///tmp/x%20y.wsdb?mode=ro"; the caller frees it. `immutable` promises
 * SQLite that no process writes the file.
 */
static char *
uri_of(const char *path, bool immutable)
{
	struct strbuf uri;

	strbuf_init(&uri);
	strbuf_add_text(&uri, path[0] == '/' ? "file://" : "file:./");
	/* A URI with a path that begins with two slashes would name a host. */
	for (; path[0] == '/' && path[1] == '/'; path++)
		;
	for (; *path != '\0'; path++) {
		if (isalnum((unsigned char)*path) || strchr("/._-", *path) != NULL)
			strbuf_add(&uri, path, 1);
		else
			strbuf_add_format(&uri, "%%%02x", (unsigned char)*path);
	}
	strbuf_add_text(&uri, immutable ? "?mode=ro&immutable=1" : "?mode=ro");
	return uri.data;
}

int
reader_file_open(struct recording *recording, const struct reader_file *file, struct error *err)
{
	char *uri;
	int rc;

	if (file->is_torn)
		return repair_copy(recording, err);
	uri = uri_of(recording->real, !file->is_written);
	rc = sqlite3_open_v2(uri, &recording->db,
			     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX |
				     SQLITE_OPEN_PRIVATECACHE,
			     NULL);
	free(uri);
	if (rc == SQLITE_OK) {
		limit_database(recording);
		if (file->is_written)
			rc = sqlite3_busy_timeout(recording->db, 5000);
	}
	return rc == SQLITE_OK ? 0 : reader_refuse(recording, err);
}
