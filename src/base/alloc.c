/* SPDX-License-Identifier: MIT */
/* alloc.c - allocates memory or ends the program: no caller handles a failure. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "wallsample/base/base.h"

/*
 * Allocates no memory for the message and runs no exit handlers: half-written output must not be
 * flushed. The kernel detaches the threads that are still seized.
 */
static _Noreturn void
die_out_of_memory(void)
{
	static const char text[] = "wallsample: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)ignored;
	_exit(2);
}

void *
xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		die_out_of_memory();
	return p;
}

void *
xcalloc(size_t count, size_t size)
{
	void *p = calloc(count > 0 ? count : 1, size > 0 ? size : 1);

	if (p == NULL)
		die_out_of_memory();
	return p;
}

void *
xrealloc(void *p, size_t size)
{
	p = realloc(p, size > 0 ? size : 1);
	if (p == NULL)
		die_out_of_memory();
	return p;
}

char *
xstrdup(const char *s)
{
	size_t size = strlen(s) + 1;

	return memcpy(xmalloc(size), s, size);
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
