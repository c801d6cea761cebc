/* SPDX-License-Identifier: MIT */
/*
 * symbol_search.h - searches an image's .dynsym and .symtab for a few symbols by name, in steps of
 * bounded cost.
 *
 * Few images have the symbols, and some have hundreds of megabytes of names. So the names are read
 * first, in order and once; the symbols are read only when a wanted name was found. The caller
 * limits the bytes that each step reads.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_SEARCH_H
#define WALLSAMPLE_ELF_SYMBOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

#define SYMBOL_SEARCH_WANTED 8
/* Largest number of positions in one table of names at which wanted names are found (also at the
 * ends of longer names), and largest number of found symbols; further ones are ignored. */
#define SYMBOL_SEARCH_NAMES 32
#define SYMBOL_SEARCH_FOUND 32
#define SYMBOL_SEARCH_NAME_MOST 64 /* bytes of a wanted name */

struct symbol_wanted {
	const char *name;
	/* Also find parts of the function: "name.cold", "name.part.0"; then the search never
	 * ends before both tables have been read. */
	bool parts;
	bool code; /* true for a function, false for a variable */
};

struct symbol_search_found {
	size_t wanted;        /* index of the wanted symbol */
	uint64_t vaddr, size; /* address, and size in bytes, 0 when not known */
};

struct symbol_search_table {
	uint64_t symbols, symbols_size; /* file offset and bytes of the symbols */
	uint64_t names, names_size;     /* file offset and bytes of the names */
};

struct symbol_search_name {
	uint32_t offset; /* offset in the table of names */
	uint32_t wanted; /* index of the wanted symbol */
};

struct symbol_search {
	const struct image *image;
	const struct symbol_wanted *wanted;
	size_t wanted_count;
	struct symbol_search_found found[SYMBOL_SEARCH_FOUND];
	size_t found_count;

	/* Private. */
	enum symbol_search_stage {
		SYMBOL_SEARCH_BEGIN,
		SYMBOL_SEARCH_IN_NAMES,
		SYMBOL_SEARCH_IN_SYMBOLS,
		SYMBOL_SEARCH_DONE,
	} stage;
	struct symbol_search_table table[2]; /* .dynsym, .symtab */
	size_t table_count, current;
	uint64_t at; /* bytes of names or symbols that the current stage has read */
	struct symbol_search_name name[SYMBOL_SEARCH_NAMES];
	size_t name_count;
};

/* `image` and `wanted` (1 to SYMBOL_SEARCH_WANTED elements) are borrowed during the search. */
void symbol_search_init(struct symbol_search *search, const struct image *image,
			const struct symbol_wanted *wanted, size_t count);

/*
 * Continues the search with at most about *budget bytes; the bytes read are subtracted from it.
 * True when the search is over: all symbols were found, or both tables have been read. A symbol
 * that is in both tables is found once.
 */
bool symbol_search_step(struct symbol_search *search, uint64_t *budget);

/* Returns the first symbol that was found for the wanted symbol with this index; NULL when none was
 * found. */
const struct symbol_search_found *symbol_search_first(const struct symbol_search *search,
						      size_t wanted);

#endif
