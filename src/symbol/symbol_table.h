/* SPDX-License-Identifier: MIT */
/*
 * symbol_table.h - the functions of one ELF image by address.
 *
 * Symbols overlap, nest, share addresses and lack sizes. Reading settles that
 * once: what is kept are ranges that do not overlap, each with one name.
 *
 * An address inside [value, value + size) of a symbol has its name; where
 * several hold it, the one that starts last; among those that start together the one
 * that is global rather than weak rather than local, then has fewer leading
 * underscores, then is first by strcmp. A symbol without a size (a label of an
 * assembler file) names what no sized one does, up to the next symbol or the
 * end of its section.
 */
#ifndef WALLSAMPLE_SYMBOL_TABLE_H
#define WALLSAMPLE_SYMBOL_TABLE_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/image.h"

#define SYMBOL_TEXT_NONE UINT32_MAX

struct symbol_range {
	uint64_t start, end; /* [start, end), vaddr */
	const char *raw;     /* as in the file, version included; owned by the table */
	uint32_t text;       /* for the user of the table; SYMBOL_TEXT_NONE at first */
};

struct symbol_table {
	Elf *elf; /* its memory holds the names; NULL if there are none */
	struct symbol_range *range; /* ascending */
	size_t count;
};

/* Reads the symbols of `image`; damage and absence give an empty table. */
void symbol_table_init(struct symbol_table *table, const struct image *image);
void symbol_table_release(struct symbol_table *table);

/* The range that holds the address, or NULL. */
struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

#endif
