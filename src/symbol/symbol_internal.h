/* SPDX-License-Identifier: MIT */
/* symbol_internal.h - two of the sources of names: symbol tables and pclntab. */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_INTERNAL_H
#define WALLSAMPLE_SYMBOL_SYMBOL_INTERNAL_H

#include <gelf.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/table.h"
#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/elf/pclntab.h"
#include "wallsample/symbol/symbol.h"

/* --- symbols and ranges of functions or variables (symbol_table.c) ---------------------------- */

/* A symbol that is defined in a section of its file. Texts are borrowed from the file. */
struct symbol_entry {
	GElf_Sym sym;
	GElf_Shdr section;     /* header of the section that contains the symbol */
	const Elf_Data *names; /* contains the name at sym.st_name, see elf_text_at */
	const char *file;      /* name of the last symbol of type STT_FILE; NULL before the first */
	enum symbol_source source;
};

/* Calls `each` for every defined symbol in all symbol tables of a module's files, until `each`
 * returns false. Several tables may have the same symbol. */
void symbol_files_walk(const struct debug_file *files,
		       bool (*each)(void *context, const struct symbol_entry *entry),
		       void *context);

/*
 * Symbols overlap, nest, share addresses and lack sizes. A table converts them to ranges that do
 * not overlap, each with one name.
 *
 * An address inside [value, value + size) of a symbol has the name of the symbol. If several
 * symbols contain the address, the symbol that starts last gives the name; of symbols that start at
 * one address, the best: a function or variable before a label, then fewer leading underscores,
 * then global before weak before local, then first by strcmp. A symbol without a size (a label of
 * an assembler file) gives the name of addresses that are in no sized symbol, up to the next symbol
 * or the end of the section.
 */

struct symbol_range {
	uint64_t start, end; /* [start, end), vaddr */
	const char *raw; /* name as in the file, with its symbol version; borrowed from the file */
	enum symbol_source source;
};

struct symbol_table {
	struct symbol_range *range; /* ascending */
	size_t count;
};

struct plt_stubs;

/*
 * Makes a table of variables if `data`, else of functions and `stubs` (which may be NULL). Damaged
 * and missing symbol tables give fewer ranges. Files and stubs are borrowed until
 * symbol_table_release.
 */
void symbol_table_init(struct symbol_table *table, const struct debug_file *files,
		       const struct plt_stubs *stubs, bool data);
void symbol_table_release(struct symbol_table *table);

/* Returns the range that contains the address, or NULL. */
const struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

/* --- pclntab (pclntab_names.c) -----------------------------------------------------------------
 *
 * This source is used before DWARF, which has the same names: stripped programs get the names that
 * other programs have, and DWARF need not be read. The table may be NULL. Texts are interned in
 * `texts`.
 */

/* Does what dwarf_lines_find does. Returns 0 also for code of other compilers (C, assembler), of
 * which the table has only the name. */
size_t pclntab_names_find(const struct pclntab *table, struct strings *texts, uint64_t vaddr,
			  struct dwarf_place *out, size_t most);

/* Returns the name of the function that contains the address; NULL when the table has no function
 * there. */
const char *pclntab_names_function(const struct pclntab *table, struct strings *texts,
				   uint64_t vaddr);

#endif
