/* SPDX-License-Identifier: MIT */
/* reader_copy.c - copies a recording that consists of several files. */
#include "recording/reader_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Number of times that the parts of a recording are copied if its writer changes them meanwhile. */
#define COPY_TRIES 8

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

/* What changes when a recorder copies its log into the database. */
struct parts_state {
	struct timespec changed; /* time of the last change of the database */
	/* salts at the beginning of the log, 0 without a log: they differ for each log.
	 * https://www.sqlite.org/fileformat.html, section 4.1 */
	uint64_t salts;
};

#define AT_SALTS 16

static struct parts_state
read_state(const char *path)
{
	struct parts_state state = { .salts = 0 };
	uint8_t salts[sizeof(state.salts)];
	struct strbuf log;
	struct stat info;
	int fd;

	if (stat(path, &info) == 0)
		state.changed = info.st_mtim;
	strbuf_init(&log);
	strbuf_add_format(&log, "%s%s", path, RECORDING_LOG);
	fd = open(log.data, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	if (fd >= 0 && pread(fd, salts, sizeof(salts), AT_SALTS) == (ssize_t)sizeof(salts))
		memcpy(&state.salts, salts, sizeof(salts));
	if (fd >= 0)
		close(fd);
	strbuf_release(&log);
	return state;
}

static bool
states_differ(const struct parts_state *a, const struct parts_state *b)
{
	return a->salts != b->salts || a->changed.tv_sec != b->changed.tv_sec ||
	       a->changed.tv_nsec != b->changed.tv_nsec;
}

void
reader_copy_remove(int dirfd)
{
	static const char *const names[] = { "x", "x" RECORDING_JOURNAL, "x" RECORDING_LOG };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)unlinkat(dirfd, names[i], 0);
}

/* Copies the database, then its journal or log. Returns false, with errno set, after an error. */
static bool
copy_parts(const char *path, const struct reader_file *file, int dirfd)
{
	if (!copy_file(path, "", dirfd, "x"))
		return false;
	if (!file->has_log)
		return copy_file(path, RECORDING_JOURNAL, dirfd, "x" RECORDING_JOURNAL);
	if (copy_file(path, RECORDING_LOG, dirfd, "x" RECORDING_LOG))
		return true;
	/* A recorder that is ending removes the log when the database has all of it. */
	return file->is_written && errno == ENOENT && unlinkat(dirfd, "x" RECORDING_LOG, 0) == 0;
}

/*
 * The log is copied last, so that it contains every change that the copy of the database may
 * contain only in part, unless the recorder began a new log during the copy: the states before and
 * after the copy then differ.
 */
bool
reader_copy_make(const char *path, const struct reader_file *file, int dirfd)
{
	for (int i = 0; i < COPY_TRIES; i++) {
		const struct parts_state before = read_state(path);
		struct parts_state after;

		reader_copy_remove(dirfd);
		if (!copy_parts(path, file, dirfd))
			return false;
		after = read_state(path);
		if (!file->is_written || !states_differ(&before, &after))
			return true;
	}
	errno = EBUSY;
	return false;
}
