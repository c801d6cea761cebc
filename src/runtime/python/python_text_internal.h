/* SPDX-License-Identifier: MIT */
/*
 * python_text_internal.h - str and bytes objects of CPython, read from the target's memory.
 *
 * The memory may be anything: what is not a str or bytes object in every member that we
 * look at is refused, and nothing that a length says is read beyond the caller's limit.
 */
#ifndef WALLSAMPLE_RUNTIME_PYTHON_PYTHON_TEXT_INTERNAL_H
#define WALLSAMPLE_RUNTIME_PYTHON_PYTHON_TEXT_INTERNAL_H

#include "runtime/python/python_layout_internal.h"
#include "wallsample/base/base.h"
#include "wallsample/tracer/memory.h"

/* Characters of one text that are read at all, whatever the caller allows. */
#define PYTHON_TEXT_MOST 65536

/*
 * Appends the str object at `address` as UTF-8; what UTF-8 does not have is escaped as Python does
 * it: surrogates (bytes of a file's name that did not fit its encoding) as \udcff, and what is no
 * character as \U00110000; a character NUL, which would end the text, as \x00. All else is as
 * it is, control characters too. Of a longer text the first `most` characters, and "…".
 * False, and `to` is as it was: it is no str, or cannot be read.
 */
bool python_text_read(const struct python_layout *layout, const struct memory *memory,
		      uint64_t address, size_t most, struct strbuf *to);

/*
 * The content of the bytes object at `address`, of at most `most` bytes, in fresh memory (not NULL
 * when it is empty) that the caller frees. NULL: it is longer, or none, or cannot be read.
 */
uint8_t *python_bytes_read(const struct python_layout *layout, const struct memory *memory,
			   uint64_t address, size_t most, size_t *size);

/* A pointer, and another unsigned number of 4 bytes: false when they cannot be read. */
bool python_read_u64(const struct memory *memory, uint64_t address, uint64_t *value);
bool python_read_u32(const struct memory *memory, uint64_t address, uint32_t *value);

#endif
