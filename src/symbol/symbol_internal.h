/* SPDX-License-Identifier: MIT */
/*
 * symbol_internal.h - two of the sources of names: symbol tables, and the function table of
 * pclntab.h.
 */
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

/* A symbol that is defined in a section of its file. Its names are borrowed from the file. */
struct symbol_entry {
	GElf_Sym sym;
	GElf_Shdr section; /* header of the section that contains the symbol */
	/* Contains the name of the symbol, at sym.st_name; see elf_text_at. */
	const Elf_Data *names;
	/* Source file of a local symbol: name of the preceding STT_FILE symbol, or NULL. */
	const char *file;
	enum symbol_source source;
};

/* Calls `each` for every defined symbol in all symbol tables of a module's files, until `each`
 * returns false. Several tables may have the same symbol. */
void symbol_files_walk(const struct debug_file *files,
		       bool (*each)(void *context, const struct symbol_entry *entry),
		       void *context);

/*
 * The symbols of a file may overlap, may contain each other, may have the same address or no size.
 * A table converts them to ranges that do not overlap, each with one name:
 *
 * The name of an address is that of a symbol whose bytes [value, value + size) contain the address.
 * If there are several, the symbol that starts last is taken; of several that start at one address,
 * a function or variable before a label, then the name with fewer leading underscores, then global
 * before weak before local, then the first name in byte order. A symbol without a size (a label of
 * an assembler file) gives the name of addresses that are in no symbol with a size, up to the next
 * symbol or the end of the section.
 */

struct symbol_range {
	uint64_t start, end; /* [start, end), vaddr */
	/* Name with its symbol version, borrowed from the file; name of a stub: from the stubs. */
	const char *raw;
	enum symbol_source source;
	bool label; /* the symbol has no size: the range ends at the next symbol */
	bool cut;   /* symbol_table_find_code() has shortened the range of the label */
};

struct symbol_table {
	struct symbol_range *range; /* ascending */
	size_t count;
};

struct plt_stubs;

/*
 * Makes a table of variables if `data`, else of functions and `stubs` (which may be NULL). Symbol
 * tables that are damaged or missing give no ranges. Files and stubs are borrowed until
 * symbol_table_release.
 */
void symbol_table_init(struct symbol_table *table, const struct debug_file *files,
		       const struct plt_stubs *stubs, bool data);
void symbol_table_release(struct symbol_table *table);

/* Returns the range that contains the address, or NULL. */
const struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

/*
 * Like symbol_table_find, for the code of an image, which may be NULL. The range of a symbol
 * without a size reaches to the next symbol. Other functions may begin there, whose symbols were
 * removed (musl's hidden functions behind memset): the range is taken to end where unwind tables
 * or a direct call show that another function begins, or this one ends.
 */
const struct symbol_range *symbol_table_find_code(struct symbol_table *table,
						  const struct image *image, uint64_t vaddr);

/* --- pclntab (pclntab_names.c) -----------------------------------------------------------------
 *
 * A function table (pclntab.h) is searched before DWARF. Both have the same names, so stripped and
 * unstripped programs get the same names, and DWARF need not be read. If `table` is NULL, these
 * functions find nothing. Names and paths are interned in `texts`, from which they are borrowed.
 */

/* Stores places as dwarf_lines_find does (dwarf_lines.h) and returns their number. Returns 0 also
 * when the table has the function but not the line, as for functions of other compilers. */
size_t pclntab_names_find(const struct pclntab *table, struct strings *texts, uint64_t vaddr,
			  struct dwarf_place *out, size_t most);

/* Returns the name of the function that contains the address; NULL when the table has no function
 * there. */
const char *pclntab_names_function(const struct pclntab *table, struct strings *texts,
				   uint64_t vaddr);

#endif
