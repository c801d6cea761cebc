/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.h - finds the addresses of variables, functions and lines of a module by name, in
 * the symbol tables and the DWARF from which reports name the module's code.
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

#define SYMBOL_NAMED_FILE_MOST 64

struct symbol_named {
	enum symbol_named_kind kind;
	uint64_t vaddr, size; /* address, and size in bytes, 0 when not known */
	/* Base name of the source file of a local symbol, or the end of a long base name; "" for a
	 * global symbol and when the file is not known. */
	char file[SYMBOL_NAMED_FILE_MOST];
};

/*
 * Finds the symbols of this name in the module: at most `most`, in ascending order of address, each
 * address once. Returns their number. If no symbol has the name, symbols with a suffix of the
 * compiler ("hits.0", "parse.isra.0") match, but not parts of functions ("parse.cold"). Unless
 * `file` is NULL, only local symbols of the source file with this base name match.
 */
size_t symbol_lookup(struct symbols *symbols, const struct module *module, const char *name,
		     const char *file, struct symbol_named *out, size_t most);

/*
 * Finds by DWARF the start addresses of inlined copies of the function `name`: at most `most`,
 * ascending, each address once. Returns their number.
 */
size_t symbol_lookup_inlined(struct symbols *symbols, const struct module *module, const char *name,
			     uint64_t *vaddr, size_t most);

/* The code of a source line; largest number of its addresses that are stored. */
#define SYMBOL_LINE_MOST 64

struct symbol_line {
	uint64_t vaddr[SYMBOL_LINE_MOST]; /* first addresses of statements, ascending, each once */
	size_t count;                     /* number of addresses */
	bool file_known;                  /* the module has code of the source file */
	bool lines_known;                 /* the module has DWARF with lines */
	uint32_t before, after;           /* nearest lines with code before and after it; 0: none */
};

/* Adds the code of a line in one module to *out, which must be zeroed before the first module.
 * `file` is the end of the path of the source file: "server.c", "net/server.c". */
void symbol_lookup_line(struct symbols *symbols, const struct module *module, const char *file,
			uint32_t line, struct symbol_line *out);

/* Largest number of names that are kept as similar to a name that was not found. */
#define SYMBOL_SIMILAR_MOST 4

struct symbol_similar {
	struct symbol_similar_name {
		char *name;        /* readable; owned */
		unsigned distance; /* measure of difference; it grows with the difference */
	} best[SYMBOL_SIMILAR_MOST];
	size_t count;
};

/*
 * Adds names of one module that are similar to `name` to *similar, which must be zeroed before the
 * first module; symbol_similar_release frees the names. Compares names of functions if `code`, else
 * of variables.
 */
void symbol_lookup_similar(struct symbols *symbols, const struct module *module, const char *name,
			   bool code, struct symbol_similar *similar);
void symbol_similar_release(struct symbol_similar *similar);

#endif
