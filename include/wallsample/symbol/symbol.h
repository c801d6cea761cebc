/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - finds the names of an address in a module.
 *
 * The files of a module are read when an address in it is first named. This can take seconds, so
 * threads of the target must not be stopped during a call of symbols_find(). Files are foreign and
 * may be damaged or hostile: with symbols_config.isolate, they are read in another process, without
 * privileges, that can open no files itself. An address has a chain
 * of names: the functions inlined at the address, innermost first, and last the function that
 * contains the address. The first source in SYMBOL_SOURCES that has a name for the address is used.
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

/* X(name, text): the sources of names, in the order of preference. There is one exception: for code
 * that was made at run time, and for code of an interpreter, JIT is preferred to all other sources.
 * Names in the vdso come from its .dynsym. */
#define SYMBOL_SOURCES(X)                                                                          \
	X(PCLNTAB, ".gopclntab") /* pclntab.h */                                                   \
	X(DWARF, "DWARF")                                                                          \
	X(SYMTAB, ".symtab")                                                                       \
	X(MINIDEBUG, ".gnu_debugdata")                                                             \
	X(DYNSYM, ".dynsym")                                                                       \
	X(PLT, "PLT")                                                                              \
	X(JIT, "JIT")   /* perf-PID.map and jitdump files, see jit.h */                            \
	X(NONE, "none") /* no name: the text is an address */

enum symbol_source {
#define X(name, text) SYMBOL_##name,
	SYMBOL_SOURCES(X)
#undef X
};

const char *symbol_source_text(enum symbol_source source);

struct symbol {
	/* "main", "ns::f<int>"; "libfoo.so+0x1234" when no name is known; never NULL. */
	const char *function;
	const char *module; /* base name of the module */
	const char *file;   /* path of the source file at compilation; NULL when not known */
	uint32_t line;      /* line in `file`; 0 when not known */
	enum symbol_source source;
	bool known;   /* source is not SYMBOL_NONE */
	bool inlined; /* the function is inlined into the next symbol of the chain */
	/* Only for code without a name, if the file of the module is available: the instruction
	 * before the address is a system call. */
	bool follows_syscall;
};

/* Largest number of names of an address that symbols_find() stores. */
#define SYMBOL_CHAIN_MAX 64

struct symbol_place;

/* All pointers are borrowed until symbols_free. With a zeroed configuration, names are not
 * demangled, inlined functions are not reported, and debug files are searched as a zeroed struct
 * debug_files_config describes. */
struct symbols_config {
	bool demangle;
	/* Inlined functions are reported. Otherwise an address has one name: the function that
	 * contains it, with the line that calls the first function inlined at the address. */
	bool inlines;
	/* Files are read in another process. If that process fails twice on the files of one
	 * module, the module has no names; after 16 failures no module gets further names. Each
	 * case is logged. */
	bool isolate;
	struct debug_files_config files;
	/* Stores in `out` the names that a recording has for the place, in the same form as
	 * symbols_find, and returns their number; 0 when the recording has none. These names are
	 * preferred to names of all SYMBOL_SOURCES; an address in place of a name only if there is
	 * no name. May be NULL. */
	size_t (*stored)(const void *context, const struct symbol_place *place, struct symbol *out,
			 size_t most);
	const void *stored_context;
	/* Names of code that was made at run time; NULL: such code has no names. */
	const struct jit_epochs *jit;
};

struct symbols;

/* `modules` and `config` are borrowed until symbols_free. */
struct symbols *symbols_create(const struct modules *modules, const struct symbols_config *config);
void symbols_free(struct symbols *symbols);

/* Returns the configuration of symbols_create. */
const struct symbols_config *symbols_settings(const struct symbols *symbols);

/* What is to be named: the address of code, as samples store it, or the address of a variable. A
 * variable has the name "table_lock", or "cache+0x40" for an address inside of it. */
struct symbol_place {
	uint32_t module; /* id of the module */
	bool data;       /* the address is that of a variable */
	uint32_t epoch;  /* see jit.h; 0 outside anonymous memory and interpreters */
	/* Address in the image; in a module without an image, the offset in the file; in anonymous
	 * memory, the address in the process. */
	uint64_t vaddr;
	/* In code of an interpreter, the bytecode that it executes, by which the function is found;
	 * elsewhere zero. */
	struct jit_bytecode bytecode;
};

/*
 * Fills `out` with at most `most` (1 or more) names, innermost first, and returns their number, at
 * least 1. The last name is always the function that contains the address, even when inlined
 * functions have to be omitted. Equal texts have the same pointer, which is valid until
 * symbols_free.
 *
 * Places should be named in the order of their modules and addresses: then each part of a large
 * file is read only once.
 */
size_t symbols_find(struct symbols *symbols, const struct symbol_place *place, struct symbol *out,
		    size_t most);

/* Finds the names of `count` places at once, so that symbols_find() does not wait for each of them.
 * Without `isolate` it has no effect. */
void symbols_prepare(struct symbols *symbols, const struct symbol_place *place, size_t count);

/* Returns the state of the debuginfod servers. */
enum debuginfod_state symbols_debuginfod_state(const struct symbols *symbols);

/* Returns true when the module has neither symbols of code nor a function table (pclntab.h), or
 * when there is no module with this id. */
bool symbols_module_is_bare(struct symbols *symbols, uint32_t module);

#endif
