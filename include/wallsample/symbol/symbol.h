/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - finds the names of a (module, address).
 *
 * Files are read at their first use, for the report, never while sampling. An address
 * has a chain of names: the functions inlined there, innermost first, and last the
 * function that contains it. Each name has a source; the best source that knows the
 * address is used.
 */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_H
#define WALLSAMPLE_SYMBOL_SYMBOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "wallsample/base/base.h"
#include "wallsample/dwarf/debug_file.h"
#include "wallsample/jit/jit.h"
#include "wallsample/process/module.h"

/* X(name, text): where a name came from, the best first. The vdso's are of its .dynsym. */
#define SYMBOL_SOURCES(X)                                                                          \
	X(PCLNTAB, ".gopclntab") /* pclntab.h */                                                   \
	X(DWARF, "DWARF")                                                                          \
	X(SYMTAB, ".symtab")                                                                       \
	X(MINIDEBUG, ".gnu_debugdata")                                                             \
	X(DYNSYM, ".dynsym")                                                                       \
	X(PLT, "PLT")                                                                              \
	X(JIT, "JIT")   /* perf-PID.map, jitdump */                                                \
	X(NONE, "none") /* an address stands for the name */

enum symbol_source {
#define X(name, text) SYMBOL_##name,
	SYMBOL_SOURCES(X)
#undef X
};

const char *symbol_source_text(enum symbol_source source);

struct symbol {
	const char *function; /* "main", "ns::f<int>", else "libfoo.so+0x1234"; never NULL */
	const char *module;   /* base name of the module */
	const char *file;     /* source file as the compiler was given it; NULL: not known */
	uint32_t line;        /* in it; 0: not known */
	enum symbol_source source;
	bool known;   /* source is not SYMBOL_NONE */
	bool inlined; /* into the next of the chain */
};

/* The longest chain of names that is reported. */
#define SYMBOL_CHAIN_MAX 64

struct symbol_place;

/* All members are borrowed until symbols_free. A zeroed configuration gives mangled names, no
 * inlined functions, and the defaults of struct debug_files_config. */
struct symbols_config {
	bool demangle;
	bool inlines; /* inlined functions are names of their own */
	struct debug_files_config files;
	/* Stored names, as of a recording; they precede all other sources. Fills `out` as
	 * symbols_find does and returns the number of names, 0 for none; NULL: no stored names. */
	size_t (*stored)(const void *context, const struct symbol_place *place, struct symbol *out,
			 size_t most);
	const void *stored_context;
	const struct jit *jit; /* names code made at run time; or NULL */
};

struct symbols;

/* `modules` and `config` are borrowed. */
struct symbols *symbols_create(const struct modules *modules, const struct symbols_config *config);
void symbols_free(struct symbols *symbols);

/* The configuration of symbols_create; borrowed. */
const struct symbols_config *symbols_settings(const struct symbols *symbols);

/* A code address, as a sample stores it; or the address of a variable, with a name such as
 * "table_lock", or "cache+0x40" inside of one. */
struct symbol_place {
	uint32_t module;
	bool data;
	uint32_t epoch; /* see jit.h; 0 outside anonymous memory and interpreters */
	uint64_t vaddr; /* in the image's own addresses; in a module without an image an offset in
			 * the file, or the plain address in anonymous memory */
	struct jit_bytecode bytecode; /* in code of an interpreter: the bytecode it executes,
				       * which gives the name; or zeroed */
};

/*
 * Fills `out` with at most `most` names (1 or more), innermost first, and returns their number, at
 * least 1; when there are more, the last is still the function that contains the address. Texts
 * are interned: equal texts have the same pointer, valid until symbols_free.
 *
 * Large files are read only once, in parts, when places are searched in the order of
 * symbol_place_compare.
 */
size_t symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
		    size_t most);

enum debuginfod_state symbols_debuginfod_state(const struct symbols *symbols);

/* Orders by module, then address; returns a value as for qsort(3). */
int symbol_place_compare(const struct symbol_place *a, const struct symbol_place *b);

/* Does the module have no symbols that could name code? */
bool symbols_module_is_bare(struct symbols *symbols, uint32_t module);

#endif
