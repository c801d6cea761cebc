/* SPDX-License-Identifier: MIT */
/*
 * symbol_search.h - looks for a few symbols by name in an image's .dynsym and .symtab, a piece at
 * a time.
 *
 * Nearly no image has them, and some have hundreds of megabytes of names: the names are read
 * first, in order and once, and the symbols only when a wanted name is among them. Whoever
 * searches says how much may be read now and comes back for the rest.
 */
#ifndef WALLSAMPLE_ELF_SYMBOL_SEARCH_H
#define WALLSAMPLE_ELF_SYMBOL_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/elf/image.h"

#define SYMBOL_SEARCH_WANTED 8
/* Names and symbols that are kept: a name is twice in a table only when that is damaged. */
#define SYMBOL_SEARCH_NAMES 32
#define SYMBOL_SEARCH_FOUND 32
#define SYMBOL_SEARCH_NAME_MOST 64 /* bytes of a wanted name */

struct symbol_wanted {
	const char *name;
	bool parts; /* "name.cold", "name.part.0", too: it is never found once and for all */
	bool code;  /* a function, else a variable */
};

struct symbol_search_found {
	size_t wanted;         /* which of them */
	uint64_t vaddr, size;  /* size 0: not known */
};

struct symbol_search_table {
	uint64_t symbols, symbols_size; /* in the file */
	uint64_t names, names_size;
};

struct symbol_search_name {
	uint32_t offset;       /* among the names */
	uint32_t wanted;
};

struct symbol_search {
	const struct image *image;
	const struct symbol_wanted *wanted;
	size_t wanted_count;
	struct symbol_search_found found[SYMBOL_SEARCH_FOUND];
	size_t found_count;

	/* Its own. */
	enum symbol_search_stage {
		SYMBOL_SEARCH_BEGIN,
		SYMBOL_SEARCH_IN_NAMES,
		SYMBOL_SEARCH_IN_SYMBOLS,
		SYMBOL_SEARCH_DONE,
	} stage;
	struct symbol_search_table table[2]; /* .dynsym, .symtab */
	size_t table_count, current;
	uint64_t at;                         /* how far the current stage has come */
	struct symbol_search_name name[SYMBOL_SEARCH_NAMES];
	size_t name_count;
};

/* Image and wanted (1 to SYMBOL_SEARCH_WANTED) are borrowed. */
void symbol_search_init(struct symbol_search *search, const struct image *image,
			const struct symbol_wanted *wanted, size_t count);

/*
 * Goes on until *budget bytes were read, which are subtracted. True when the search is over: all
 * were found, or both tables have been read. A symbol that is in both tables is found once.
 */
bool symbol_search_step(struct symbol_search *search, uint64_t *budget);

/* The first that was found of the wanted one; NULL: none. */
const struct symbol_search_found *symbol_search_first(const struct symbol_search *search,
						      size_t wanted);

#endif
