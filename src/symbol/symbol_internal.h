/* SPDX-License-Identifier: MIT */
/*
 * symbol_internal.h - the sources of names: symbol tables and pclntab.
 */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_INTERNAL_H
#define WALLSAMPLE_SYMBOL_SYMBOL_INTERNAL_H

#include <libelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/elf/image.h"
#include "wallsample/symbol/symbol.h"
#include "wallsample/symbol/symbol_lookup.h"

/* --- ranges of functions or variables (symbol_table.c) ----------------------------------------
 *
 * Symbols overlap, nest, share addresses and lack sizes. Reading resolves that once, to ranges
 * that do not overlap, each with one name.
 *
 * An address inside [value, value + size) of a symbol has its name; where several contain it, the
 * one that starts last; among those that start together the one that is global rather than weak
 * rather than local, then has fewer leading underscores, then is first by strcmp. A symbol
 * without a size (a label of an assembler file) names what no sized one does, up to the next
 * symbol or the end of its section.
 */

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
	Elf *mini;  /* .gnu_debugdata, unpacked */
};

struct plt_stubs;

/* Reads variables, which all have a size. Damage and absence give fewer ranges. */
void symbol_table_init_data(struct symbol_table *table, const struct symbol_files *files);

/* Reads functions. `stubs` (borrowed like the files) may be NULL. */
void symbol_table_init(struct symbol_table *table, const struct symbol_files *files,
		       const struct plt_stubs *stubs);
void symbol_table_release(struct symbol_table *table);

/* The range that holds the address, or NULL. */
const struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

/* --- all symbols of a module (symbol_walk.c) -------------------------------------------------- */

struct symbol_walked {
	const char *raw;  /* as in the file, with its version */
	const char *file; /* source file of a local one as the table has it, else NULL */
	enum symbol_named_kind kind;
	uint64_t vaddr, size;
};

/* Calls `each` for every symbol that is defined in the module, until it returns false. The same
 * symbol may be in several tables. */
void symbol_walk(struct symbols *symbols, const struct module *module,
		 bool (*each)(void *context, const struct symbol_walked *symbol), void *context);

/* --- pclntab (pclntab_names.c) -----------------------------------------------------------------
 *
 * It is used before DWARF, which has the same names where it exists: stripped programs have
 * the same names as others, and DWARF need not be read.
 */

struct pclntab_names;

/* NULL: the image has no such table. The image is borrowed. */
struct pclntab_names *pclntab_names_create(const struct image *image);
void pclntab_names_free(struct pclntab_names *names);

/*
 * As dwarf_lines_find. 0 also for code of which the table has only the name: C or assembler of
 * other compilers. `names` may be NULL.
 */
size_t pclntab_names_find(struct pclntab_names *names, uint64_t vaddr, struct dwarf_place *out,
			  size_t most);

/* The function's name, valid until the next call; NULL: not known. `names` may be NULL. */
const char *pclntab_names_function(struct pclntab_names *names, uint64_t vaddr);

#endif
