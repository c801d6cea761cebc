/* SPDX-License-Identifier: MIT */
/* file.c - reads small files of /proc as text. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "wallsample/base.h"

/* Most files of /proc fit; what does not grows by doubling. */
#define FIRST_READ 4096

/* Reads until end of file or `limit`; -1 with errno set. */
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
