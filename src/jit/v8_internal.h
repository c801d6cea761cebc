/* SPDX-License-Identifier: MIT */
/*
 * v8_internal.h - where V8's interpreter lies: one of the pieces of code that its compiler tells
 * of.
 */
#ifndef WALLSAMPLE_JIT_V8_INTERNAL_H
#define WALLSAMPLE_JIT_V8_INTERNAL_H

#include "jit/jit_source_internal.h"

struct v8 {
	uint32_t plain, profiling; /* numbers of the names it has */
	struct address_range *range; /* ascending */
	size_t count, capacity;
};

/* `strings` are those of the books. */
void v8_init(struct v8 *v8, struct strings *strings);
void v8_release(struct v8 *v8);
/* Looks at the entries that the book has got since; *seen, from 0, is where to go on. */
void v8_look(struct v8 *v8, const struct jit_book *book, uint32_t *seen);
/* The number of the entry that names the bytecode in the epoch, or JIT_NONE. */
uint32_t v8_find(const struct jit_book *book, const struct jit_bytecode *bytecode, uint32_t epoch);

#endif
