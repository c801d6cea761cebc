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

#include "symbol/plt_internal.h"
#include "wallsample/base/table.h"
#include "wallsample/dwarf/debug_file.h"
#include "wallsample/dwarf/dwarf_lines.h"
#include "wallsample/elf/pclntab.h"
#include "wallsample/symbol/symbol.h"

/* --- the symbols of a module's files (symbol_walk.c) ------------------------------------------ */

/* A file with symbol tables. */
struct symbol_file {
	Elf *elf; /* borrowed; NULL: none */
	int fd;   /* its descriptor, borrowed; -1: the file is in memory */
};

struct symbol_files {
	struct symbol_file separate, own, mini; /* elf, own and mini of struct debug_file */
};

/* Returns the files of the module, which must stay open as long as the result is used. */
struct symbol_files symbol_files_of(const struct module *module, const struct debug_file *file);

struct symbol_names;

/* A symbol that is defined in a section of its file. */
struct symbol_entry {
	GElf_Sym sym;
	GElf_Shdr section; /* header of the section that contains the symbol */
	/* Source file of a local symbol: name of the preceding STT_FILE symbol, or NULL. */
	const char *file;
	enum symbol_source source;
	struct symbol_names *names; /* for symbol_entry_name() */
};

/* Calls `each` for every defined symbol in all symbol tables of the files, until `each` returns
 * false. The entry is valid during the call. Several tables may have the same symbol. Uses bounded
 * memory: 32 MiB for names. */
void symbol_files_walk(const struct symbol_files *files,
		       bool (*each)(void *context, const struct symbol_entry *entry),
		       void *context);

/* Reads the name of the symbol, which is valid until the next call, and until `each` returns.
 * Returns NULL when it is empty, or has `most` bytes or more. */
const char *symbol_entry_name(const struct symbol_entry *entry, size_t most);

/* --- ranges of functions or variables (symbol_table.c) ---------------------------------------- */

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
	/* Name with its symbol version, borrowed from the table. */
	const char *raw;
	enum symbol_source source;
	bool label; /* the symbol has no size: the range ends at the next symbol */
	bool cut;   /* symbol_table_find_code() has shortened the range of the label */
};

struct symbol_table {
	struct symbol_range *range; /* ascending */
	size_t count;
	struct symbol_texts *texts; /* the names */
	/* The ranges are those of addresses in [low, high): all, or a part of a large table. */
	uint64_t low, high;
	unsigned part_shift; /* binary logarithm of the size of a part; 0: the table has all */
	bool too_large;      /* even this part has too many symbols: it has no ranges */
	size_t bytes;        /* memory of the table, in bytes */
};

/* Usual limit of a table's memory in bytes, including the memory for making the table: enough for
 * some 250,000 functions. */
#define SYMBOL_TABLE_MOST ((size_t)48 << 20)

/* What a table is made of. All is borrowed during each call. */
struct symbol_table_source {
	struct symbol_files files;
	const struct plt_stubs *stubs; /* are functions, too; NULL: none */
	bool data;                     /* true: a table of variables; false: of functions */
	size_t most;                   /* limit of the memory in bytes */
};

/*
 * Makes a table. Symbol tables that are damaged or missing give no ranges. If a table with all
 * symbols would need more memory than source->most, makes one with the ranges around `vaddr`: all
 * symbols are read again for each such part.
 */
void symbol_table_init(struct symbol_table *table, const struct symbol_table_source *source,
		       uint64_t vaddr);

/* Reads the part that contains `vaddr`, unless the table already has it. The source must be that
 * of symbol_table_init. */
void symbol_table_move(struct symbol_table *table, const struct symbol_table_source *source,
		       uint64_t vaddr);
void symbol_table_release(struct symbol_table *table);

/* Returns the range that contains the address, which the table must have (symbol_table_move), or
 * NULL. */
const struct symbol_range *symbol_table_find(const struct symbol_table *table, uint64_t vaddr);

/*
 * Like symbol_table_find, for the code of an image, which may be NULL. The range of a symbol
 * without a size reaches to the next symbol. Other functions may begin there, whose symbols were
 * removed (musl's hidden functions behind memset): the range is taken to end where unwind tables
 * or a direct call show that another function begins, or this one ends.
 */
const struct symbol_range *symbol_table_find_code(struct symbol_table *table,
						  const struct image *image, uint64_t vaddr);

/* --- the tables of a module (module_tables.c) ------------------------------------------------- */

/* The memory that the tables of all modules share. Initialise it with zeros. */
struct module_tables_budget {
	struct module_tables *first;
	size_t bytes;
};

struct module_tables {
	struct module_tables_budget *budget;
	struct module_tables *next; /* of the budget */
	const struct module *module;
	const struct debug_file *file;
	const struct log *log;
	struct symbol_table table[2]; /* [false]: functions and stubs; [true]: variables */
	bool is_read[2];              /* the table is valid */
	struct plt_stubs stubs;
	bool are_stubs_read; /* `stubs` is valid */
	bool is_said;        /* a message has named the module as too large */
};

/* Nothing is read yet. The arguments are borrowed until module_tables_release(). */
void module_tables_init(struct module_tables *tables, struct module_tables_budget *budget,
			const struct module *module, const struct debug_file *file,
			const struct log *log);
void module_tables_release(struct module_tables *tables);

/* Find the range of the function or stub, or of the variable, that contains the address; NULL when
 * there is none. The range and its name are valid until the next call for any module of the
 * budget. */
const struct symbol_range *module_tables_find_code(struct module_tables *tables, uint64_t vaddr);
const struct symbol_range *module_tables_find_data(struct module_tables *tables, uint64_t vaddr);

/* Returns true when the module has no functions. */
bool module_tables_are_bare(struct module_tables *tables);

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
