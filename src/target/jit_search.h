/* SPDX-License-Identifier: MIT */
/*
 * jit_search.h - looks for the variable __jit_debug_descriptor in an image's symbols, a piece
 * at a time.
 *
 * Nearly no image has it, and some have hundreds of megabytes of names: the names are read
 * first, in order and once, and the symbols only when the name is among them. Whoever
 * searches says how much may be read now and comes back for the rest.
 */
#ifndef WALLSAMPLE_TARGET_JIT_SEARCH_H
#define WALLSAMPLE_TARGET_JIT_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/image.h"

/* The same name is there twice only in damaged files. */
#define JIT_SEARCH_NAMES 4

struct jit_search_table {
	uint64_t symbols, symbols_size; /* in the file */
	uint64_t names, names_size;
};

struct jit_search {
	const struct image *image;
	enum jit_search_stage {
		JIT_SEARCH_BEGIN,
		JIT_SEARCH_IN_NAMES,
		JIT_SEARCH_IN_SYMBOLS,
		JIT_SEARCH_DONE,
	} stage;
	struct jit_search_table table[2]; /* .dynsym, .symtab */
	size_t table_count, current;
	uint64_t at;                      /* how far the current stage has come */
	uint32_t name[JIT_SEARCH_NAMES];  /* where the name is among the names */
	size_t name_count;
	bool found;
	uint64_t vaddr;                   /* of the variable, when found */
};

/* The image is borrowed. */
void jit_search_init(struct jit_search *search, const struct image *image);

/*
 * Goes on until *budget bytes were read, which are subtracted. True when the search is over.
 */
bool jit_search_step(struct jit_search *search, uint64_t *budget);

#endif
