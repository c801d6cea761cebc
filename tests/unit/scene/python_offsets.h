/* SPDX-License-Identifier: MIT */
/*
 * python_offsets.h - the debug offsets of five CPythons: the words behind the cookie at the start
 * of _PyRuntime.
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

/* Stores the cookie and the debug offsets as they are in memory; returns their size in bytes. */
size_t python_says_bytes(const struct python_says *says, uint8_t to[1024]);

#endif
