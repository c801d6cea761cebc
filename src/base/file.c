/* SPDX-License-Identifier: MIT */
/* file.c - reads small files as text, reads parts of files, opens files that a target chose. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/* Smallest number of bytes by which a full buffer grows. Most files of /proc are smaller. */
#define FIRST_READ 4096
/* Longest file with a number: longer than any number, and files that have more than one. */
#define NUMBER_LIMIT 4096

/*
 * Reads up to `limit` bytes into *text, which the caller frees even after an error. Returns the
 * number of bytes, or -1 with errno set.
 */
static ssize_t
read_all(int fd, size_t limit, char **text)
{
	size_t length = 0, capacity = 0;

	*text = NULL;
	while (length < limit) {
		size_t room;
		ssize_t got;

		if (capacity < length + 2)
			*text = xgrow(*text, &capacity, length + FIRST_READ, 1);
		room = capacity - length - 1;
		got = read(fd, *text + length, room < limit - length ? room : limit - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	*text = xgrow(*text, &capacity, length + 1, 1);
	(*text)[length] = '\0';
	return (ssize_t)length;
}

char *
file_read_text(int dirfd, const char *name, size_t limit, size_t *length)
{
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *text;
	ssize_t got;
	int saved;

	if (fd < 0)
		return NULL;
	got = read_all(fd, limit, &text);
	saved = errno;
	close(fd);
	if (got < 0) {
		free(text);
		errno = saved;
		return NULL;
	}
	if (length != NULL)
		*length = (size_t)got;
	return text;
}

bool
file_read_number(int dirfd, const char *name, uint64_t *value)
{
	char *text = file_read_text(dirfd, name, NUMBER_LIMIT, NULL);
	const char *at = text;
	const bool found = text != NULL && parse_u64(&at, 10, value);

	free(text);
	return found;
}

size_t
file_read_at(int fd, uint64_t offset, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		const ssize_t n = pread(fd, (uint8_t *)to + done, size - done,
					(off_t)(offset + done));

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	return done;
}

/*
 * Returns true if the kernel generates the contents of the file at each read, or if this is not
 * known. The type of the file system decides, not the file's size: files of /sys have 4096 bytes.
 */
static bool
file_is_generated(int fd)
{
	static const uint32_t magic[] = { BPF_FS_MAGIC,   CGROUP2_SUPER_MAGIC, CGROUP_SUPER_MAGIC,
					  DEBUGFS_MAGIC,  EFIVARFS_MAGIC,      PROC_SUPER_MAGIC,
					  PSTOREFS_MAGIC, SECURITYFS_MAGIC,    SELINUX_MAGIC,
					  SMACK_MAGIC,    SYSFS_MAGIC,         TRACEFS_MAGIC };
	struct statfs fs;

	if (fstatfs(fd, &fs) != 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(magic); i++)
		if ((uint32_t)fs.f_type == magic[i])
			return true;
	return false;
}

int
file_open_named(int named)
{
	char name[48];
	struct stat st;
	int fd = -1, saved;

	if (named < 0)
		return -1;
	if (fstat(named, &st) != 0) {
		saved = errno;
	} else if (!S_ISREG(st.st_mode) || file_is_generated(named)) {
		saved = S_ISLNK(st.st_mode) ? ELOOP : EINVAL;
	} else {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", named);
		fd = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
		saved = errno;
	}
	close(named);
	errno = saved;
	return fd;
}

/*
 * After EAGAIN, waits until the descriptor, which another process made non-blocking, is writable.
 * Then returns true; returns false at once for any other errno. Does not change errno.
 */
static bool
wait_for_room(int fd)
{
	struct pollfd wait = { .fd = fd, .events = POLLOUT };

	if (errno != EAGAIN)
		return false;
	(void)poll(&wait, 1, -1);
	errno = EAGAIN;
	return true;
}

bool
file_write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t done = write(fd, text, length);

		if (done < 0 && (errno == EINTR || wait_for_room(fd)))
			continue;
		if (done < 0)
			return false;
		text += done;
		length -= (size_t)done;
	}
	return true;
}
