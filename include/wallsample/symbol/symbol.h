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
#include "wallsample/jit/jit.h"
#include "wallsample/process/module.h"

/* X(name, text): where a name came from, the best first. The vdso's are of its .dynsym. */
#define SYMBOL_SOURCES(X)                                                      \
	X(GO, ".gopclntab")      /* Go's own table */                          \
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

enum debuginfod_use {
	DEBUGINFOD_OFF,
	DEBUGINFOD_CACHE, /* what an earlier question has left on this machine */
	DEBUGINFOD_NET,   /* ask the servers of $DEBUGINFOD_URLS */
};

/* What became of the servers of $DEBUGINFOD_URLS. */
enum debuginfod_state {
	DEBUGINFOD_NOT_BUILT,  /* this wallsample cannot ask any */
	DEBUGINFOD_NOT_WANTED, /* the use is not DEBUGINFOD_NET */
	DEBUGINFOD_NO_ADDRESS, /* the variable is not set */
	DEBUGINFOD_UNUSABLE,   /* libdebuginfod cannot be loaded */
	DEBUGINFOD_GIVEN_UP,   /* one did not answer: none is asked any more */
	DEBUGINFOD_IN_USE,     /* they answer what they are asked, if anything */
};

struct symbol_place;

/* All borrowed for the life of the symbols. A zeroed one: mangled names, no
 * inlined functions, no debuginfod. */
struct symbols_config {
	bool demangle;
	bool inlines;                  /* inlined functions are names of their own */
	const char *const *debug_dirs; /* before /usr/lib/debug; ended by NULL; or NULL */
	const char *root;              /* the target's root directory ("/proc/123/root"), for what
					* lies beside its files; NULL: it is not looked at. It is
					* opened at once, and stays open when the target ends */
	const char *symfs;             /* where the target's files are, too: a directory, or NULL */
	enum debuginfod_use debuginfod;
	/* Names that are known already, as of a recording; they come before all others. Fills in
	 * `out` as symbols_find does, 0: none; NULL: nobody knows any. */
	size_t (*stored)(const void *context, const struct symbol_place *place,
			 struct symbol *out, size_t most);
	const void *stored_context;
	const struct jit *jit;         /* names code made at run time; or NULL */
	const struct log *log;         /* one warning for each file that cannot be used; or NULL */
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
