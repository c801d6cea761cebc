/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.h - finds the addresses of variables and functions of a module by their names, the
 * addresses of source lines, and names that are similar to a name. The symbol tables and the DWARF
 * are those from which reports name the module's code.
 *
 * Nothing is cached: each call reads the module's files, which takes milliseconds, or a second for
 * the largest programs. Names may be readable ("ns::hits") or mangled.
 */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_LOOKUP_H
#define WALLSAMPLE_SYMBOL_SYMBOL_LOOKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/process/module.h"
#include "wallsample/symbol/symbol.h"

enum symbol_named_kind {
	SYMBOL_NAMED_DATA,
	SYMBOL_NAMED_THREAD_LOCAL, /* vaddr is an offset in the TLS block of each thread */
	SYMBOL_NAMED_CODE,
	/* A resolver, which runs once to choose the code of an indirect function (STT_GNU_IFUNC) */
	SYMBOL_NAMED_RESOLVER,
};

/* Size in bytes of the array for the base name of a source file, with its terminating zero. */
#define SYMBOL_NAMED_FILE_MOST 64

struct symbol_named {
	enum symbol_named_kind kind;
	/* Address in the image; size in bytes, 0 when not known. */
	uint64_t vaddr, size;
	/* Base name of the source file of a local symbol (the end of a base name that is too long);
	 * "" for a global symbol, and when the file is not known. */
	char file[SYMBOL_NAMED_FILE_MOST];
};

/*
 * Finds the symbols of this name in the module; of several symbols of one kind at one address, only
 * the first. If more than `most` are found, keeps those that come first in the symbol tables.
 * Stores the symbols in `out`, in ascending order of address, and returns their number. If no
 * symbol has the name itself, symbols with a suffix of the compiler match ("hits.0",
 * "parse.isra.0"), but not parts of functions ("parse.cold"). Unless `file` is NULL, only local
 * symbols of the source file with this base name match.
 */
size_t symbol_lookup(struct symbols *symbols, const struct module *module, const char *name,
		     const char *file, struct symbol_named *out, size_t most);

/*
 * Finds by DWARF the start addresses of inlined copies of the function `name`: the lowest `most` of
 * them, ascending, each once. Returns their number. Ends after 3 s of CPU time with the addresses
 * found so far.
 */
size_t symbol_lookup_inlined(struct symbols *symbols, const struct module *module, const char *name,
			     uint64_t *vaddr, size_t most);

/* Largest number of addresses of a source line that are stored: the lowest ones. */
#define SYMBOL_LINE_MOST 64

struct symbol_line {
	/* Addresses at which statements of the line begin, ascending, each once. */
	uint64_t vaddr[SYMBOL_LINE_MOST];
	size_t count;     /* number of addresses */
	bool file_known;  /* a searched module has code of the source file */
	bool lines_known; /* a searched module has DWARF with lines */
	/* Nearest lines of the source file before and after the wanted line that have code; 0:
	 * none. */
	uint32_t before, after;
};

/*
 * Searches one module for the code of a line and adds it to *out, which must be zeroed before the
 * first module. The caller stops at the first module in which addresses are found: a further call
 * may replace them. `file` is the end of the path of the source file: "server.c", "net/server.c".
 * Ends after 10 s of CPU time with the code found so far.
 */
void symbol_lookup_line(struct symbols *symbols, const struct module *module, const char *file,
			uint32_t line, struct symbol_line *out);

/* Largest number of similar names that are kept: the most similar ones. */
#define SYMBOL_SIMILAR_MOST 4

struct symbol_similar {
	struct symbol_similar_name {
		char *name; /* readable; owned */
		/* Measure of the difference from the wanted name, smallest for the most similar
		 * name. */
		unsigned distance;
	} best[SYMBOL_SIMILAR_MOST];
	size_t count;
};

/*
 * Adds names of one module that are similar to `name` to *similar, which must be zeroed before the
 * first module; symbol_similar_release frees the names. Compares names of functions if `code`, else
 * of variables, except for thread-local ones. Names of more than 200 bytes are ignored. Ends after
 * 1 s of CPU time with the names found so far.
 */
void symbol_lookup_similar(struct symbols *symbols, const struct module *module, const char *name,
			   bool code, struct symbol_similar *similar);
void symbol_similar_release(struct symbol_similar *similar);

#endif
