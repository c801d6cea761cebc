/* SPDX-License-Identifier: MIT */
/*
 * symbol_lookup.h - from names to addresses: variables, functions and lines of a module, in all
 * the symbol tables and the DWARF that name its code in reports.
 *
 * Nothing is kept: each question reads the module's files, which takes milliseconds, for the
 * largest programs a second. Names are as people write them, or as they stand in the file.
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
	SYMBOL_NAMED_THREAD_LOCAL, /* vaddr is an offset in each thread's block */
	SYMBOL_NAMED_CODE,
	SYMBOL_NAMED_RESOLVER,     /* of an indirect function: runs once, is not what it names */
};

#define SYMBOL_NAMED_FILE_MOST 64

struct symbol_named {
	enum symbol_named_kind kind;
	uint64_t vaddr, size; /* size 0: not known */
	char file[SYMBOL_NAMED_FILE_MOST]; /* base name of the source file of a local one, its end
					    * if it is long; "": not known, or a global one */
};

/*
 * What has this name in the module: at most `most` of them, in ascending order, each address once;
 * returns how many. A name is that of the symbol, mangled or readable ("ns::hits"); if nothing has
 * it, one with what compilers put behind ("hits.0", "parse.isra.0"), but no parts of functions.
 * `file` (or NULL): only local symbols of the source file with this base name.
 */
size_t symbol_lookup(struct symbols *symbols, const struct module *module, const char *name,
		     const char *file, struct symbol_named *out, size_t most);

/*
 * The same of copies of a function that were inlined into others, by DWARF: where they begin,
 * ascending, each address once.
 */
size_t symbol_lookup_inlined(struct symbols *symbols, const struct module *module,
			     const char *name, uint64_t *vaddr, size_t most);

/* Code of a line. */
#define SYMBOL_LINE_MOST 64

struct symbol_line {
	uint64_t vaddr[SYMBOL_LINE_MOST]; /* beginnings of statements, ascending, each once */
	size_t count;
	bool file_known;        /* there is code of that file in the module */
	bool lines_known;       /* it has DWARF with lines at all */
	uint32_t before, after; /* the nearest lines of that file that have code; 0: none */
};

/* Adds the code of a line to *out, which is zeroed before the first module. `file` is the end of
 * its path: "server.c", "net/server.c". */
void symbol_lookup_line(struct symbols *symbols, const struct module *module, const char *file,
			uint32_t line, struct symbol_line *out);

/* Names that look like one that was not found, the most similar first. */
#define SYMBOL_SIMILAR_MOST 4

struct symbol_similar {
	struct symbol_similar_name {
		char *name; /* readable; owned */
		unsigned distance;
	} best[SYMBOL_SIMILAR_MOST];
	size_t count;
};

/* Adds those of one module. Zeroed before the first; symbol_similar_release frees the names. */
void symbol_lookup_similar(struct symbols *symbols, const struct module *module, const char *name,
			   bool code, struct symbol_similar *similar);
void symbol_similar_release(struct symbol_similar *similar);

#endif
