/* SPDX-License-Identifier: MIT */
/*
 * symbol.h - from (module, address) to a name.
 *
 * Names come from the ELF symbol tables (.symtab, then .dynsym) of the module's
 * image, the vdso's included, read when first asked for, which is when the report is
 * made: never while sampling. C++ and Rust names are demangled.
 */
#ifndef WALLSAMPLE_SYMBOL_H
#define WALLSAMPLE_SYMBOL_H

#include <stdbool.h>
#include <stdint.h>

#include "wallsample/module.h"

struct symbol {
	const char *function; /* "main", "ns::f<int>", else "libfoo.so+0x1234"; never NULL */
	const char *module;   /* base name of the module */
	bool known;           /* function came from a symbol table */
};

struct symbols;

/* `modules` is borrowed. */
struct symbols *symbols_create(const struct modules *modules);
void symbols_free(struct symbols *symbols);

/*
 * Names the address `vaddr` (in the image's own addresses; in a module without
 * an image an offset in the file, or the plain address in anonymous memory).
 * The texts are interned: the same name is the same pointer, valid until
 * symbols_free.
 */
void symbols_find(struct symbols *symbols, uint32_t module, uint64_t vaddr, struct symbol *out);

/* Has the module no symbols at all that could name code? */
bool symbols_module_is_bare(struct symbols *symbols, uint32_t module);

#endif
