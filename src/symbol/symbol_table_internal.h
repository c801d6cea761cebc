/* SPDX-License-Identifier: MIT */
/*
 * symbol_table_internal.h - the functions of one module by address, or its variables, from the
 * symbol tables of its ELF files.
 *
 * Symbols overlap, nest, share addresses and lack sizes. Reading settles that once: what is kept
 * are ranges that do not overlap, each with one name.
 *
 * An address inside [value, value + size) of a symbol has its name; where several hold it, the
 * one that starts last; among those that start together the one that is global rather than weak
 * rather than local, then has fewer leading underscores, then is first by strcmp. A symbol
 * without a size (a label of an assembler file) names what no sized one does, up to the next
 * symbol or the end of its section.
 */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_TABLE_INTERNAL_H
#define WALLSAMPLE_SYMBOL_SYMBOL_TABLE_INTERNAL_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/symbol/symbol.h"

struct symbol_range {
	uint64_t start, end; /* [start, end), vaddr */
	const char *raw;     /* as in the file, version included; borrowed from its Elf */
	enum symbol_source source;
};

struct symbol_table {
	struct symbol_range *range; /* ascending */
	size_t count;
};

/* The files of a module; each may be NULL. They must outlive the table. */
struct symbol_files {
	Elf *own;   /* the image itself */
	Elf *debug; /* the separate file */
	Elf *mini;  /* the small table that .gnu_debugdata packs */
};

struct plt_stubs;

/* Variables, which all have a size, instead of functions. */
void symbol_table_init_data(struct symbol_table *table, const struct symbol_files *files);

/* Damage and absence give fewer ranges; `stubs` (borrowed like the files) may be NULL. */
void symbol_table_init(struct symbol_table *table, const struct symbol_files *files,
		       const struct plt_stubs *stubs);
void symbol_table_release(struct symbol_table *table);

/* The range that holds the address, or NULL. */
const struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

#endif
