/* SPDX-License-Identifier: MIT */
/*
 * symbol_search.h - searches an image's .dynsym and .symtab for a few symbols by name, in steps of
 * bounded cost.
 *
 * Few images have the wanted symbols, and some images have hundreds of megabytes of names. So the
 * names of a symbol table are read first, once and from beginning to end; the symbols are read only
 * when the names contain a wanted name. The caller limits the bytes that each step reads.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_SEARCH_H
#define WALLSAMPLE_ELF_SYMBOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

/* Largest number of wanted symbols; further elements of the array are not searched for. */
#define SYMBOL_SEARCH_WANTED 8
/* Largest number of occurrences of wanted names in the names of one symbol table, and largest
 * number of symbols found; further ones are ignored. If a longer name in the table ends in a wanted
 * name, this counts as an occurrence: a linker may store the wanted name only as the end of the
 * longer one. */
#define SYMBOL_SEARCH_NAMES 32
#define SYMBOL_SEARCH_FOUND 32
#define SYMBOL_SEARCH_NAME_MOST 64 /* largest length in bytes of a wanted name */

struct symbol_wanted {
	const char *name;
	/* Also find the parts that the compiler has split off the function: "name.cold",
	 * "name.part.0". The search then always reads both tables. */
	bool parts;
	bool code; /* true: find functions; false: find variables */
};

struct symbol_search_found {
	size_t wanted; /* index in symbol_search.wanted */
	/* Address in the image; size in bytes, 0 when not known. */
	uint64_t vaddr, size;
};

struct symbol_search_table {
	uint64_t symbols, symbols_size; /* file offset, and size in bytes, of the symbols */
	uint64_t names, names_size;     /* file offset, and size in bytes, of their names */
};

struct symbol_search_name {
	uint32_t offset; /* offset in the table of names */
	uint32_t wanted; /* index in symbol_search.wanted */
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
	/* Position of the next read in the names or the symbols of the current table, in bytes. */
	uint64_t at;
	struct symbol_search_name name[SYMBOL_SEARCH_NAMES];
	size_t name_count;
};

/* `image` and `wanted` (1 to SYMBOL_SEARCH_WANTED elements) are borrowed during the search. */
void symbol_search_init(struct symbol_search *search, const struct image *image,
			const struct symbol_wanted *wanted, size_t count);

/*
 * Continues the search, and subtracts the number of bytes read from *budget. Stops when *budget is
 * 0; the last read may exceed the budget by 64 KiB. Returns true when the search is over: all
 * symbols were found, or both tables have been read. A symbol that is in both tables is found once.
 */
bool symbol_search_step(struct symbol_search *search, uint64_t *budget);

/* Returns the first symbol that was found for search->wanted[wanted]; NULL when none was found. */
const struct symbol_search_found *symbol_search_first(const struct symbol_search *search,
						      size_t wanted);

#endif
