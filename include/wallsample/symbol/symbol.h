/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - from (module, address) to names.
 *
 * Everything is read when first asked for, which is when the report is made: never
 * while sampling. An address has a chain of names: the functions inlined there,
 * innermost first, and last the function whose code it is. Each name remembers where it
 * came from; the best source that knows the address speaks.
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
#define SYMBOL_SOURCES(X)                                                      \
	X(PCLNTAB, ".gopclntab") /* pclntab.h */                              \
	X(DWARF, "DWARF")                                                      \
	X(SYMTAB, ".symtab")                                                   \
	X(MINIDEBUG, ".gnu_debugdata")                                         \
	X(DYNSYM, ".dynsym")                                                   \
	X(PLT, "PLT")                                                          \
	X(JIT, "JIT")            /* perf-PID.map, jitdump */                   \
	X(NONE, "none")          /* an address stands for the name */

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
	bool known;           /* source is not SYMBOL_NONE */
	bool inlined;         /* into the next of the chain */
};

/* The longest chain of inlined functions that is told. */
#define SYMBOL_CHAIN_MAX 64

struct symbol_place;

/* All borrowed for the life of the symbols. A zeroed configuration: mangled names, no inlined
 * functions, and what a zeroed struct debug_files_config means. */
struct symbols_config {
	bool demangle;
	bool inlines;       /* inlined functions are names of their own */
	struct debug_files_config files;
	/* Stored names, as of a recording; they precede all other sources. Fills `out` as
	 * symbols_find does and returns the number of names, 0 for none; NULL: no stored names. */
	size_t (*stored)(const void *context, const struct symbol_place *place,
			 struct symbol *out, size_t most);
	const void *stored_context;
	const struct jit *jit; /* names code made at run time; or NULL */
};

struct symbols;

/* `modules` and `config` are borrowed. */
struct symbols *symbols_create(const struct modules *modules, const struct symbols_config *config);
void symbols_free(struct symbols *symbols);

/* What they were created with; borrowed. */
const struct symbols_config *symbols_settings(const struct symbols *symbols);

/* Code, as a sample remembers it; or a variable, whose name is "table_lock", or "cache+0x40" for
 * what lies in it. */
struct symbol_place {
	uint32_t module;
	bool data;
	uint32_t epoch; /* see jit.h; 0 outside anonymous memory and interpreters */
	uint64_t vaddr; /* in the image's own addresses; in a module without an image an offset in
			 * the file, or the plain address in anonymous memory */
	struct jit_bytecode bytecode; /* code of an interpreter: what it executes, whose name
				       * it has then; or zeroed */
};

/*
 * Fills `out` with at most `most` names (1 or more), innermost first, and returns how
 * many, at least 1; when there are more, the last is still the function whose code it is.
 * The texts are interned: the same text is the same pointer, valid until symbols_free.
 *
 * Large files are read once, part by part, when places are asked for in the order of
 * symbol_place_compare.
 */
size_t symbols_find(struct symbols *symbols, const struct symbol_place *place,
		    struct symbol *out, size_t most);

enum debuginfod_state symbols_debuginfod_state(const struct symbols *symbols);

/* By module, then address: what qsort wants. */
int symbol_place_compare(const struct symbol_place *a, const struct symbol_place *b);

/* Has the module no symbols at all that could name code? */
bool symbols_module_is_bare(struct symbols *symbols, uint32_t module);

#endif
