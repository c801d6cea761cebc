/* SPDX-License-Identifier: MIT */
/* alloc.c - allocates memory or ends the program: no caller handles a failure. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/*
 * Prints the message without allocating memory, and ends the program without running exit handlers,
 * which would flush half-written output. The kernel resumes the threads that are still stopped, and
 * detaches those that are still seized.
 */
static _Noreturn void
die_out_of_memory(void)
{
	char text[96] = "wallsample: out of memory\n";
	struct rlimit limit;
	ssize_t ignored;

	if (getrlimit(RLIMIT_DATA, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		snprintf(text, sizeof(text),
			 "wallsample: out of memory: its limit (RLIMIT_DATA) is %ju MiB\n",
			 (uintmax_t)limit.rlim_cur >> 20);
	ignored = write(STDERR_FILENO, text, strlen(text));
	(void)ignored;
	_exit(2);
}

static void *
check_allocated(void *p)
{
	if (p == NULL)
		die_out_of_memory();
	return p;
}

/* Sizes of 0 become 1: malloc(3) may return NULL for 0 bytes without a failure. */
void *
xmalloc(size_t size)
{
	return check_allocated(malloc(size > 0 ? size : 1));
}

void *
xcalloc(size_t count, size_t size)
{
	return check_allocated(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *
xrealloc(void *p, size_t size)
{
	return check_allocated(realloc(p, size > 0 ? size : 1));
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
	size_t length = strnlen(s, n);
	char *copy = xmalloc(length + 1);

	memcpy(copy, s, length);
	copy[length] = '\0';
	return copy;
}

void *
xgrow(void *array, size_t *capacity, size_t want, size_t size)
{
	size_t room = *capacity, bytes;

	if (want <= room)
		return array;
	if (__builtin_mul_overflow(room, 2, &room) || room < want)
		room = want;
	if (room < 16)
		room = 16;
	if (__builtin_mul_overflow(room, size, &bytes))
		die_out_of_memory();
	array = xrealloc(array, bytes);
	*capacity = room;
	return array;
}
