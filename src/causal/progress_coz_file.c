/* SPDX-License-Identifier: MIT */
/*
 * progress_coz_file.c - finds out whether a program has progress points of coz.h, and finds the
 * library that has their counters.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "causal/progress_internal.h"
#include "wallsample/base/base.h"

#ifndef WALLSAMPLE_PKGLIBDIR
#error "WALLSAMPLE_PKGLIBDIR is where the library is installed"
#endif

/* Number of bytes of the file that are read at a time. */
#define PIECE ((size_t)64 << 10)
/* Only this number of bytes at the beginning of the file is searched for PROGRESS_COZ_FUNCTION. */
#define FILE_MOST ((uint64_t)2 << 30)

bool
progress_coz_is_in_file(int fd)
{
	const size_t length = strlen(PROGRESS_COZ_FUNCTION);
	char *piece = xmalloc(PIECE);
	bool found = false;
	struct stat stat;
	size_t got = PIECE;

	if (fd < 0 || fstat(fd, &stat) != 0 || !S_ISREG(stat.st_mode))
		got = 0;
	/* Pieces overlap, because the name may lie across the border of two pieces. */
	for (uint64_t at = 0; got == PIECE && at < FILE_MOST && !found; at += PIECE - length) {
		got = file_read_at(fd, at, piece, PIECE);
		found = memmem(piece, got, PROGRESS_COZ_FUNCTION, length) != NULL;
	}
	free(piece);
	return found;
}

static bool
is_in_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool found;

	if (fd < 0)
		return false;
	found = progress_coz_is_in_file(fd);
	close(fd);
	return found;
}

bool
progress_wants_preload(const char *executable)
{
	const char *at = secure_getenv("PATH");
	char path[PATH_MAX];

	if (strchr(executable, '/') != NULL)
		return is_in_path(executable);
	/* The first executable file in $PATH is the one that is run. */
	for (; at != NULL && *at != '\0'; at += strcspn(at, ":"), at += *at == ':') {
		const int length = (int)strcspn(at, ":");
		const int size = snprintf(path, sizeof(path), "%.*s/%s", length, at, executable);

		if (length > 0 && size > 0 && (size_t)size < sizeof(path) &&
		    access(path, X_OK) == 0)
			return is_in_path(path);
	}
	return false;
}

char *
progress_preload_path(void)
{
	static const char installed[] = WALLSAMPLE_PKGLIBDIR "/" PROGRESS_COZ_LIBRARY;
	char path[PATH_MAX];
	const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
	char *slash = length > 0 ? memrchr(path, '/', (size_t)length) : NULL;
	const size_t room = slash != NULL ? sizeof(path) - (size_t)(slash + 1 - path) : 0;

	if (room > sizeof(PROGRESS_COZ_LIBRARY)) {
		memcpy(slash + 1, PROGRESS_COZ_LIBRARY, sizeof(PROGRESS_COZ_LIBRARY));
		if (access(path, R_OK) == 0)
			return xstrdup(path);
	}
	return access(installed, R_OK) == 0 ? xstrdup(installed) : NULL;
}
