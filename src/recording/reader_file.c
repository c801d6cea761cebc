/* SPDX-License-Identifier: MIT */
/* reader_file.c - checks a recording without SQLite, then opens the database. */
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
 * Largest size of a log in bytes. A recorder writes LOG_MOST (recorder_log.c) and one transaction,
 * of which the largest, the names of all frames, takes about as many bytes as the table of symbols.
 */
#define LOG_READ_MOST (INT64_C(1) << 30)

/*
 * Header of a database file; AT_... are byte offsets. https://www.sqlite.org/fileformat.html,
 * section 1.3
 */
#define HEADER_SIZE 100
#define MAGIC "SQLite format 3"
#define AT_PAGE_SIZE 16
#define AT_WRITE_VERSION 18 /* file format write version; 1: rollback journal, 2: write-ahead log */
#define AT_READ_VERSION 19  /* file format read version, the same */
#define AT_PAGES 28
#define AT_USER_VERSION 60
#define AT_APPLICATION_ID 68

static int
check_header(const char *path, const uint8_t *header, struct reader_file *file, struct error *err)
{
	const uint32_t version = bytes_big(header + AT_USER_VERSION, 4);
	const uint8_t format = header[AT_READ_VERSION];

	if (memcmp(header, MAGIC, sizeof(MAGIC)) != 0 ||
	    bytes_big(header + AT_APPLICATION_ID, 4) != RECORDING_APPLICATION_ID ||
	    header[AT_WRITE_VERSION] != format || format < 1 || format > 2)
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
	file->version = version;
	file->has_log = format == 2;
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
 * Opens the file whose name is that of the recording with the ending appended. Returns 0, with
 * *fd -1 if there is no such file. A file that cannot be read is an error, because without it half
 * of what was written would be read as the whole.
 */
static int
open_part(const char *path, const struct reader_file *file, const char *ending, int *fd,
	  struct error *err)
{
	struct strbuf name;
	int rc = 0;

	strbuf_init(&name);
	strbuf_add_format(&name, "%s%s", file->real, ending);
	*fd = open(name.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (*fd < 0 && (errno == EACCES || errno == EPERM))
		rc = error_set(err, ERROR_SYSTEM,
			       "cannot read %s: it is incomplete without %s, which cannot be "
			       "opened: %s",
			       path, name.data, strerror(errno));
	strbuf_release(&name);
	return rc;
}

/*
 * Sets file->in_parts for a file without a log. A journal that begins with the magic bytes belongs
 * to an unfinished commit.
 */
static int
check_journal(const char *path, struct reader_file *file, struct error *err)
{
	static const uint8_t magic[] = { 0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7 };
	uint8_t begin[sizeof(magic)];
	int fd, rc = open_part(path, file, RECORDING_JOURNAL, &fd, err);

	file->in_parts = fd >= 0 && read(fd, begin, sizeof(begin)) == (ssize_t)sizeof(begin) &&
			 memcmp(begin, magic, sizeof(magic)) == 0;
	if (fd >= 0)
		close(fd);
	return rc;
}

/*
 * Sets file->in_parts for a file with a log, and adds the size of the log to that of the file. The
 * log of a recorder that is ending may have been removed.
 */
static int
check_log(const char *path, struct reader_file *file, struct error *err)
{
	struct stat info = { .st_size = 0 };
	int fd, rc = open_part(path, file, RECORDING_LOG, &fd, err);
	const bool found = fd >= 0 && fstat(fd, &info) == 0;

	file->in_parts = file->is_written ||
			 (found && (info.st_size > 0 || !S_ISREG(info.st_mode)));
	file->size += (uint64_t)info.st_size;
	if (fd >= 0)
		close(fd);
	if (rc == 0 && info.st_size > LOG_READ_MOST)
		rc = error_set(err, ERROR_FORMAT, "%s cannot be read: its log %s%s is too large",
			       path, file->real, RECORDING_LOG);
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
	/* Journal and log are in the directory of the file itself, not in that of a link to it. */
	file->real = realpath(path, NULL);
	if (file->real == NULL)
		file->real = xstrdup(path);
	if (got == 0)
		return error_set(err, ERROR_FORMAT, "%s is empty: nothing was recorded", path);
	if (got < (ssize_t)sizeof(header))
		return error_set(err, ERROR_FORMAT, "%s is not a recording of wallsample", path);
	rc = check_header(path, header, file, err);
	if (rc == 0 && file->has_log)
		rc = check_log(path, file, err);
	else if (rc == 0 && !file->is_written)
		rc = check_journal(path, file, err);
	if (rc == 0 && !file->is_written && !file->in_parts)
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

/* --- a recording in parts ----------------------------------------------------------------- */

/*
 * Opens the private copy, a file "x" in the directory, with its journal or log. At the first read
 * SQLite rolls an unfinished commit back, or reads the log. The directory may be closed then.
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
	(void)sqlite3_db_config(recording->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* Before the first read: no memory of the log is shared with other processes. */
	rc = sqlite3_exec(recording->db, "PRAGMA locking_mode=EXCLUSIVE", NULL, NULL, NULL);
	limit_database(recording);
	if (rc != SQLITE_OK)
		return rc;
	return sqlite3_exec(recording->db, "SELECT 1 FROM sqlite_master LIMIT 1", NULL, NULL, NULL);
}

static int
open_in(struct recording *recording, const struct reader_file *file, int dirfd, const char *folder,
	struct error *err)
{
	const bool copied = dirfd >= 0 && reader_copy_make(recording->real, file, dirfd);
	int rc;

	if (!copied && dirfd >= 0 && errno == EBUSY)
		return error_set(err, ERROR_SYSTEM,
				 "cannot copy %s: its writer changed it during each attempt; try "
				 "again",
				 recording->path);
	if (!copied)
		return error_set(err, ERROR_SYSTEM,
				 "cannot copy %s to %s for reading: %s; set TMPDIR to another "
				 "folder",
				 recording->path, folder, strerror(errno));
	rc = open_copy(recording, dirfd);
	if (rc == SQLITE_OK)
		return 0;
	return error_set(err, ERROR_FORMAT, "%s is not complete, and SQLite cannot read a copy: %s",
			 recording->path, sqlite3_errstr(rc));
}

static int
open_private_copy(struct recording *recording, const struct reader_file *file, struct error *err)
{
	const char *folder = secure_getenv("TMPDIR");
	struct strbuf name;
	int dirfd = -1, rc;

	folder = folder != NULL && folder[0] == '/' ? folder : "/var/tmp";
	strbuf_init(&name);
	strbuf_add_format(&name, "%s/wallsample-XXXXXX", folder);
	if (mkdtemp(name.data) != NULL)
		dirfd = open(name.data, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	rc = open_in(recording, file, dirfd, folder, err);
	if (dirfd >= 0) {
		reader_copy_remove(dirfd);
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

	if (file->in_parts)
		return open_private_copy(recording, file, err);
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
