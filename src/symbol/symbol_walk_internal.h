/* SPDX-License-Identifier: MIT */
/*
 * symbol_walk_internal.h - all symbols of a module that are defined in it, one after the other.
 */
#ifndef WALLSAMPLE_SYMBOL_SYMBOL_WALK_INTERNAL_H
#define WALLSAMPLE_SYMBOL_SYMBOL_WALK_INTERNAL_H

#include "wallsample/symbol/symbol_lookup.h"

struct symbol_walked {
	const char *raw;  /* as in the file, with its version */
	const char *file; /* source file of a local one as the table has it, else NULL */
	enum symbol_named_kind kind;
	uint64_t vaddr, size;
};

/* Until `each` says false. The same symbol may be in several tables. */
void symbol_walk(struct symbols *symbols, const struct module *module,
		 bool (*each)(void *context, const struct symbol_walked *symbol), void *context);

#endif
