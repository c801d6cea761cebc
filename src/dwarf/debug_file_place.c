/* SPDX-License-Identifier: MIT */
/*
 * debug_file_place.c - opens regular files below a directory, and nothing else.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dwarf/debug_file_internal.h"

/* Looks at what an O_PATH descriptor names before it is opened. Closes `named`. */
static int
open_regular(int named)
{
	struct stat st;

	if (named >= 0 && fstat(named, &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0) {
		close(named);
		errno = ENODATA;
		return -1;
	}
	return file_open_named(named);
}

/* One step down, following no link. Closes `dir`. */
static int
step_down(int dir, const char *step, size_t length, bool last)
{
	const int flags = O_PATH | O_NOFOLLOW | O_CLOEXEC | (last ? 0 : O_DIRECTORY);
	char name[NAME_MAX + 1];
	int fd = -1, error = ENAMETOOLONG;

	if (length < sizeof(name)) {
		memcpy(name, step, length);
		name[length] = '\0';
		fd = strcmp(name, "..") == 0 ? -1 : openat(dir, name, flags);
		error = strcmp(name, "..") == 0 ? EINVAL : errno;
	}
	close(dir);
	errno = error;
	return fd;
}

static int
walk_down(int top, const char *below)
{
	int fd = fcntl(top, F_DUPFD_CLOEXEC, 0);

	while (fd >= 0 && below[strspn(below, "/")] != '\0') {
		const char *step = below + strspn(below, "/");
		const size_t length = strcspn(step, "/");

		below = step + length;
		if (length == 1 && step[0] == '.')
			continue;
		fd = step_down(fd, step, length, below[strspn(below, "/")] == '\0');
	}
	return fd;
}

static bool
has_dots(const char *path)
{
	while (*path != '\0') {
		const size_t length = strcspn(path, "/");

		if (length == 2 && path[0] == '.' && path[1] == '.')
			return true;
		path += length + (path[length] == '/');
	}
	return false;
}

char *
debug_path_plain(const char *path)
{
	struct strbuf plain;

	strbuf_init(&plain);
	strbuf_add(&plain, "", 0);
	while (*path != '\0') {
		const size_t length = strcspn(path, "/");
		const char *slash = plain.data != NULL ? strrchr(plain.data, '/') : NULL;

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			if (plain.length == 0) {
				strbuf_release(&plain);
				return NULL;
			}
			plain.length = slash != NULL ? (size_t)(slash - plain.data) : 0;
			plain.data[plain.length] = '\0';
		} else if (length > 0 && !(length == 1 && path[0] == '.')) {
			if (plain.length > 0)
				strbuf_add(&plain, "/", 1);
			strbuf_add(&plain, path, length);
		}
		path += length + (path[length] == '/');
	}
	return plain.data != NULL ? plain.data : xstrdup("");
}

static int
open_within(const struct debug_place *place, const char *below)
{
	struct strbuf path;
	int fd;

	strbuf_init(&path);
	strbuf_add_text(&path, place->path);
	strbuf_add_text(&path, "/");
	strbuf_add_text(&path, below);
	fd = open(path.data, O_PATH | O_CLOEXEC);
	strbuf_release(&path);
	return fd;
}

int
debug_place_open(const struct debug_place *place, const char *below)
{
	if (has_dots(below) || strlen(below) >= PATH_MAX) {
		errno = EINVAL;
		return -1;
	}
	return open_regular(place->trusted ? open_within(place, below) :
					     walk_down(place->top, below));
}
