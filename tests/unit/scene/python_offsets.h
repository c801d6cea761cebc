/* SPDX-License-Identifier: MIT */
/*
 * python_offsets.h - what five CPythons say of themselves: the words behind the cookie, which
 * _PyRuntime begins with.
 */
#ifndef TEST_PYTHON_OFFSETS_H
#define TEST_PYTHON_OFFSETS_H

#include <stddef.h>
#include <stdint.h>

#define PYTHON_SAYS_WORDS 112

struct python_says {
	const char *version;
	size_t count;
	uint64_t word[PYTHON_SAYS_WORDS];
};

#define PYTHON_SAYS_COUNT 5
extern const struct python_says python_says[PYTHON_SAYS_COUNT];

/* As it is in memory, cookie and all; returns the size. */
size_t python_says_bytes(const struct python_says *says, uint8_t to[1024]);

#endif
